//! One client on stdio: order, limits, batches, cancellation, the end of input.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, time::timeout};
use windlass_mcp::transport::StdioOptions;

use super::support::{StdioClient, TIMEOUT, TestHandler, call, initialize, modern_meta};

fn codes(messages: &[Value]) -> Vec<i64> {
    messages
        .iter()
        .map(|message| message["error"]["code"].as_i64().unwrap_or(0))
        .collect()
}

#[tokio::test]
async fn before_initialize_every_message_gets_its_due_and_the_server_stays_up() {
    let mut client = StdioClient::start(TestHandler::default());
    client.send_bytes(b"\xef\xbb\xbf\n \n").await;
    client
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    client
        .send(&json!({ "jsonrpc": "2.0", "id": 9, "result": {} }))
        .await;
    let early = client
        .ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }))
        .await;
    assert_eq!(early["error"]["code"], -32602);
    insta::assert_snapshot!(early["error"]["message"].as_str().unwrap(), @"tools/list came before initialize; send initialize first, or put io.modelcontextprotocol/protocolVersion and /clientCapabilities in _meta");
    let batch = client
        .ask(&json!([{ "jsonrpc": "2.0", "id": 1, "method": "ping" }]))
        .await;
    assert_eq!(codes(&[batch]), [-32600]);
    let unknown = client
        .ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "nope" }))
        .await;
    assert_eq!(codes(&[unknown]), [-32601]);
    assert!(client.until_ping("early ping").await.is_empty());
    let opened = client.ask(&initialize(2, "2025-11-25")).await;
    assert_eq!(opened["result"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn requests_behind_initialize_wait_for_its_answer() {
    let mut client = StdioClient::start(TestHandler::default());
    let pipelined = format!(
        "{}\n{}\n{}\n",
        initialize(1, "2025-03-26"),
        call(2, "echo", json!({ "a": 1 })),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
    );
    client.send_bytes(pipelined.as_bytes()).await;
    assert_eq!(
        client.receive().await["result"]["protocolVersion"],
        "2025-03-26"
    );
    assert_eq!(
        client.receive().await["result"]["content"][0]["text"],
        r#"{"a":1}"#
    );
}

#[tokio::test]
async fn a_batch_is_answered_with_one_list_in_2025_03_26_only() {
    let batch = json!([
        call(1, "echo", json!({ "n": 1 })),
        { "jsonrpc": "2.0", "method": "notifications/initialized" },
        7,
        { "jsonrpc": "2.0", "id": 2, "method": "ping" },
        { "jsonrpc": "2.0", "id": 3, "method": "no/such" },
        initialize(4, "2025-03-26"),
        { "jsonrpc": "2.0", "id": 2, "method": "ping" },
    ]);
    let mut client = StdioClient::initialized("2025-03-26").await;
    let mut answers = client.ask(&batch).await.as_array().expect("a list").clone();
    answers.sort_by_key(|answer| (answer["id"].as_i64(), answer["error"]["code"].as_i64()));
    let seen: Vec<_> = answers
        .iter()
        .map(|answer| (answer["id"].clone(), answer["error"]["code"].as_i64()))
        .collect();
    assert_eq!(
        seen,
        [
            (Value::Null, Some(-32600)),
            (json!(1), None),
            (json!(2), None),
            (json!(2), Some(-32600)),
            (json!(3), Some(-32601)),
            (json!(4), Some(-32600)),
        ]
    );
    client
        .send(&json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }]))
        .await;
    assert!(client.until_ping("only notifications").await.is_empty());

    for version in ["2025-06-18", "2025-11-25"] {
        let mut client = StdioClient::initialized(version).await;
        assert_eq!(codes(&[client.ask(&batch).await]), [-32600], "{version}");
    }
}

#[tokio::test]
async fn cancelling_a_request_in_a_batch_releases_the_rest() {
    let handler = TestHandler::default();
    let mut client = StdioClient::start(handler.clone());
    client.ask(&initialize(0, "2025-03-26")).await;
    client
        .send(&json!([
            call(1, "hang", json!({})),
            call(2, "echo", json!({}))
        ]))
        .await;
    handler.started.notified().await;
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } })).await;
    let answers = client.receive().await;
    assert_eq!(answers.as_array().map(Vec::len), Some(1), "{answers}");
    assert_eq!(answers[0]["id"], 2);
}

#[tokio::test]
async fn a_cancelled_request_is_dropped_and_not_answered() {
    let handler = TestHandler::default();
    let mut client = StdioClient::start(handler.clone());
    client.ask(&initialize(0, "2025-06-18")).await;
    client.send(&call(1, "hang", json!({}))).await;
    handler.started.notified().await;
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } })).await;
    timeout(TIMEOUT, handler.dropped.notified())
        .await
        .expect("the call is dropped");
    assert!(client.until_ping("after cancel").await.is_empty());
    // The id is free again.
    assert!(
        client
            .ask(&call(1, "echo", json!({})))
            .await
            .get("result")
            .is_some()
    );
}

#[tokio::test]
async fn an_id_in_use_is_refused() {
    let handler = TestHandler::default();
    let mut client = StdioClient::start(handler.clone());
    client.ask(&initialize(0, "2025-06-18")).await;
    client.send(&call(1, "hang", json!({}))).await;
    handler.started.notified().await;
    let refused = client.ask(&call(1, "echo", json!({}))).await;
    assert_eq!(
        (refused["id"].clone(), refused["error"]["code"].clone()),
        (json!(1), json!(-32600))
    );
    assert!(
        client
            .ask(&call("1", "echo", json!({})))
            .await
            .get("result")
            .is_some(),
        "a string is another id"
    );
}

