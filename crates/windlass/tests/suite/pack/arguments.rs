//! Arguments of the tools: dry runs, approvals, target names, bad ones, and the project.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::place::{PackPlace, ToolReply, difference};
use crate::suite::support::{
    binary::{Daemon, Killed, READY, free_address},
    http::Ask,
    mcp::initialize,
};

#[test]
fn d7_a_dry_run_of_deploy_apply() {
    let place = PackPlace::new();
    let mut client = place.serve();
    let before = place.picture();
    client
        .call("deploy_apply", json!({ "dry_run": true }))
        .refused_for("E_CONFIRM_REQUIRED", "confirm_required");
    let tool_reply = client.call("deploy_apply", json!({ "yes": true, "dry_run": true }));
    assert_eq!(tool_reply.data()["applied"], false);
    assert_eq!(tool_reply.data()["summary"]["create"], 8);
    assert_eq!(tool_reply.0["command"], "deploy");
    assert_eq!(tool_reply.0["command_id"], "deploy --apply");
    let token = client.token(json!({}));
    let dry = json!({ "yes": true, "dry_run": true, "confirm_token": token });
    assert!(client.call("deploy_apply", dry).is_ok());
    assert_eq!(difference(&before, &place.picture()), Vec::<String>::new());
    assert!(client.apply(&token).is_ok(), "a dry run redeems nothing");
}

#[test]
fn d8_evolve_without_yes_is_refused_at_once() {
    let place = PackPlace::new();
    let mut client = place.serve();
    let before = place.picture();
    for (tool, command) in [
        ("evolve_propose", "evolve propose"),
        ("evolve_restore", "evolve restore"),
    ] {
        for repo in [place.repo(), "/nowhere".into()] {
            for yes in [json!(null), json!(false), json!("true")] {
                let mut arguments = json!({ "repo": repo });
                if !yes.is_null() {
                    arguments["yes"] = yes;
                }
                let tool_reply = client.call(tool, arguments);
                let details = tool_reply.refused_for("E_CONFIRM_REQUIRED", "confirm_required");
                assert_eq!(details["command"], command);
            }
        }
        assert!(client.call(tool, json!({ "dry_run": true })).is_ok());
    }
    assert_eq!(difference(&before, &place.picture()), Vec::<String>::new());
}

#[test]
fn rollback_without_yes_is_refused_before_anything_else() {
    let place = PackPlace::new();
    let mut client = place.serve();
    for arguments in [
        json!({}),
        json!({ "to": "../../etc/passwd" }),
        json!({ "to": 7, "yes": "true" }),
        json!({ "surprise": true, "yes": 1 }),
        json!({ "to": "1", "dry_run": true }),
    ] {
        let tool_reply = client.call("rollback", arguments);
        let details = tool_reply.refused_for("E_CONFIRM_REQUIRED", "confirm_required");
        assert_eq!(details["command"], "rollback");
    }
    let tool_reply = client.call("rollback", json!({ "to": "../../etc/passwd", "yes": true }));
    tool_reply.refused_for("E_UNEXPECTED", "snapshot_not_found");
}

const MORE_TARGETS: &str = "  jetbrains:
    mode: files
    scope: project
  zed:
    mode: files
    scope: project
  export_dir:
    mode: files
    scope: both
    options:
      root: ~/export
";

#[test]
fn d9_target_names() {
    let place = PackPlace::new();
    place.edit_manifest("modules:\n", &format!("{MORE_TARGETS}modules:\n"));
    let mut client = place.serve();
    for target in [
        "all",
        "codex",
        "claude_code",
        "jetbrains",
        "zed",
        "export_dir",
    ] {
        let tool_reply = client.call("plan", json!({ "target": target }));
        assert!(tool_reply.is_ok(), "{target}: {:#}", tool_reply.0);
        if target != "all" {
            assert_eq!(tool_reply.data()["targets"], json!([target]));
        }
    }
    for target in ["emacs", "Codex", "all,codex", "../codex"] {
        let tool_reply = client.call("plan", json!({ "target": target }));
        let details = tool_reply.refused_for("E_TARGET_UNSUPPORTED", "target_filter_unsupported");
        assert_eq!(details["target"], target);
        assert_eq!(
            details["next_actions"],
            json!(["inspect_help_json", "retry_with_supported_target"])
        );
        assert!(details["allowed"].is_array(), "{details}");
    }
    let tool_reply = client.call("plan", json!({ "target": "vscode" }));
    tool_reply.refused_for("E_CONFIG_INVALID", "config_invalid");
}

