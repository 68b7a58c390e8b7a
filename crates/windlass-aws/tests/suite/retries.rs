//! Tries, waits, clocks and time limits of signed calls.

use std::time::Duration;

use serde_json::json;
use windlass_ports::aws::{
    ActionShape, AwsCalls as _, AwsFailureKind, SignedCall, SignedHttp, services,
};

use super::scripted::{KEY, Reply, Server, aws, aws_at, reply, target};

const LIST: ActionShape = ActionShape::new(&services::ECS, "ListClusters");
const THROTTLED: &str = r#"{"__type":"ThrottlingException","message":"Rate exceeded"}"#;

fn list() -> SignedCall {
    SignedCall::new(LIST, json!({}))
}

#[tokio::test]
async fn throttling_and_faults_are_tried_again_and_slow_the_service_down() {
    let server = Server::start([
        reply("400 Bad Request", THROTTLED),
        reply("500 Internal Server Error", "{}"),
        reply("503 Service Unavailable\r\nretry-after: 3", ""),
        reply("200 OK", r#"{"clusterArns":[]}"#),
    ])
    .await;
    let (aws, clock) = aws_at(&server);
    let answer = aws.call(&target(), list()).await.unwrap();
    assert_eq!(answer, json!({ "clusterArns": [] }));
    assert_eq!(server.asked().len(), 4);
    let waits = clock.waits.lock().unwrap().clone();
    assert!(waits.contains(&Duration::from_secs(3)), "{waits:?}");
    assert!(waits.contains(&Duration::from_millis(50)), "{waits:?}");
}

#[tokio::test]
async fn retries_end() {
    let server = Server::start([reply("400 Bad Request", THROTTLED)]).await;
    let (aws, _) = aws_at(&server);
    let failure = aws.call(&target(), list()).await.unwrap_err();
    assert_eq!(failure.kind, AwsFailureKind::Throttled);
    assert_eq!(
        failure.to_string(),
        "ecs:ListClusters: ThrottlingException: Rate exceeded"
    );
    assert_eq!(server.asked().len(), 5);
}

#[tokio::test]
async fn refusals_are_not_tried_again() {
    let body = r#"{"__type":"ValidationException","message":"bad input"}"#;
    let server = Server::start([reply("400 Bad Request", body)]).await;
    let (aws, _) = aws_at(&server);
    let failure = aws.call(&target(), list()).await.unwrap_err();
    assert_eq!(failure.kind, AwsFailureKind::Service);
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_wrong_clock_is_corrected_from_the_answer() {
    let body = r#"{"__type":"InvalidSignatureException","message":"Signature expired"}"#;
    let head = "403 Forbidden\r\ndate: Sun, 01 Mar 2026 14:00:00 GMT";
    let server = Server::start([reply(head, body), reply("200 OK", "{}")]).await;
    let (aws, _) = aws_at(&server);
    aws.call(&target(), list()).await.unwrap();
    let asked = server.asked();
    assert!(asked[0].contains("x-amz-date: 20260301T120000Z"));
    assert!(
        asked[1].contains("x-amz-date: 20260301T1400"),
        "{}",
        asked[1]
    );
}

#[tokio::test]
async fn a_wrong_signature_under_a_right_clock_is_final() {
    let body = r#"{"__type":"InvalidSignatureException","message":"does not match"}"#;
    let head = "403 Forbidden\r\ndate: Sun, 01 Mar 2026 12:00:10 GMT";
    let server = Server::start([reply(head, body)]).await;
    let (aws, _) = aws_at(&server);
    let failure = aws.call(&target(), list()).await.unwrap_err();
    assert_eq!(failure.kind, AwsFailureKind::Auth);
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn no_listener_and_no_answer_are_distinguished() {
    let silent = Server::start([Reply::Silence]).await;
    let url = silent.url();
    let pairs = |url| {
        [
            ("AWS_ACCESS_KEY_ID", "a"),
            ("AWS_SECRET_ACCESS_KEY", KEY),
            ("AWS_REGION", "eu-west-1"),
            ("AWS_MAX_ATTEMPTS", "1"),
            ("AWS_ENDPOINT_URL", url),
        ]
    };
    let (quiet, _) = aws(&pairs(&url));
    let call = SignedCall {
        timeout: Some(Duration::from_millis(100)),
        ..list()
    };
    let failure = quiet.call(&target(), call).await.unwrap_err();
    assert_eq!(failure.kind, AwsFailureKind::Timeout);

    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let (alone, _) = aws(&pairs(&format!("http://{closed}")));
    let failure = alone.call(&target(), list()).await.unwrap_err();
    assert_eq!(failure.kind, AwsFailureKind::Unreachable);
    assert!(
        failure.message.starts_with("no answer from 127.0.0.1: "),
        "{failure}"
    );
}

#[tokio::test]
async fn a_request_to_its_own_address_is_signed_and_answered_unchanged() {
    let server = Server::start([reply("418 Teapot\r\nX-Kind: pot", "short and stout")]).await;
    let (aws, _) = aws_at(&server);
    let request = |max_body| SignedHttp {
        signing_name: "es".to_owned(),
        action: "es:ESHttpGet".to_owned(),
        method: "GET".to_owned(),
        url: format!("{}/index/_search?q=a%20b", server.url()),
        headers: vec![("accept".to_owned(), "application/json".to_owned())],
        body: Vec::new(),
        timeout: Duration::from_secs(5),
        max_body,
    };
    let answer = aws.send(&target(), request(100)).await.unwrap();
    assert_eq!(answer.status, 418);
    assert!(
        answer
            .headers
            .contains(&("x-kind".to_owned(), "pot".to_owned()))
    );
    assert_eq!(answer.body, b"short and stout");
    let asked = &server.asked()[0];
    assert!(
        asked.starts_with("GET /index/_search?q=a%20b HTTP/1.1"),
        "{asked}"
    );
    assert!(asked.contains("/eu-west-1/es/aws4_request"), "{asked}");
    assert!(!asked.contains(KEY));
    let failure = aws.send(&target(), request(5)).await.unwrap_err();
    assert_eq!(failure.message, "the answer is longer than 5 bytes");
}
