//! Inputs that take long to read are read beside the threads that serve everybody.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;

use super::support::{call, get, server_with};

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
