//! The MCP Inspector's command line lists and calls our tools, over stdio and HTTP.
//!
//! A second opinion in another language: it validates every message with its own
//! schemas, and `--strict` also complains about tool schemas that some clients refuse.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::server::Server;
use crate::binary::Binaries;
use crate::process;
use crate::repo::Repo;
use crate::tools::{Node, node, node_package};

const PACKAGE: &str = "@modelcontextprotocol/inspector";
const VERSION: &str = "2.12.0";
const SCRIPT: &str = "clients/launcher/build/index.js";
const LIMIT: Duration = Duration::from_secs(60);
const ERAS: [&str; 2] = ["legacy", "modern"];
/// A tool that every build has and that changes nothing.
const TOOL: &str = "runs_list";
const TOOL_ARGUMENTS: &str = r#"{"limit":5}"#;

/// Installs what the stage needs.
pub fn prepare(repo: &Repo) -> Result<()> {
    node(repo)?;
    install(repo).map(drop)
}

fn install(repo: &Repo) -> Result<PathBuf> {
    node_package(repo, "inspector", PACKAGE, VERSION, SCRIPT)
}

/// Runs the stage.
pub fn run(repo: &Repo, binaries: &Binaries) -> Result<String> {
    let inspector = Inspector {
        node: node(repo)?,
        script: install(repo)?,
        scratch: repo.scratch("inspector")?,
    };
    let binary = binaries.product(repo)?;
    let home = inspector.scratch.join("stdio-home");
    let stdio = [
        "-e".to_owned(),
        format!("WINDLASS_HOME={}", home.display()),
        binary.display().to_string(),
        "mcp".to_owned(),
        "serve".to_owned(),
    ];
    let server = Server::start(&binary, &[], &inspector.scratch.join("http"))?;
    let http = [
        "--transport".to_owned(),
        "http".to_owned(),
        "--server-url".to_owned(),
        server.url.clone(),
    ];
    let mut calls = 0;
    for (transport, target) in [("stdio", &stdio[..]), ("http", &http[..])] {
        for era in ERAS {
            let what = format!("{transport}, {era} era");
            let listed = inspector
                .ask(target, era, &["--method", "tools/list", "--strict"])
                .with_context(|| format!("tools/list over {what}"))?;
            let count = check_list(&listed).with_context(|| format!("tools/list over {what}"))?;
            let called = inspector
                .ask(
                    target,
                    era,
                    &[
                        "--method",
                        "tools/call",
                        "--tool-name",
                        TOOL,
                        "--tool-args-json",
                        TOOL_ARGUMENTS,
                    ],
                )
                .with_context(|| format!("tools/call over {what}"))?;
            check_call(&called).with_context(|| format!("tools/call over {what}"))?;
            println!("{what}: {count} tools listed, {TOOL} called");
            calls += 2;
        }
    }
    Ok(format!("{calls} requests over stdio and HTTP, both eras"))
}

struct Inspector {
    node: Node,
    script: PathBuf,
    scratch: PathBuf,
}

impl Inspector {
    fn ask(&self, target: &[String], era: &str, request: &[&str]) -> Result<Value> {
        let mut command: Command = self.node.script(&self.script);
        command
            .arg("--cli")
            .args(target)
            .args(request)
            .args(["--protocol-era", era, "--format", "json", "--quiet"])
            // Its catalogue of servers lives in the home folder; leave the user's alone.
            .env("HOME", self.home()?);
        let output = process::capture(&mut command, LIMIT)?.success("the Inspector")?;
        serde_json::from_str(&output.stdout)
            .with_context(|| format!("the Inspector printed no JSON: {}", output.stdout.trim()))
    }

    fn home(&self) -> Result<&Path> {
        fs_err::create_dir_all(&self.scratch)?;
        Ok(&self.scratch)
    }
}

/// The number of tools listed, if ours is among them with its schemas, and no schema is one that
/// some clients refuse.
fn check_list(answer: &Value) -> Result<usize> {
    if let Some(findings) = answer["schemaFindings"]
        .as_array()
        .filter(|all| !all.is_empty())
    {
        let shown = serde_json::to_string_pretty(&findings[0])?;
        bail!(
            "{} tools have schemas that are not portable, first: {shown}",
            findings.len()
        );
    }
    let tools = answer["result"]["tools"]
        .as_array()
        .context("the answer holds no list of tools")?;
    let tool = tools
        .iter()
        .find(|tool| tool["name"] == TOOL)
        .with_context(|| format!("{TOOL} is not among the {} tools", tools.len()))?;
    for schema in ["inputSchema", "outputSchema"] {
        if tool[schema]["type"] != "object" {
            bail!("{TOOL} has no {schema} of type object");
        }
    }
    Ok(tools.len())
}

/// A successful call has structured content and the same as text, for older clients.
fn check_call(answer: &Value) -> Result<()> {
    let result = &answer["result"];
    if result["isError"] == true {
        bail!("the tool answered with an error: {result}");
    }
    if !result["structuredContent"].is_object() {
        bail!("the result holds no structuredContent: {result}");
    }
    if result["content"][0]["type"] != "text" {
        bail!("the result holds no text block: {result}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_list_must_hold_our_tool_with_schemas() {
        let schema = json!({"type": "object"});
        let cases = [
            (
                json!({"result": {"tools": [{"name": TOOL, "inputSchema": schema, "outputSchema": schema}]}}),
                Ok(1),
            ),
            (
                json!({"result": {"tools": [{"name": TOOL, "inputSchema": schema}]}}),
                Err("runs_list has no outputSchema of type object"),
            ),
            (
                json!({"result": {"tools": []}}),
                Err("runs_list is not among the 0 tools"),
            ),
            (
                json!({"result": {"tools": []}, "schemaFindings": [1]}),
                Err("1 tools have schemas that are not portable, first: 1"),
            ),
            (
                json!({"error": {"code": "x"}}),
                Err("the answer holds no list of tools"),
            ),
        ];
        for (answer, expected) in cases {
            let found = check_list(&answer).map_err(|error| error.to_string());
            assert_eq!(found, expected.map_err(str::to_owned), "{answer}");
        }
    }

    #[test]
    fn a_call_must_return_structure_and_text() {
        let text = json!([{"type": "text", "text": "{}"}]);
        let cases = [
            (json!({"structuredContent": {}, "content": text}), true),
            (json!({"structuredContent": {}, "content": []}), false),
            (json!({"content": text}), false),
            (
                json!({"structuredContent": {}, "content": text, "isError": true}),
                false,
            ),
        ];
        for (result, good) in cases {
            let answer = json!({ "result": result });
            assert_eq!(check_call(&answer).is_ok(), good, "{answer}");
        }
    }
}
