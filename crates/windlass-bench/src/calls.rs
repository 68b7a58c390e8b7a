//! `tools/call`: over HTTP with keys, limits, validation and audit on, and over stdio after a
//! start, each compared with a bare rmcp echo server.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::{
    load::requests_per_second,
    process,
    report::{self, Samples},
};

const SLOTS: usize = 5;
const SLOT: Duration = Duration::from_secs(3);
const CONNECTIONS: usize = 16;
const SPAWNS: usize = 15;
const CALLS: usize = 300;
const VERSION: &str = "2026-07-28";

pub(crate) fn run() -> Result<()> {
    let home = tempfile::tempdir()?;
    over_http(home.path())
}

/// A server process, ended with this value.
pub(crate) struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn over_http(home: &Path) -> Result<()> {
    report::heading(
        "MCP tools/call over HTTP, 16 connections, keys + limits + validation + audit on",
    );
    let windlass = process::windlass()?;
    fs_err::write(
        home.join("config.toml"),
        "[limits.tiers.bench]\nper_minute = 100000000\nconcurrency = 1000\n",
    )?;
    let created = Command::new(&windlass)
        .args([
            "keys", "create", "bench", "--tier", "bench", "--scope", "*", "--json", "--home",
        ])
        .arg(home)
        .output()?;
    let created: Value = serde_json::from_slice(&created.stdout)
        .with_context(|| format!("keys create: {}", String::from_utf8_lossy(&created.stderr)))?;
    let key = created["api_key"]
        .as_str()
        .context("no api_key in the answer")?;
    let mut ours = Command::new(&windlass);
    ours.args(["mcp", "serve", "--http", "127.0.0.1:0"]);
    ours.args(["--toolset", "all", "--home"]).arg(home);
    let (_ours, our_address) = start(ours, From::Stderr)?;
    let mut peer = Command::new(process::own()?);
    peer.arg("echo-http");
    let (_peer, peer_address) = start(peer, From::Stdout)?;
    let our_request = http_request("admin_policy_check", our_address, Some(key));
    let peer_request = http_request("echo", peer_address, None);
    let runtime = tokio::runtime::Runtime::new()?;
    let (mut our_rates, mut peer_rates) = (Samples::default(), Samples::default());
    for _ in 0..SLOTS {
        let slot = |address, request: &Arc<[u8]>| {
            runtime.block_on(requests_per_second(
                address,
                Arc::clone(request),
                CONNECTIONS,
                SLOT,
            ))
        };
        peer_rates.push(slot(peer_address, &peer_request)?);
        our_rates.push(slot(our_address, &our_request)?);
    }
    report::figure("bare rmcp echo", &peer_rates, "calls/s");
    report::figure("Windlass", &our_rates, "calls/s");
    let ratio = our_rates.median() / peer_rates.median();
    report::ratio("throughput, ours / bare rmcp", ratio, "≥ 0.8", ratio >= 0.8);
    Ok(())
}

/// Where a server says its address.
pub(crate) enum From {
    Stdout,
    Stderr,
}

/// Starts a server and waits for its address.
pub(crate) fn start(mut command: Command, from: From) -> Result<(Server, SocketAddr)> {
    command.stdin(Stdio::null());
    match from {
        From::Stdout => command.stdout(Stdio::piped()).stderr(Stdio::inherit()),
        From::Stderr => command.stderr(Stdio::piped()).stdout(Stdio::null()),
    };
    let mut server = Server(command.spawn()?);
    let stream: Box<dyn std::io::Read + Send> = match from {
        From::Stdout => Box::new(server.0.stdout.take().context("stdout")?),
        From::Stderr => Box::new(server.0.stderr.take().context("stderr")?),
    };
    let mut lines = BufReader::new(stream).lines();
    let address = loop {
        let line = lines
            .next()
            .context("the server ended before it listened")??;
        if let Some((_, rest)) = line.split_once("http://") {
            let text = rest.split('/').next().unwrap_or_default();
            break text
                .parse()
                .with_context(|| format!("address in {line:?}"))?;
        }
    };
    // Keep reading, so that the server never blocks on a full pipe.
    std::thread::spawn(move || lines.for_each(drop));
    Ok((server, address))
}

