//! The table of bad input against a server on stdio and over HTTP: exact codes, and the
//! server is up after every one of them.

use serde_json::Value;
use windlass_testkit::malformed::{Want, all};

use super::support::{HttpClient, StdioClient};

fn show(input: &[u8]) -> String {
    String::from_utf8_lossy(&input[..input.len().min(200)]).into_owned()
}

fn error_of(messages: &[Value]) -> Option<(i64, String)> {
    let [message] = messages else { return None };
    Some((
        message["error"]["code"].as_i64()?,
        message["id"].to_string(),
    ))
}

fn is_result(messages: &[Value], id: &str) -> bool {
    matches!(messages, [message] if message.get("result").is_some() && message["id"] == serde_json::from_str::<Value>(id).unwrap())
}

#[tokio::test]
async fn the_table_is_long_enough() {
    assert!(all().len() >= 200, "{} cases", all().len());
}

#[tokio::test]
async fn stdio_answers_every_case_and_stays_up() {
    let mut client = StdioClient::initialized("2025-06-18").await;
    let mut wrong = Vec::new();
    for (number, case) in all().iter().enumerate() {
        client.send_bytes(&case.input).await;
        client.send_bytes(b"\n").await;
        let said = client.until_ping(&format!("after {number}")).await;
        let fits = match case.want {
            Want::Error(code, id) => error_of(&said) == Some((code, id.to_owned())),
            Want::Result(id) => is_result(&said, id),
            Want::Silent | Want::Ignored => said.is_empty(),
        };
        if !fits {
            wrong.push(format!(
                "{:?} for {}\n   got {said:?}",
                case.want,
                show(&case.input)
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    client.close_input().await;
    assert_eq!(client.receive_line().await, None);
    client.server.await.unwrap().unwrap();
}

#[tokio::test]
async fn http_answers_every_case_and_stays_up() {
    let client = HttpClient::initialized("2025-06-18").await;
    let mut wrong = Vec::new();
    for case in all() {
        let reply = client.post_bytes(&case.input).await;
        let status = reply.status.as_u16();
        let fits = match case.want {
            Want::Error(code, id) => {
                // Errors of the message are 400; errors of a method travel as its answer.
                let statuses: &[u16] = if matches!(code, -32700 | -32600) {
                    &[400]
                } else {
                    &[200, 400]
                };
                error_of(&reply.messages) == Some((code, id.to_owned()))
                    && statuses.contains(&status)
            }
            Want::Result(id) => status == 200 && is_result(&reply.messages, id),
            Want::Silent => status == 202 && reply.text.is_empty(),
            Want::Ignored => matches!(status, 202 | 400),
        };
        if !fits {
            wrong.push(format!(
                "{:?} for {}\n   got {status} {}",
                case.want,
                show(&case.input),
                reply.text
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
