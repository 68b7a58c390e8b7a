//! A commit service of the user's own: its two calls, its failures, and failures on the way.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_ports::commit_service::{OpenedPull, ServiceFault, ServiceKind, Stage};

use super::server::{Reply, Request, Server, reply};
use super::support::{BRANCH, TOKEN, address, commit_request, open, pull_request, world, write};

const URL: &str = "https://git.example.org/acme/site.git";

/// A service that remembers its answers by key, and refuses a key with another request.
async fn service() -> Server {
    let mut answers: BTreeMap<String, (Value, Value)> = BTreeMap::new();
    Server::start(move |request: &Request| {
        let key = request.header("idempotency-key").to_owned();
        if request.header("authorization") != format!("Bearer {TOKEN}") {
            return reply(401, json!({ "code": "UNAUTHORIZED", "message": "who?" }));
        }
        if request.body["idempotency_key"] != key {
            return reply(
                400,
                json!({ "code": "KEY_MISMATCH", "message": "two keys" }),
            );
        }
        if let Some((body, answer)) = answers.get(&key) {
            return match *body == request.body {
                true => reply(200, answer.clone()),
                false => reply(
                    409,
                    json!({ "code": "KEY_REUSED", "message": "another request" }),
                ),
            };
        }
        let number = answers.len() + 1;
        let answer = match request.path.as_str() {
            "/base/v1/commit" => json!({
                "schema_version": "1.0",
                "commit_sha": number.to_string().repeat(40),
                "created_at": "2026-01-01T00:00:00Z",
            }),
            "/base/v1/open_pr" => json!({
                "schema_version": "1.0",
                "pr_url": format!("https://git.example.org/pulls/{number}"),
                "pr_number": null,
            }),
            _ => return reply(404, Value::Null),
        };
        answers.insert(key, (request.body.clone(), answer.clone()));
        reply(201, answer)
    })
    .await
}

