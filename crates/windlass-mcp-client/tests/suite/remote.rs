//! Addresses: the policy of outbound traffic, and nobody there.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use serde_json::json;
use windlass_mcp_client::parse_json;
use windlass_net::OutboundPolicy;
use windlass_ports::{ServerError, ServerState, ToolServers as _};

use super::support::{Place, call, echo, is_ready, until, view};

/// A scripted server over HTTP, and its port.
struct Far(Child, u16);

impl Far {
    fn start(port: u16) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/http_server.py");
        let mut child = Command::new("python3")
            .args([script, &port.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        Self(child, line.trim().parse().unwrap())
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn open() -> OutboundPolicy {
    OutboundPolicy {
        allow_private: true,
        allow_http: true,
        allowed_hosts: None,
    }
}

async fn refusal(url: &str, policy: OutboundPolicy) -> String {
    let text = json!({ "mcpServers": { "far": { "url": url } } }).to_string();
    let mut place = Place::new();
    place.servers = parse_json(&text).unwrap().servers;
    let client = place.client_with(policy);
    match call(&client, "far__echo", json!({})).await.unwrap_err() {
        ServerError::Unavailable { cause, .. } => cause,
        other => format!("unexpected: {other}"),
    }
}

#[tokio::test]
async fn addresses_pass_the_policy() {
    for (url, cause) in [
        (
            "https://169.254.169.254/mcp",
            "is reserved, link-local or a metadata service",
        ),
        ("https://127.0.0.1/mcp", "is not a public address"),
        ("http://example.org/mcp", "plain http is not allowed"),
        (
            "https://ada:pw@example.org/mcp",
            "user names and passwords do not belong",
        ),
    ] {
        let found = refusal(url, OutboundPolicy::default()).await;
        assert!(found.contains(cause), "{url}: {found}");
    }
}

#[tokio::test]
async fn an_address_where_nobody_is_is_told() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let found = refusal(&format!("http://{address}/mcp"), open()).await;
    assert!(found.contains("no answer"), "{found}");
}

#[tokio::test]
async fn a_remote_server_that_goes_away_is_seen_and_comes_back() {
    let far = Far::start(0);
    let port = far.1;
    let text = json!({ "mcpServers": { "far": {
        "url": format!("http://127.0.0.1:{port}/mcp"),
        "headers": { "X-Key": "${HOME}" },
    } } });
    let mut place = Place::new();
    place.servers = parse_json(&text.to_string()).unwrap().servers;
    let client = place.client_with(open());
    assert_eq!(echo(&client, "far").await, "hello//nonexistent");
    let ready = view(&client, "far");
    assert_eq!(ready.protocol.as_deref(), Some("2025-11-25"));
    assert_eq!(ready.target, format!("http://127.0.0.1:{port}"));

    drop(far);
    let error = call(&client, "far__echo", json!({})).await.unwrap_err();
    assert!(matches!(error, ServerError::Interrupted { .. }), "{error}");
    until(&client, "far", |view| {
        matches!(view.state, ServerState::Failed { .. })
    })
    .await;
    let _far = Far::start(port);
    until(&client, "far", is_ready).await;
    assert_eq!(echo(&client, "far").await, "hello//nonexistent");
    client.stop().await;
}