#[test]
fn d10_bad_arguments_come_back_in_an_envelope() {
    let place = PackPlace::new();
    let mut client = place.serve();
    for (tool, arguments) in [
        ("plan", json!({ "repo": 7 })),
        ("plan", json!({ "surprise": true })),
        ("plan", json!({ "dry_run": "yes" })),
        ("diff", json!({ "target": ["codex"] })),
        ("preview", json!({ "diff": 1 })),
        ("status", json!({ "only": "missing" })),
        ("status", json!({ "only": ["new"] })),
        ("plan", json!({ "diff": true })),
        ("deploy", json!({ "diff": true })),
        ("doctor", json!({ "profile": "default" })),
        ("doctor", json!({ "fix": true, "yes": true })),
        ("deploy", json!({ "machine": {} })),
        ("deploy_apply", json!({ "yes": true, "adopt": "yes" })),
        ("deploy_apply", json!({ "yes": true, "confirm_token": 7 })),
        ("rollback", json!({ "yes": true })),
        ("rollback", json!({ "yes": true, "to": 7 })),
        (
            "rollback",
            json!({ "yes": true, "to": "1", "dry_run": true }),
        ),
        (
            "rollback",
            json!({ "yes": true, "to": "1", "target": "codex" }),
        ),
        (
            "evolve_propose",
            json!({ "yes": true, "scope": "everywhere" }),
        ),
        ("evolve_restore", json!({ "yes": true, "module_id": 7 })),
        ("explain", json!({})),
        ("explain", json!({ "kind": "everything" })),
        ("explain", json!({ "kind": "plan", "dry_run": true })),
    ] {
        let shown = format!("{tool} {arguments}");
        let tool_reply = client.call(tool, arguments);
        assert_eq!(
            tool_reply.code(),
            Some("E_UNEXPECTED"),
            "{shown}: {:#}",
            tool_reply.0
        );
        let details = &tool_reply.0["errors"][0]["details"];
        assert_eq!(details["reason_code"], "invalid_arguments", "{shown}");
        assert!(details["next_actions"].is_array(), "{shown}");
    }
    let answer = client.request(
        "tools/call",
        &json!({ "name": "pack_plan", "arguments": {} }),
    );
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[test]
fn must_28_a_corrupt_lockfile_is_not_ignored() {
    let place = PackPlace::new();
    place.repo_file("agentpack.lock.json", "{");
    let mut client = place.serve();
    for tool in ["plan", "deploy", "status", "diff", "preview"] {
        let tool_reply = client.call(tool, json!({}));
        tool_reply.refused_for("E_LOCKFILE_INVALID", "lockfile_invalid_json");
    }
    place.repo_file(
        "agentpack.lock.json",
        r#"{"version": 7, "generated_at": "", "modules": []}"#,
    );
    let tool_reply = client.call("plan", json!({}));
    let details = tool_reply.refused_for(
        "E_LOCKFILE_UNSUPPORTED_VERSION",
        "lockfile_unsupported_version",
    );
    assert_eq!(
        (&details["version"], &details["supported"]),
        (&json!(7), &json!([1]))
    );
}

/// An MCP server over HTTP, with the flags given.
struct HttpServer {
    _process: Killed,
    address: SocketAddr,
    session: Option<String>,
}

impl HttpServer {
    fn start(place: &PackPlace, flags: &[&str]) -> Self {
        let address = free_address();
        let mut command = place.command(&place.project());
        command
            .args(["mcp", "serve", "--no-auth", "--toolset", "pack", "--http"])
            .arg(address.to_string())
            .args(flags);
        let process = Killed(command.spawn().unwrap());
        let mut server = Self {
            _process: process,
            address,
            session: None,
        };
        let started = std::time::Instant::now();
        let greeting = initialize("init", "2025-06-18");
        let reply = loop {
            match server.post(&greeting) {
                Ok(reply) => break reply,
                Err(error) => assert!(started.elapsed() < READY, "{error}"),
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        server.session = reply.header("mcp-session-id").map(str::to_owned);
        server
    }

    fn post(&self, message: &Value) -> std::io::Result<crate::suite::support::http::Reply> {
        let mut ask = Ask::post("/mcp", message.to_string())
            .with("accept", "application/json, text/event-stream")
            .with("mcp-protocol-version", "2025-06-18");
        if let Some(session) = &self.session {
            ask = ask.with("mcp-session-id", session);
        }
        ask.send(self.address)
    }

    fn call(&self, tool: &str, arguments: Value) -> ToolReply {
        let reply = self
            .post(&json!({
                "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": { "name": tool, "arguments": arguments },
            }))
            .unwrap();
        let text = reply.text();
        let line = text
            .lines()
            .filter_map(|line| line.strip_prefix("data:").or(Some(line)))
            .find(|line| line.contains("\"result\""))
            .unwrap_or_else(|| panic!("{} {text}", reply.status));
        ToolReply::of(&serde_json::from_str(line).unwrap())
    }
}

#[test]
fn d12_http_without_a_project_refuses_project_targets() {
    let place = PackPlace::new();
    let server = HttpServer::start(&place, &[]);
    let before = place.picture();
    for tool in ["plan", "deploy", "status"] {
        let tool_reply = server.call(tool, json!({}));
        tool_reply.refused_for("E_CONFIG_INVALID", "config_invalid");
    }
    assert_eq!(difference(&before, &place.picture()), Vec::<String>::new());
    // What belongs to the user needs no project.
    place.edit_manifest("scope: both", "scope: user");
    let tool_reply = server.call("deploy", json!({}));
    let changes = tool_reply.changes(&place);
    assert!(!changes.is_empty());
    assert!(
        changes.iter().all(|change| change.contains("ROOT/user/")),
        "{changes:?}"
    );
    let token = tool_reply.data()["confirm_token"].as_str().unwrap();
    let apply = json!({ "yes": true, "confirm_token": token });
    assert_eq!(server.call("deploy_apply", apply).data()["applied"], true);
}

#[test]
fn must_41_a_server_can_be_started_for_a_project() {
    let place = PackPlace::new();
    let other = place.root().join("other");
    std::fs::create_dir(&other).unwrap();
    let server = HttpServer::start(&place, &["--project", other.to_str().unwrap()]);
    let over_http = server.call("plan", json!({})).changes(&place);
    let mut command = place.command(&place.project());
    command.args(["mcp", "serve", "--toolset", "pack", "--project"]);
    command.arg(&other);
    let over_stdio = super::place::Client::of(command)
        .call("plan", json!({}))
        .changes(&place);
    assert_eq!(over_http, over_stdio);
    assert!(over_http.contains(&"create ROOT/other/AGENTS.md".to_owned()));
    assert!(!over_http.iter().any(|line| line.contains("ROOT/project/")));
}

/// A token issued to one key is none for another, over HTTP as well.
#[test]
fn d11_another_key_is_another_caller() {
    let place = PackPlace::new();
    place.edit_manifest("scope: both", "scope: user");
    let key = |name: &str| {
        let said = place.say(&["keys", "create", name, "--scope", "*"]);
        said.worked().stdout.trim().to_owned()
    };
    let (ada, bob) = (key("ada"), key("bob"));
    let mut command = place.command(&place.project());
    command.stderr(std::process::Stdio::piped());
    let mut daemon = Daemon::spawn_with(command, free_address(), &[]);
    daemon.wait_until_ready();
    let call = |key: &str, operation: &str, input: &Value| {
        let path = format!("/v1/operations/{operation}");
        Ask::post(&path, input.to_string())
            .with("authorization", format!("Bearer {key}"))
            .send(daemon.address)
            .unwrap()
            .json()
    };
    let planned = call(&ada, "pack.deploy", &json!({}));
    let token = planned["data"]["confirm_token"]
        .as_str()
        .unwrap_or_else(|| panic!("{planned}"));
    let apply = json!({ "yes": true, "confirm_token": token });
    let refused = call(&bob, "pack.deploy_apply", &apply);
    assert_eq!(
        refused["errors"][0]["code"], "E_CONFIRM_TOKEN_MISMATCH",
        "{refused}"
    );
    let applied = call(&ada, "pack.deploy_apply", &apply);
    assert_eq!(applied["data"]["applied"], true, "{applied}");
}