#[tokio::test]
async fn a_line_over_the_limit_is_refused_and_skipped() {
    let options = StdioOptions {
        max_line_bytes: 1000,
        ..StdioOptions::default()
    };
    let mut client = StdioClient::start_with(TestHandler::default(), options);
    client.ask(&initialize(0, "2025-06-18")).await;
    client.send_bytes(&vec![b'x'; 5000]).await;
    let refused = client.receive().await;
    assert_eq!(
        (refused["id"].clone(), refused["error"]["code"].clone()),
        (Value::Null, json!(-32700))
    );
    client.send_bytes(&vec![b'y'; 300_000]).await;
    client.send_bytes(b"\n").await;
    assert!(client.until_ping("after the long line").await.is_empty());
}

#[tokio::test]
async fn ten_megabytes_in_one_line_are_taken() {
    let mut client = StdioClient::start_with(TestHandler::default(), StdioOptions::default());
    client.ask(&initialize(0, "2025-06-18")).await;
    let big = "x".repeat(10 * 1024 * 1024 - 200);
    let request = call(1, "echo", json!({ "big": big })).to_string();
    assert!(request.len() <= StdioOptions::default().max_line_bytes);
    let answer = client.ask(&serde_json::from_str(&request).unwrap()).await;
    assert_eq!(
        answer["result"]["content"][0]["text"]
            .as_str()
            .map(str::len),
        Some(big.len() + 10)
    );
}

#[tokio::test]
async fn the_last_line_needs_no_newline_and_is_answered_before_the_end() {
    let mut client = StdioClient::initialized("2025-06-18").await;
    client
        .send_bytes(call(1, "echo", json!({})).to_string().as_bytes())
        .await;
    client.close_input().await;
    assert_eq!(client.receive().await["id"], 1);
    assert_eq!(client.receive_line().await, None);
    client.server.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_end_of_input_drops_calls_in_flight_and_ends_the_server_promptly() {
    let handler = TestHandler::default();
    let mut client = StdioClient::start(handler.clone());
    client.ask(&initialize(0, "2025-06-18")).await;
    client.send(&call(1, "hang", json!({}))).await;
    handler.started.notified().await;
    client.close_input().await;
    timeout(Duration::from_secs(5), &mut client.server)
        .await
        .expect("ends within the grace period")
        .unwrap()
        .unwrap();
    timeout(TIMEOUT, handler.dropped.notified())
        .await
        .expect("the call is dropped");
}

#[tokio::test]
async fn many_requests_at_once_are_all_answered() {
    let mut client = StdioClient::initialized("2025-06-18").await;
    let count = 3000;
    let burst: String = (0..count)
        .map(|id| format!("{}\n", call(id, "echo", json!({ "id": id }))))
        .collect();
    let (mut seen, mut left) = (vec![false; count], count);
    let mut bytes = burst.as_bytes();
    while left > 0 {
        // Write and read in turns, as a client with one thread has to.
        let (now, rest) = bytes.split_at(bytes.len().min(16 * 1024));
        client.send_bytes(now).await;
        bytes = rest;
        let batch = if bytes.is_empty() { left } else { 1 };
        for _ in 0..batch {
            let id = usize::try_from(client.receive().await["id"].as_i64().unwrap()).unwrap();
            assert!(
                !std::mem::replace(&mut seen[id], true),
                "{id} was answered twice"
            );
            left -= 1;
        }
    }
    assert!(seen.iter().all(|seen| *seen));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_waited_for() {
    const COUNT: usize = 40;
    let client = StdioClient::initialized("2025-06-18").await;
    let (mut input, mut output) = client.split();
    let sender = tokio::spawn(async move {
        let big = "x".repeat(500_000);
        for id in 0..COUNT {
            let request = format!("{}\n", call(id, "echo", json!({ "big": big })));
            input.write_all(request.as_bytes()).await.unwrap();
        }
        input
    });
    // One thread runs the server, the sender and this: enough turns to take all 20 MB.
    for _ in 0..20_000 {
        tokio::task::yield_now().await;
    }
    assert!(
        !sender.is_finished(),
        "everything was taken although no answer was read"
    );
    for _ in 0..COUNT {
        let line = timeout(TIMEOUT, output.next_line())
            .await
            .expect("an answer in time")
            .unwrap();
        assert!(line.is_some_and(|line| line.len() > 500_000));
    }
    sender.await.unwrap();
}

#[tokio::test]
async fn server_requests_and_progress_reach_a_legacy_client() {
    let mut client = StdioClient::initialized("2025-06-18").await;
    client.send(&call(1, "ask", json!({}))).await;
    let question = client.receive().await;
    assert_eq!(question["method"], "elicitation/create");
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept", "content": {} } })).await;
    assert_eq!(
        client.receive().await["result"]["content"][0]["text"],
        "\"accept\""
    );

    let mut progress = call(2, "progress", json!({}));
    progress["params"]["_meta"] = json!({ "progressToken": "p" });
    client.send(&progress).await;
    let mut steps = Vec::new();
    loop {
        let message = client.receive().await;
        if message["id"] == 2 {
            break;
        }
        steps.push(message["params"]["progress"].as_f64().unwrap());
    }
    assert_eq!(steps, [1.0, 2.0, 3.0]);
}

#[tokio::test]
async fn a_modern_request_gets_no_server_request() {
    let mut client = StdioClient::start(TestHandler::default());
    let mut request = call(1, "echo", json!({ "a": 1 }));
    request["params"]["_meta"] = modern_meta();
    let answer = client.ask(&request).await;
    assert_eq!(answer["result"]["resultType"], "complete");
}
