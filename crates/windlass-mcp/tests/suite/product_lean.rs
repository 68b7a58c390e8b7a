//! The short tool list: its size, and that everything is two calls away.

use serde_json::{Value, json};

use super::{
    support::{StdioClient, call, initialize},
    workshop::Workshop,
};

async fn opened(shop: &Workshop) -> StdioClient {
    let mut client = shop.lean_client();
    client.ask(&initialize("init", "2025-06-18")).await;
    client
}

async fn content(client: &mut StdioClient, tool: &str, arguments: Value) -> Value {
    client.ask(&call(1, tool, arguments)).await["result"]["structuredContent"].clone()
}

#[tokio::test]
async fn the_list_is_short() {
    let shop = Workshop::new().await;
    let answer = opened(&shop)
        .await
        .ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }))
        .await;
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "search",
            "describe",
            "call",
            "runs_show",
            "runs_watch",
            "runs_cancel",
            "runs_approve",
            "runs_reject"
        ]
    );
    // About four characters make a token; the bar is 1,000 tokens.
    let size = answer["result"].to_string().len();
    assert!(size <= 3200, "{size} characters");
}

#[tokio::test]
async fn every_tool_is_two_calls_away() {
    let shop = Workshop::new().await;
    let mut client = opened(&shop).await;
    for info in shop.process.catalogue().operations() {
        let described = content(&mut client, "describe", json!({ "tool": info.tool })).await;
        assert_eq!(described["input_schema"]["type"], "object", "{described}");
        let called = client
            .ask(&call(
                2,
                "call",
                json!({ "tool": info.tool, "arguments": { "no such field": 1 } }),
            ))
            .await;
        // Refused by the operation itself, so the call arrived.
        let structured = &called["result"]["structuredContent"];
        assert!(
            called["result"].get("content").is_some(),
            "{} was not called: {called}",
            info.tool
        );
        assert!(structured.is_object(), "{structured}");
    }
}

#[tokio::test]
async fn searching_finds_by_name_title_and_words() {
    let shop = Workshop::new().await;
    let mut client = opened(&shop).await;
    let cases = [
        ("watch", "runs_watch"),
        ("workbench steps", "shop_apply"),
        ("artifact content", "runs_artifact"),
        ("undo what it did", "runs_rollback"),
    ];
    for (query, want) in cases {
        let found = content(&mut client, "search", json!({ "query": query })).await;
        let names: Vec<_> = found["tools"]
            .as_array()
            .unwrap()
            .iter()
            .take(3)
            .map(|tool| tool["tool"].as_str().unwrap())
            .collect();
        assert!(names.contains(&want), "{query}: {names:?}");
        let summary = found["tools"][0]["summary"].as_str().unwrap();
        assert!(!summary.is_empty() && summary.chars().count() <= 161);
    }
    let all = content(&mut client, "search", json!({})).await;
    assert_eq!(all["total"], shop.process.catalogue().operations().count());
    let none = content(&mut client, "search", json!({ "query": "zzzz" })).await;
    assert_eq!(none["total"], 0);
}

#[tokio::test]
async fn mistakes_are_told_to_the_model() {
    let shop = Workshop::new().await;
    let mut client = opened(&shop).await;
    for (tool, arguments) in [
        ("describe", json!({ "tool": "runs_lst" })),
        ("describe", json!({})),
        ("call", json!({})),
        ("call", json!({ "tool": 1 })),
        ("call", json!({ "tool": "runs_list", "arguments": [] })),
    ] {
        let answer = client.ask(&call(1, tool, arguments.clone())).await;
        assert_eq!(
            answer["result"]["isError"], true,
            "{tool} {arguments}: {answer}"
        );
    }
    let unknown = client
        .ask(&call(1, "call", json!({ "tool": "nope" })))
        .await;
    assert_eq!(unknown["error"]["code"], -32602);
    // A listed tool also works by its own name.
    let direct = client.ask(&call(1, "runs_list", json!({}))).await;
    assert_eq!(direct["result"]["isError"], false);
}
