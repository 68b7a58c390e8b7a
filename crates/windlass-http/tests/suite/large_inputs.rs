//! Inputs that take long to read are read beside the threads that serve everybody, and names are
//! compared with known ones only as far as they could be meant.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::{BoxFuture, join_all};
use serde_json::{Map, Value, json};
use windlass_engine::{
    Domain, Engine, WeakEngine,
    operation::{CallContext, Delegated, Operation, OperationInfo, Reply, operation},
    run::RunKind,
};
use windlass_mcp::{ServerOptions, ToolMode, http::HttpOptions};
use windlass_types::{Problem, code};

use super::support::{Ask, Gates, Server, call, get, post, server_on, server_with, world};

const SIZE: usize = 8 * 1024 * 1024;

/// One thread serves everything here, so whatever keeps it busy keeps health waiting.
#[tokio::test]
async fn health_answers_while_large_inputs_are_read() {
    const PIECE: &str = "-----BEGIN PRIVATE KEY-----";
    let server = server_with(|state| state.body_limit = SIZE + 1024).await;
    // Read, redacted, hashed, and refused for a member nobody knows.
    let input = json!({ "text": "a", "more": PIECE.repeat(SIZE / PIECE.len()) });
    let ask = call("probe.echo", input);
    let keys = [&server.probe, &server.probe, &server.runs, &server.runs];
    let calls = join_all(keys.map(|key| server.ask(ask.clone().key(key))));
    let mut answered = 0;
    let watch = async {
        loop {
            tokio::time::sleep(Duration::from_millis(1)).await;
            let health = server.ask(get("/v1/health")).await;
            assert_eq!(health.status.as_u16(), 200);
            answered += 1;
        }
    };
    let replies = tokio::select! {
        replies = calls => replies,
        () = watch => unreachable!("it watches until the calls have ended"),
    };
    let statuses: Vec<u16> = replies.iter().map(|reply| reply.status.as_u16()).collect();
    assert_eq!(statuses, [400, 400, 403, 403]);
    // Were an input read on the one thread, health would be answered between the calls only,
    // however fast or busy the machine is.
    assert!(answered > 20, "health was answered {answered} times");
}

/// A tool that stands for several operations, as the stack's do.
struct Switchboard;

impl Domain for Switchboard {
    fn kinds(&self, _: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        Vec::new()
    }

    fn operations(&self, _: &Engine) -> Vec<Arc<dyn Operation>> {
        let tool = operation("switchboard", "ops")
            .describe("Switchboard", "Means another operation.")
            .input::<Map<String, Value>>()
            .output::<Map<String, Value>>()
            .example("echo", json!({ "operation": "probe.echo" }))
            .by(|info| Switch { info });
        vec![tool]
    }
}

struct Switch {
    info: OperationInfo,
}

impl Operation for Switch {
    fn info(&self) -> &OperationInfo {
        &self.info
    }

    fn delegate(&self, input: &Value) -> Result<Option<Delegated>, Problem> {
        let operation = input["operation"].as_str().unwrap_or_default();
        // An unknown one is the catalogue's to refuse, and so is a caller who may not ask.
        Ok(Some(Delegated {
            operation: operation.to_owned(),
            input: json!({}),
        }))
    }

    fn call<'a>(&'a self, _: CallContext, _: Value) -> BoxFuture<'a, Result<Reply, Problem>> {
        Box::pin(async {
            Err(Problem::new(
                &code::ILLEGAL_STATE,
                "it was called by itself",
            ))
        })
    }
}

async fn server_with_mcp() -> Server {
    let gates = Gates::new();
    let world = world(&gates, || vec![Box::new(Switchboard)]);
    let process = world.driving().await;
    let mut server = server_on(world, process, gates, |state| {
        state.body_limit = SIZE + 1024;
    })
    .await;
    let options = ServerOptions {
        tools: ToolMode::Full,
        ..ServerOptions::default()
    };
    let handler = windlass_mcp::handler(server.process.catalogue().clone(), options).unwrap();
    let endpoint = windlass_mcp::http::endpoint(move || handler.session(), HttpOptions::default());
    server.router = windlass_http::router_with_mcp(server.state.clone(), endpoint);
    server
}

fn tool_call(tool: &str, arguments: &Value, session: &str) -> Ask {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments },
    });
    mcp(&body).with("mcp-session-id", session)
}

fn mcp(body: &Value) -> Ask {
    post("/mcp", body.to_string()).with("accept", "application/json, text/event-stream")
}

async fn open_session(server: &Server, key: &str) -> String {
    let hello = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-03-26",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    });
    let opened = server.ask(mcp(&hello).key(key)).await;
    opened.header("mcp-session-id").to_owned()
}

/// Comparing eight million letters with every known name takes minutes on the serving thread.
#[tokio::test]
async fn names_of_eight_megabytes_are_refused_without_being_compared() {
    let server = server_with_mcp().await;
    let long = "a".repeat(SIZE);
    let sessions = [&server.probe, &server.runs];
    let [probe, runs] = sessions.map(|key| open_session(&server, key));
    let (probe, runs) = (probe.await, runs.await);
    let field = json!({ "text": "a", long.as_str(): 1 });
    let operation = json!({ "operation": long });
    let asks = [
        (
            "a tool",
            tool_call(&long, &json!({}), &probe),
            &server.probe,
        ),
        ("a field", call("probe.echo", field.clone()), &server.probe),
        (
            "a field of a tool",
            tool_call("probe_echo", &field, &probe),
            &server.probe,
        ),
        (
            "an operation, with the scope",
            call("switchboard.ops", operation.clone()),
            &server.root,
        ),
        (
            "an operation, without the scope",
            call("switchboard.ops", operation.clone()),
            &server.runs,
        ),
        (
            "an operation of a tool, without the scope",
            tool_call("switchboard_ops", &operation, &runs),
            &server.runs,
        ),
    ];
    let mut lines = Vec::new();
    for (what, ask, key) in asks {
        let started = Instant::now();
        let reply = server.ask(ask.key(key)).await;
        let took = started.elapsed();
        assert!(took < Duration::from_secs(20), "{what} took {took:?}");
        let text = reply.text();
        assert!(text.len() < 4096, "{what}: {} bytes", text.len());
        let said = [
            "unknown tool",
            "UNKNOWN_OPERATION",
            "FORBIDDEN",
            "INVALID_INPUT",
        ];
        let said = said.into_iter().find(|said| text.contains(said));
        lines.push(format!("{what}: {}", said.unwrap_or(&text)));
    }
    insta::assert_snapshot!(lines.join("\n"), @"
    a tool: unknown tool
    a field: INVALID_INPUT
    a field of a tool: INVALID_INPUT
    an operation, with the scope: UNKNOWN_OPERATION
    an operation, without the scope: FORBIDDEN
    an operation of a tool, without the scope: FORBIDDEN
    ");
}
