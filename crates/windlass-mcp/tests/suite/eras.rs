//! Both eras: version negotiation, side by side in one process, same answers where the
//! answer does not depend on the era.

use serde_json::{Value, json};

use super::support::{HttpClient, StdioClient, TestHandler, call, initialize, modern_meta};

#[tokio::test]
async fn initialize_answers_with_a_version_both_can_speak() {
    let cases = [
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2025-06-18"),
        ("2026-07-28", "2025-06-18"),
        ("2099-01-01", "2025-06-18"),
        ("", "2025-06-18"),
        ("latest", "2025-06-18"),
    ];
    for (asked, want) in cases {
        let mut client = StdioClient::start(TestHandler::default());
        let answer = client.ask(&initialize(1, asked)).await;
        assert_eq!(
            answer["result"]["protocolVersion"], want,
            "stdio, asked for {asked:?}"
        );
        assert_eq!(
            answer["result"].get("resultType"),
            None,
            "legacy results have no type"
        );

        let reply = HttpClient::start().post(&initialize(1, asked)).await;
        assert_eq!(
            reply.messages[0]["result"]["protocolVersion"], want,
            "http, asked for {asked:?}"
        );
        assert!(reply.headers.contains_key("mcp-session-id"));
    }
}

fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = modern_meta();
    json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params })
}

#[tokio::test]
async fn discovery_is_answered_before_anything_else() {
    let mut client = StdioClient::start(TestHandler::default());
    let answer = client.ask(&modern("server/discover", json!({}))).await;
    assert_eq!(
        answer["result"]["supportedVersions"],
        json!(["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
    );
    let bare = client
        .ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover" }))
        .await;
    assert_eq!(bare["error"]["code"], -32602);
    let mut unknown = modern("server/discover", json!({}));
    unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("v999");
    let refused = client.ask(&unknown).await;
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["requested"], "v999");
}

#[tokio::test]
async fn both_eras_share_one_process_in_either_order() {
    let listed = |answer: &Value| answer["result"]["tools"].as_array().map(Vec::len);
    let legacy = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for modern_first in [true, false] {
        let mut client = StdioClient::start(TestHandler::default());
        if modern_first {
            let answer = client.ask(&modern("tools/list", json!({}))).await;
            assert_eq!(
                (listed(&answer), &answer["result"]["resultType"]),
                (Some(4), &json!("complete"))
            );
        }
        client.ask(&initialize(0, "2025-11-25")).await;
        let answer = client.ask(&legacy).await;
        assert_eq!(
            (listed(&answer), answer["result"].get("resultType")),
            (Some(4), None)
        );
        let answer = client.ask(&modern("tools/list", json!({}))).await;
        assert_eq!(
            (listed(&answer), &answer["result"]["resultType"]),
            (Some(4), &json!("complete"))
        );
        assert_eq!(
            client.ask(&modern("ping", json!({}))).await["error"]["code"],
            -32601
        );
        assert!(client.until_ping("legacy ping").await.is_empty());
    }
}

#[tokio::test]
async fn errors_read_the_same_in_every_era() {
    let requests = [
        call(1, "no_such_tool", json!({})),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "no/such", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": { "name": 1 } }),
    ];
    for request in requests {
        let mut answers = Vec::new();
        for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
            let mut client = StdioClient::initialized(version).await;
            client.send(&request).await;
            answers.push(client.receive_line().await.unwrap());
        }
        let mut modern = request.clone();
        modern["params"]["_meta"] = modern_meta();
        let mut client = StdioClient::start(TestHandler::default());
        client.send(&modern).await;
        answers.push(client.receive_line().await.unwrap());
        answers.dedup();
        assert_eq!(answers.len(), 1, "{answers:#?}");
    }
}
