//! What a pack server says about itself, and how it takes what is not a good call.

use serde_json::{Value, json};

use super::place::{Client, PackPlace};
use crate::suite::support::mcp::{McpProcess, initialize, modern_meta};

fn server(place: &PackPlace, toolsets: &str) -> McpProcess {
    let mut command = place.command(&place.project());
    command.args(["mcp", "serve", "--toolset", toolsets]);
    McpProcess::spawn(command)
}

fn greeted(place: &PackPlace, toolsets: &str, version: &str) -> Value {
    let mut server = server(place, toolsets);
    server.send(initialize("init", version).to_string().as_bytes());
    server.receive().unwrap()["result"].clone()
}

#[test]
fn must_34_versions_that_are_not_known_are_answered_with_2025_06_18() {
    let place = PackPlace::bare();
    for (asked, answered) in [
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2025-06-18"),
        ("1999-01-01", "2025-06-18"),
        ("", "2025-06-18"),
    ] {
        let result = greeted(&place, "pack", asked);
        assert_eq!(result["protocolVersion"], answered, "{asked}");
        assert!(result["capabilities"]["tools"].is_object(), "{result}");
        assert!(result["instructions"].is_string(), "{result}");
    }
}

#[test]
fn a_server_of_packs_alone_is_called_agentpack() {
    let place = PackPlace::bare();
    for (toolsets, name) in [
        ("pack", "agentpack"),
        ("pack,runs", "windlass"),
        ("runs", "windlass"),
        ("all", "windlass"),
    ] {
        let result = greeted(&place, toolsets, "2025-06-18");
        assert_eq!(result["serverInfo"]["name"], name, "{toolsets}");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    }
}

#[test]
fn the_modern_revision_is_served_by_the_same_process() {
    let place = PackPlace::new();
    let mut server = server(&place, "pack");
    let discover = json!({
        "jsonrpc": "2.0", "id": 1, "method": "server/discover",
        "params": { "_meta": modern_meta() },
    });
    server.send(discover.to_string().as_bytes());
    let result = server.receive().unwrap()["result"].clone();
    let versions = result["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{result}");
    let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "agentpack", "{result}");
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "plan", "arguments": {}, "_meta": modern_meta() },
    });
    server.send(call.to_string().as_bytes());
    let answer = server.receive().unwrap();
    assert_eq!(
        answer["result"]["structuredContent"]["ok"], true,
        "{answer}"
    );
    assert!(answer["result"]["resultType"].is_string(), "{answer}");
}

#[test]
fn must_39_protocol_errors_do_not_end_the_process() {
    let place = PackPlace::new();
    let mut client = place.serve();
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"deploy_all"}}"#,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":7,"method":"nothing"}"#, -32601),
    ] {
        client.server.send(line.as_bytes());
        let answer = client.server.receive().unwrap();
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    client.server.send(b"");
    assert!(client.call("plan", json!({})).is_ok());
    assert_eq!(client.server.close(), Some(0));
}

#[test]
fn a_call_before_the_handshake_does_not_end_the_process() {
    let place = PackPlace::new();
    let mut server = server(&place, "pack");
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "plan", "arguments": {} },
    });
    server.send(call.to_string().as_bytes());
    assert_eq!(server.receive().unwrap()["id"], 1);
    server.send(br#"{"jsonrpc":"2.0","id":2,"method":"initialize"}"#);
    assert_eq!(server.receive().unwrap()["error"]["code"], -32602);
    server.send(initialize("init", "2025-06-18").to_string().as_bytes());
    assert!(server.receive().unwrap()["result"].is_object());
}

#[test]
fn the_end_of_input_lets_running_work_finish() {
    let place = PackPlace::new();
    let mut client: Client = place.serve();
    let token = client.token(json!({}));
    let apply = json!({ "yes": true, "confirm_token": token });
    client.ask_tool("deploy_apply", &apply);
    let mut server = client.server;
    server.end_input();
    // The answer may be lost with the connection; the work is not half done.
    while server.receive().is_some() {}
    assert_eq!(server.process.0.wait().unwrap().code(), Some(0));
    let tool_reply = place.serve().call("status", json!({}));
    let summary = &tool_reply.data()["summary"];
    let missing = summary["missing"].as_u64().unwrap();
    assert!(missing == 0 || missing == 8, "{:#}", tool_reply.0);
    assert_eq!(summary["modified"], 0, "{:#}", tool_reply.0);
}