fn call_body(tool: &str, id: usize) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": id,
        "method": "tools/call",
        "params": {
            "name": tool,
            "arguments": { "operation": "demo.apply", "effect": "write" },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": VERSION,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" }
            }
        }
    })
}

fn http_request(tool: &str, address: SocketAddr, key: Option<&str>) -> Arc<[u8]> {
    let body = call_body(tool, 1).to_string();
    let authorization = key
        .map(|key| format!("Authorization: Bearer {key}\r\n"))
        .unwrap_or_default();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {VERSION}\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\n{authorization}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
    .into()
}

/// The first reply after a start, then calls one by one.
pub(crate) fn over_stdio(home: &Path) -> Result<()> {
    report::heading("MCP over stdio: spawn to first reply, then calls one by one");
    let windlass = process::windlass()?;
    let bench = process::own()?;
    let ours = || {
        let mut command = Command::new(&windlass);
        command.args(["mcp", "serve", "--toolset", "all", "--home"]);
        command.arg(home);
        command
    };
    let peer = || {
        let mut command = Command::new(&bench);
        command.arg("echo-stdio");
        command
    };
    let (mut our_first, mut peer_first) = (Samples::default(), Samples::default());
    let (mut our_calls, mut peer_calls) = (Samples::default(), Samples::default());
    for _ in 0..SPAWNS {
        session(peer(), "echo", &mut peer_first, &mut peer_calls)?;
        session(ours(), "admin_policy_check", &mut our_first, &mut our_calls)?;
    }
    report::figure("bare rmcp, first reply", &peer_first, "ms");
    report::figure("Windlass, first reply", &our_first, "ms");
    let first = our_first.median() / peer_first.median();
    report::ratio("first reply, ours / bare rmcp", first, "≤ 2", first <= 2.0);
    report::figure("bare rmcp, one call", &peer_calls, "ms");
    report::figure("Windlass, one call", &our_calls, "ms");
    let call = our_calls.median() / peer_calls.median();
    report::ratio("call p50, ours / bare rmcp", call, "≤ 1.5", call <= 1.5);
    let tail = our_calls.quantile(0.99) / peer_calls.quantile(0.99);
    report::ratio("call p99, ours / bare rmcp", tail, "≤ 1.5", tail <= 1.5);
    Ok(())
}

fn session(
    mut command: Command,
    tool: &str,
    first: &mut Samples,
    calls: &mut Samples,
) -> Result<()> {
    let started = Instant::now();
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut server = Server(child);
    let mut stdin = server.0.stdin.take().context("stdin")?;
    let mut stdout = BufReader::new(server.0.stdout.take().context("stdout")?);
    let mut exchange = |message: &Value| -> Result<String> {
        stdin.write_all(format!("{message}\n").as_bytes())?;
        let mut line = String::new();
        if stdout.read_line(&mut line)? == 0 {
            bail!("the server ended");
        }
        if !line.contains("\"result\"") {
            bail!("not a result: {line}");
        }
        Ok(line)
    };
    exchange(&json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" } }
    }))?;
    first.push(process::millis(started.elapsed()));
    // Written together with the first call; a notification has no answer.
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let mut prefix = format!("{initialized}\n");
    for id in 1..=CALLS {
        let mut body = call_body(tool, id);
        body["params"]
            .as_object_mut()
            .context("params")?
            .remove("_meta");
        let began = Instant::now();
        stdin.write_all(format!("{prefix}{body}\n").as_bytes())?;
        prefix.clear();
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        calls.push(process::millis(began.elapsed()));
        if !line.contains("\"result\"") {
            bail!("not a result: {line}");
        }
    }
    Ok(())
}
