//! What a server sends is bounded and cleaned.

use std::{sync::Mutex, time::Duration};

use serde_json::json;
use windlass_ports::{CallLimits, ServerCall, ServerError, ToolServers as _};

use super::support::{Place, arguments, call, text};

#[tokio::test]
async fn a_result_of_ten_megabytes_keeps_its_ends() {
    let place = Place::new().server("big", &[]);
    let client = place.client();
    let reply = call(&client, "big__huge", json!({})).await.unwrap();
    let shown = text(&reply);
    assert!(shown.len() < 110 * 1024, "{}", shown.len());
    assert!(shown.starts_with("aaaa") && shown.ends_with("üüüü"));
    assert!(reply.omitted > 9_800_000, "{}", reply.omitted);
    let many = call(&client, "big__many", json!({})).await.unwrap();
    assert!(many.parts.len() <= 10_001, "{}", many.parts.len());
    client.stop().await;
}

#[tokio::test]
async fn control_characters_are_removed_or_shown() {
    let place = Place::new().server("rude", &["control"]);
    let client = place.client();
    let tools = client.tools().await;
    assert_eq!(tools[0].description, "Says it\\u{202e} back.\\u{200b}");
    assert_eq!(
        tools[0].input_schema["properties"]["text"]["description"],
        "a\\u{202e}b"
    );
    let reply = call(&client, "rude__control", json!({})).await.unwrap();
    assert!(reply.is_error);
    assert_eq!(text(&reply), "red and \\u{202e}backwards\\u{200b} link");
    client.stop().await;
}

#[tokio::test]
async fn progress_of_the_call_is_passed_on() {
    let place = Place::new().server("busy", &[]);
    let client = place.client();
    let heard = Mutex::new(Vec::new());
    let listener = |progress| heard.lock().unwrap().push(progress);
    let reply = client
        .call(ServerCall {
            tool: "busy__progress",
            arguments: arguments(json!({})),
            limits: CallLimits::default(),
            listener: Some(&listener),
        })
        .await
        .unwrap();
    assert_eq!(text(&reply), "done");
    let heard: Vec<String> = heard
        .into_inner()
        .unwrap()
        .into_iter()
        .map(|notice: windlass_ports::ServerProgress| {
            format!(
                "{} {:?} {:?}",
                notice.progress, notice.total, notice.message
            )
        })
        .collect();
    assert_eq!(
        heard,
        ["1 Some(2.0) Some(\"step\")", "2 Some(2.0) Some(\"step\")"]
    );
    client.stop().await;
}

#[tokio::test]
async fn a_server_that_never_answers_a_call_runs_out_of_time() {
    let place = Place::new().server("deaf", &[]);
    let client = place.client();
    let limit = Duration::from_millis(500);
    let error = client
        .call(ServerCall {
            tool: "deaf__silent",
            arguments: arguments(json!({})),
            limits: CallLimits {
                time: limit,
                ..CallLimits::default()
            },
            listener: None,
        })
        .await
        .unwrap_err();
    let server = "deaf".to_owned();
    assert_eq!(error, ServerError::TimedOut { server, limit });
    client.stop().await;
}
