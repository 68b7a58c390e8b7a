//! Every scenario of contract 003, by name, against the real binary over standard input and
//! output.

use serde_json::{Value, json};

use super::{
    place::{PackPlace, ToolReply},
    schemas::TOOLS,
};
use crate::suite::support::{directory::fill, mcp::McpProcess};

#[test]
fn client_can_initialize_the_server() {
    let place = PackPlace::new();
    let client = place.serve();
    let result = &client.greeting["result"];
    assert_eq!(result["protocolVersion"], "2025-06-18", "{result}");
    assert!(result["capabilities"]["tools"].is_object(), "{result}");
    assert_eq!(result["serverInfo"]["name"], "agentpack", "{result}");
}

#[test]
fn tools_list_includes_the_stabilized_tool_set() {
    let place = PackPlace::new();
    let mut client = place.serve();
    let answer = client.request("tools/list", &json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    for name in TOOLS {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    assert_eq!(names.len(), TOOLS.len(), "{names:?}");
}

#[test]
fn plan_tool_returns_an_agentpack_envelope() {
    let place = PackPlace::new();
    let tool_reply = place.serve().call("plan", json!({}));
    assert_eq!(tool_reply.0["schema_version"], 1);
    assert_eq!(tool_reply.0["ok"], true);
    assert_eq!(tool_reply.0["command"], "plan");
    assert_eq!(tool_reply.0["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        tool_reply.data()["summary"]["create"],
        8,
        "{:#}",
        tool_reply.0
    );
}

#[test]
fn deploy_apply_without_yes_is_refused() {
    let place = PackPlace::new();
    let mut client = place.serve();
    let token = client.token(json!({}));
    let before = place.picture();
    for arguments in [
        json!({}),
        json!({ "confirm_token": token }),
        json!({ "confirm_token": token, "yes": false }),
        json!({ "confirm_token": token, "yes": "true" }),
        json!({ "confirm_token": token, "yes": 1 }),
        json!({ "confirm_token": token, "yes": null, "surprise": [] }),
    ] {
        let tool_reply = client.call("deploy_apply", arguments);
        let details = tool_reply.refused_for("E_CONFIRM_REQUIRED", "confirm_required");
        assert_eq!(details["next_actions"], json!(["retry_with_yes"]));
        assert_eq!(details["command"], "deploy --apply");
        assert_eq!(tool_reply.0["command"], "deploy");
    }
    assert_eq!(place.picture(), before);
    assert!(client.apply(&token).is_ok(), "the token was not looked at");
}

#[test]
fn server_does_not_corrupt_stdio_transport() {
    let place = PackPlace::new();
    let log = place.root().join("log");
    let mut command = place.command(&place.project());
    command
        .args(["-vv", "mcp", "serve", "--toolset", "pack"])
        .env("WINDLASS_LOG", "trace")
        .stderr(std::fs::File::create(&log).unwrap());
    // Reading fails the test for any line that is not JSON.
    let mut client = super::place::Client::of(command);
    client.call("plan", json!({}));
    client.call("status", json!({}));
    client.deploy();
    client.call("rollback", json!({ "to": "1", "yes": true }));
    client.call("plan", json!({ "repo": "/nowhere" }));
    assert_eq!(client.server.close(), Some(0));
    assert!(!fs_err::read(log).unwrap().is_empty(), "nothing was logged");
}

#[test]
fn deploy_tool_returns_a_confirm_token() {
    let place = PackPlace::new();
    let mut client = place.serve();
    let tool_reply = client.call("deploy", json!({}));
    let data = tool_reply.data();
    let hex = |key: &str| {
        let text = data[key].as_str().unwrap();
        text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    assert!(hex("confirm_token"), "{data}");
    assert!(hex("confirm_plan_hash"), "{data}");
    let expires = data["confirm_token_expires_at"].as_str().unwrap();
    assert!(expires.ends_with('Z') && expires.contains('T'), "{expires}");
    assert_eq!(data["applied"], false);
    assert_eq!(tool_reply.0["command"], "deploy");
    assert_eq!(tool_reply.0["command_id"], "deploy");
    let again = client.call("deploy", json!({ "dry_run": true }));
    assert!(again.data()["confirm_token"].is_string(), "either way");
    assert_ne!(again.data()["confirm_token"], data["confirm_token"]);
    assert_eq!(again.data()["confirm_plan_hash"], data["confirm_plan_hash"]);
}

/// A token that does not match the current plan.
fn mismatched(place: &PackPlace) -> ToolReply {
    let mut client = place.serve();
    let token = client.token(json!({}));
    place.repo_file("modules/base/AGENTS.md", "# Based\n");
    let before = place.picture();
    let tool_reply = client.apply(&token);
    assert_eq!(place.picture(), before, "nothing is written");
    tool_reply
}

#[test]
fn deploy_apply_with_mismatched_token_is_refused() {
    let place = PackPlace::new();
    mismatched(&place).refusal("E_CONFIRM_TOKEN_MISMATCH");
}

#[test]
fn deploy_apply_with_mismatched_token_includes_refusal_details() {
    let place = PackPlace::new();
    let tool_reply = mismatched(&place);
    let details = tool_reply.refused_for("E_CONFIRM_TOKEN_MISMATCH", "confirm_token_mismatch");
    assert_eq!(
        details["next_actions"],
        json!(["call_deploy", "retry_deploy_apply"])
    );
    assert!(details["hint"].is_string(), "{details}");
}

#[test]
fn deploy_apply_without_adopt_includes_refusal_details() {
    let place = PackPlace::new();
    fill(&place.project(), &[("AGENTS.md", "mine\n")]);
    let mut client = place.serve();
    let planned = client.call("deploy", json!({}));
    let changes = planned.data()["changes"].as_array().unwrap();
    let is_adopt = |change: &&Value| change["update_kind"] == "adopt_update";
    assert_eq!(changes.iter().filter(is_adopt).count(), 1);
    let before = place.picture();
    let tool_reply = client.call(
        "deploy_apply",
        json!({
            "yes": true,
            "adopt": false,
            "confirm_token": planned.data()["confirm_token"],
        }),
    );
    let details = tool_reply.refused_for("E_ADOPT_CONFIRM_REQUIRED", "adopt_confirm_required");
    assert_eq!(details["next_actions"], json!(["retry_with_adopt"]));
    assert_eq!(details["flag"], "--adopt");
    assert_eq!(details["adopt_updates"], 1);
    let path = place.project().join("AGENTS.md");
    assert_eq!(details["sample_paths"], json!([path]));
    assert_eq!(place.picture(), before);
}

/// The `command` of every tool, on success and on failure.
#[test]
fn envelopes_name_the_command_behind_the_tool() {
    let place = PackPlace::new();
    let mut client = place.serve();
    let table = [
        ("plan", json!({}), "plan", "plan"),
        ("diff", json!({}), "diff", "diff"),
        ("preview", json!({}), "preview", "preview"),
        ("deploy", json!({}), "deploy", "deploy"),
        ("status", json!({}), "status", "status"),
        ("doctor", json!({}), "doctor", "doctor"),
        (
            "deploy_apply",
            json!({ "yes": true, "dry_run": true }),
            "deploy",
            "deploy --apply",
        ),
        (
            "rollback",
            json!({ "to": "1", "yes": true }),
            "rollback",
            "rollback",
        ),
        (
            "evolve_propose",
            json!({ "dry_run": true }),
            "evolve.propose",
            "evolve propose",
        ),
        (
            "evolve_restore",
            json!({ "dry_run": true }),
            "evolve.restore",
            "evolve restore",
        ),
        (
            "explain",
            json!({ "kind": "plan" }),
            "explain.plan",
            "explain plan",
        ),
        (
            "explain",
            json!({ "kind": "diff" }),
            "explain.plan",
            "explain diff",
        ),
        (
            "explain",
            json!({ "kind": "status" }),
            "explain.status",
            "explain status",
        ),
    ];
    for (tool, arguments, command, id) in table {
        let mut broken = arguments.clone();
        broken["repo"] = json!("/nowhere");
        for arguments in [arguments, broken] {
            let tool_reply = client.call(tool, arguments);
            assert_eq!(tool_reply.0["command"], command, "{:#}", tool_reply.0);
            assert_eq!(tool_reply.0["command_id"], id, "{:#}", tool_reply.0);
            let path: Vec<&str> = id.split(' ').collect();
            assert_eq!(
                tool_reply.0["command_path"],
                json!(path),
                "{:#}",
                tool_reply.0
            );
        }
    }
}

/// `McpProcess` is what reads the lines; it must notice one that is no message.
#[test]
#[should_panic(expected = "not JSON on standard output")]
fn a_line_that_is_no_message_would_be_noticed() {
    let mut command = std::process::Command::new("echo");
    command.arg("listening");
    McpProcess::spawn(command).receive();
}
