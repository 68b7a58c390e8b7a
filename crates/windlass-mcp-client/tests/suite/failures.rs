//! Servers that fail, and the others that go on.

use std::time::{Duration, Instant};

use serde_json::json;
use windlass_ports::{ServerError, ServerState, ToolServers as _};

use super::support::{Place, call, echo, is_ready, text, until, view};

#[tokio::test]
async fn a_server_that_fails_takes_no_other_with_it() {
    let place = Place::new()
        .server("never", &["never"])
        .server("dead", &["dead"])
        .server("good", &[])
        .limit(Duration::from_secs(4));
    let client = place.client();
    let began = Instant::now();
    client.start().await;
    // All at the same time, each within its limit.
    assert!(
        began.elapsed() < Duration::from_secs(8),
        "{:?}",
        began.elapsed()
    );
    assert!(is_ready(&view(&client, "good")));
    let state = |server: &str| match view(&client, server).state {
        ServerState::Failed { cause, .. } => cause,
        other => format!("{other:?}"),
    };
    assert_eq!(state("dead"), "it ended with code 7; it wrote: no licence");
    let never = until(&client, "never", |view| {
        matches!(view.state, ServerState::Failed { .. })
    })
    .await;
    assert!(
        matches!(&never.state, ServerState::Failed { cause, .. } if cause == "it was not ready within 4 s"),
        "{never:?}"
    );
    assert_eq!(client.tools().await.len(), 9);
    let error = call(&client, "dead__echo", json!({})).await.unwrap_err();
    assert!(matches!(error, ServerError::Unavailable { .. }), "{error}");
    client.stop().await;
    assert_eq!(view(&client, "good").state, ServerState::Stopped);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let mut place = Place::new().server("missing", &[]);
    if let windlass_mcp_client::ServerTarget::Stdio(program) = &mut place.servers[0].target {
        program.command = "windlass-no-such-program".to_owned();
    }
    let client = place.client();
    let error = call(&client, "missing__echo", json!({})).await.unwrap_err();
    let text = error.to_string();
    let begin = "the MCP server `missing` is not available: the program \
                 `windlass-no-such-program` is not installed";
    assert!(text.starts_with(begin), "{text}");
}

#[tokio::test]
async fn a_crash_is_told_and_the_server_comes_back() {
    let place = Place::new().server("frail", &["starts=@starts"]);
    let client = place.client();
    assert_eq!(echo(&client, "frail").await, "hello");
    let error = call(&client, "frail__crash", json!({})).await.unwrap_err();
    assert_eq!(
        error,
        ServerError::Interrupted {
            server: "frail".to_owned(),
            cause: "it ended with code 3; it wrote: Traceback: boom".to_owned(),
        }
    );
    let starts = place.file("starts");
    until(&client, "frail", |view| {
        is_ready(view) && fs_err::read(&starts).unwrap().len() == 2
    })
    .await;
    assert_eq!(echo(&client, "frail").await, "hello");
    client.stop().await;
}

#[tokio::test]
async fn a_slow_start_is_waited_for() {
    let place = Place::new().server("slow", &["delay=2"]);
    let client = place.client();
    assert_eq!(echo(&client, "slow").await, "hello");
    client.stop().await;
}

#[tokio::test]
async fn lines_that_are_no_messages_are_left_out() {
    let place = Place::new().server("chatty", &["garbage"]);
    let client = place.client();
    assert_eq!(echo(&client, "chatty").await, "hello");
    let view = view(&client, "chatty");
    assert!(is_ready(&view));
    assert!(view.malformed_lines >= 6, "{view:?}");
    client.stop().await;
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled() {
    let place = Place::new().server("deaf", &["log=@log"]);
    let client = place.client();
    echo(&client, "deaf").await;
    let waiting = call(&client, "deaf__silent", json!({}));
    let waited = tokio::time::timeout(Duration::from_secs(1), waiting).await;
    assert!(waited.is_err());
    let log = place.file("log");
    for _ in 0..100 {
        if fs_err::read_to_string(&log)
            .unwrap()
            .contains("notifications/cancelled")
        {
            // The others go on.
            assert_eq!(echo(&client, "deaf").await, "hello");
            client.stop().await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("not cancelled");
}

#[tokio::test]
async fn a_program_gets_few_variables() {
    let place = Place::new().server("nosy", &[]);
    let client = place.client();
    let reply = call(&client, "nosy__env", json!({})).await.unwrap();
    let names = text(&reply);
    assert!(names.contains("PATH"), "{names}");
    assert!(!names.contains("AWS"), "{names}");
    client.stop().await;
    let error = call(&client, "unknown__x", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "no tool is called `unknown__x`");
}

#[tokio::test]
async fn a_program_ends_with_its_client() {
    let place = Place::new().server("bound", &[]);
    let client = place.client();
    let pid = text(&call(&client, "bound__pid", json!({})).await.unwrap());
    let lives = || {
        let asked = std::process::Command::new("kill")
            .args(["-0", &pid])
            .output();
        asked.unwrap().status.success()
    };
    assert!(lives());
    drop(client);
    for _ in 0..200 {
        if !lives() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it is still there");
}