#[tokio::test]
async fn the_two_calls_match_the_contract() {
    let server = service().await;
    let world = world(ServiceKind::Http, format!("{}/base/", server.url()));
    let made = world.service.commit(commit_request(URL)).await.unwrap();
    let pull = world
        .service
        .open_pr(pull_request(URL, &made.commit_sha))
        .await
        .unwrap();
    assert_eq!(made.commit_sha, "1".repeat(40));
    assert_eq!(
        pull,
        OpenedPull {
            pr_url: "https://git.example.org/pulls/2".to_owned(),
            pr_number: None,
        }
    );
    let requests = server.requests();
    for (request, key) in requests.iter().zip(["key-commit", "key-pull"]) {
        assert_eq!(request.method, "POST");
        assert_eq!(request.header("idempotency-key"), key);
        assert_eq!(request.header("content-type"), "application/json");
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&requests[0].body).unwrap(), @r#"
    {
      "allowed_paths": [
        "content/"
      ],
      "base_ref": "1111111111111111111111111111111111111111",
      "branch_name": "launch/r_1/acme",
      "commit_body": "All of it.",
      "commit_message": "Launch Acme",
      "idempotency_key": "key-commit",
      "patch_bundle": {
        "patches": []
      },
      "repo_url": "https://git.example.org/acme/site.git",
      "require_clean_base": true,
      "run_id": "r_1",
      "schema_version": "1.0"
    }
    "#);
    insta::assert_snapshot!(serde_json::to_string_pretty(&requests[1].body).unwrap(), @r#"
    {
      "base_ref": "1111111111111111111111111111111111111111",
      "branch_name": "launch/r_1/acme",
      "draft": false,
      "idempotency_key": "key-pull",
      "pr_body": "Pages.\n",
      "pr_title": "Launch Acme",
      "repo_url": "https://git.example.org/acme/site.git",
      "run_id": "r_1",
      "schema_version": "1.0"
    }
    "#);
}

#[tokio::test]
async fn a_repeated_key_returns_the_first_answer() {
    let server = service().await;
    let world = world(ServiceKind::Http, format!("{}/base", server.url()));
    let first = world.service.commit(commit_request(URL)).await.unwrap();
    // After a crash there is nothing to look up; the same call is made again.
    assert_eq!(world.service.find(URL, BRANCH).await.unwrap(), None);
    assert_eq!(
        world.service.commit(commit_request(URL)).await.unwrap(),
        first
    );
    let mut other = commit_request(URL);
    other.commit_message = "Something else".to_owned();
    let fault = world.service.commit(other).await.unwrap_err();
    assert_eq!(
        (
            fault.http_status,
            fault.service_code.as_deref(),
            fault.retryable
        ),
        (Some(409), Some("KEY_REUSED"), false)
    );
}

#[tokio::test]
async fn what_may_pass_is_tried_again_and_what_may_not_is_not() {
    let server = service().await;
    let world = world(ServiceKind::Http, format!("{}/base", server.url()));
    let header = |name, value: &str| vec![(name, value.to_owned())];
    for (faults, pauses) in [
        (vec![reply(500, Value::Null)], vec![1]),
        (
            vec![Reply::Cut, Reply::CutWithin, reply(503, Value::Null)],
            vec![1, 2, 4],
        ),
        (
            vec![Reply::With(429, header("Retry-After", "7"), Value::Null)],
            vec![7],
        ),
        (
            vec![Reply::With(503, header("Retry-After", "0"), Value::Null)],
            vec![0],
        ),
    ] {
        for fault in faults {
            server.fail("POST", "/v1/commit", fault);
        }
        world.service.commit(commit_request(URL)).await.unwrap();
        assert_eq!(world.clock.pauses(), pauses);
    }
    let message =
        |code| json!({ "schema_version": "1.0", "code": code, "message": "no", "details": null });
    for (status, code) in [
        (400, "BAD_REQUEST"),
        (401, "UNAUTHORIZED"),
        (403, "AG001_APPROVAL_REQUIRED"),
        (403, "AG001_APPROVAL_DENIED"),
        (404, "NOT_FOUND"),
        (409, "BRANCH_EXISTS"),
        (422, "INVALID"),
    ] {
        server.fail("POST", "/v1/open_pr", reply(status, message(code)));
        let fault = world
            .service
            .open_pr(pull_request(URL, "x"))
            .await
            .unwrap_err();
        assert_eq!(
            (
                fault.adapter,
                fault.stage,
                fault.http_status,
                fault.service_code.as_deref()
            ),
            ("http", Stage::OpenPr, Some(status), Some(code))
        );
        assert!(
            !fault.retryable && fault.path_not_allowed.is_none(),
            "{fault:?}"
        );
        assert!(world.clock.pauses().is_empty());
    }
}

#[tokio::test]
async fn after_three_attempts_the_fault_is_retryable() {
    let server = service().await;
    let world = world(ServiceKind::Http, format!("{}/base", server.url()));
    server.requests();
    for _ in 0..4 {
        server.fail(
            "POST",
            "/v1/commit",
            reply(502, json!({ "message": format!("{TOKEN} x") })),
        );
    }
    let fault = world.service.commit(commit_request(URL)).await.unwrap_err();
    assert_eq!((fault.http_status, fault.retryable), (Some(502), true));
    assert_eq!(server.requests().len(), 4);
    assert!(!format!("{fault:?} {fault}").contains(TOKEN));
    // A pause that is too long is not waited for.
    let long = vec![("retry-after", "3600".to_owned())];
    server.fail("POST", "/v1/commit", Reply::With(429, long, Value::Null));
    world.clock.pauses();
    let fault = world.service.commit(commit_request(URL)).await.unwrap_err();
    assert_eq!(
        (
            fault.retryable,
            fault.retry_after,
            world.clock.pauses().len()
        ),
        (true, Some(Duration::from_secs(3600)), 0)
    );
}

#[tokio::test]
async fn silence_and_absence_are_faults_that_may_pass() {
    let server = service().await;
    let endpoint = |url: String| address(ServiceKind::Http, Some(url));
    let silent = open(endpoint(server.url()), Duration::from_millis(50)).unwrap();
    for _ in 0..4 {
        server.fail("POST", "/v1/commit", Reply::Silence);
    }
    let fault = silent
        .service
        .commit(commit_request(URL))
        .await
        .unwrap_err();
    assert_eq!(
        (fault.http_status, fault.retryable),
        (None, true),
        "{fault}"
    );

    // A released port: nothing listens there.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let absent = open(endpoint(nobody), Duration::from_secs(5)).unwrap();
    let fault = absent
        .service
        .commit(commit_request(URL))
        .await
        .unwrap_err();
    assert_eq!(
        (fault.http_status, fault.retryable),
        (None, true),
        "{fault}"
    );

    // Refused by the address policy: later does not help.
    let refused = open(
        endpoint("http://169.254.169.254".to_owned()),
        Duration::from_secs(5),
    );
    let fault = refused
        .unwrap()
        .service
        .commit(commit_request(URL))
        .await
        .unwrap_err();
    assert_eq!(
        (fault.http_status, fault.retryable),
        (None, false),
        "{fault}"
    );
}

#[tokio::test]
async fn paths_are_checked_here_and_there() {
    let server = service().await;
    let world = world(ServiceKind::Http, format!("{}/base", server.url()));
    let mut request = commit_request(URL);
    request.files.push(write("layouts/x.html", ""));
    let fault = world.service.commit(request).await.unwrap_err();
    assert_eq!(fault.path_not_allowed.as_deref(), Some("layouts/x.html"));
    assert_eq!(server.calls(), "");
    let refusal =
        json!({ "code": "PATH_NOT_ALLOWED", "message": "no", "details": { "path": "a" } });
    server.fail("POST", "/v1/commit", reply(403, refusal));
    let fault = world.service.commit(commit_request(URL)).await.unwrap_err();
    assert_eq!(
        (
            fault.path_not_allowed.as_deref(),
            fault.service_code.as_deref()
        ),
        (Some("a"), Some("PATH_NOT_ALLOWED"))
    );
}

#[tokio::test]
async fn empty_answers_are_faults() {
    let server = service().await;
    let world = world(ServiceKind::Http, format!("{}/base", server.url()));
    for body in [json!("<html>"), json!({}), json!({ "commit_sha": "main" })] {
        server.fail("POST", "/v1/commit", reply(200, body));
        let fault = world.service.commit(commit_request(URL)).await.unwrap_err();
        assert!(
            fault.message.contains("commit_sha") && !fault.retryable,
            "{fault:?}"
        );
    }
    let withdrawn: Result<(), ServiceFault> = world.service.withdraw(URL, BRANCH, "x", None).await;
    assert!(withdrawn.unwrap_err().message.contains(BRANCH));
}

#[test]
fn an_address_that_cannot_work_is_not_opened() {
    for (kind, token, message) in [
        (ServiceKind::Http, Some(TOKEN), "endpoint_url"),
        (ServiceKind::GitHub, None, "github_token_env"),
        (ServiceKind::GitLab, Some(" "), "github_token_env"),
    ] {
        let mut address = address(kind, None);
        address.token = token.map(|token| token.to_owned().into());
        let fault = open(address, Duration::from_secs(1)).err().unwrap();
        assert!(fault.message.contains(message), "{fault:?}");
    }
}
