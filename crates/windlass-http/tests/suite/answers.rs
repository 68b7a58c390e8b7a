//! What works: the generic door, the resource routes, probes and metrics.

use http::StatusCode;
use serde_json::json;
use windlass_testkit::program::{KIND, Op, input};

use super::support::{call, get, post, server, server_with};

#[tokio::test]
async fn a_change_is_planned_and_applied_over_http() {
    let server = server().await;
    let planned = server
        .ask(call("ledger.plan", json!({ "cell": "a", "value": 1 })).key(&server.root))
        .await;
    assert_eq!(planned.status, StatusCode::OK, "{}", planned.text());
    let token = planned.json()["confirm_token"].clone();
    let apply = json!({ "cell": "a", "value": 1, "confirm_token": token });
    let applied = server
        .ask(call("ledger.apply", apply.clone()).key(&server.root))
        .await;
    assert_eq!(applied.status, StatusCode::OK, "{}", applied.text());
    let run_id = applied.json()["run"]["run_id"].as_str().unwrap().to_owned();
    assert_eq!(applied.header("location"), format!("/v1/runs/{run_id}"));
    server.process.settle(&run_id.parse().unwrap()).await;

    let shown = server
        .ask(get(&format!("/v1/runs/{run_id}")).key(&server.root))
        .await
        .json();
    assert_eq!(shown["run"]["state"], "completed");
    assert_eq!(shown["run"]["surface"], "http");
    let listed = server
        .ask(get("/v1/runs?limit=1").key(&server.root))
        .await
        .json();
    assert_eq!(listed["runs"][0]["run_id"], run_id);
    let again = server
        .ask(call("ledger.apply", apply).key(&server.root))
        .await;
    assert_eq!(
        (again.status.as_u16(), again.code().as_str()),
        (409, "CONFIRM_TOKEN_USED")
    );
}

#[tokio::test]
async fn runs_are_steered() {
    let server = server().await;
    for (verb, state) in [
        ("approve", "completed"),
        ("reject", "failed"),
        ("cancel", "cancelled"),
    ] {
        let run_id = server
            .process
            .start(KIND, input(&[Op::set("a", 1), Op::approval("ok")]))
            .await;
        server.process.settle(&run_id).await;
        let waiting = server
            .ask(get("/v1/approvals").key(&server.root))
            .await
            .json();
        assert_eq!(waiting["approvals"][0]["run_id"], run_id.as_str());
        assert_eq!(waiting["approvals"].as_array().unwrap().len(), 1);
        let body = json!({ "reason": "a test" }).to_string();
        let steered = server
            .ask(post(&format!("/v1/runs/{run_id}/{verb}"), body).key(&server.root))
            .await;
        assert_eq!(steered.status, StatusCode::OK, "{verb}: {}", steered.text());
        server.process.settle(&run_id).await;
        let shown = server
            .ask(get(&format!("/v1/runs/{run_id}")).key(&server.root))
            .await
            .json();
        assert_eq!(shown["run"]["state"], state, "{verb}");
        let late = server
            .ask(post(&format!("/v1/runs/{run_id}/{verb}"), "").key(&server.root))
            .await;
        assert_eq!(
            (late.status.as_u16(), late.code().as_str()),
            (409, "ILLEGAL_STATE"),
            "{verb}"
        );
    }
    let waiting = server
        .ask(get("/v1/approvals").key(&server.root))
        .await
        .json();
    assert_eq!(waiting, json!({ "approvals": [] }));
    for query in [
        "colour=red",
        "states=running",
        "limit=0",
        "limit=501",
        "limit=many",
    ] {
        let ask = get(&format!("/v1/approvals?{query}")).key(&server.root);
        assert_eq!(server.ask(ask).await.code(), "INVALID_INPUT", "{query}");
    }
}

#[tokio::test]
async fn approvals_come_in_pages() {
    let server = server().await;
    let mut asking = Vec::new();
    for number in 0..6 {
        // Every other run waits for something else and is not an approval.
        let op = if number % 2 == 0 {
            Op::approval("ok")
        } else {
            Op::wait("news", None)
        };
        let run_id = server.process.start(KIND, input(&[op])).await;
        server.process.settle(&run_id).await;
        if number % 2 == 0 {
            asking.insert(0, run_id.to_string());
        }
    }
    let mut found = Vec::new();
    let mut cursor = String::new();
    loop {
        let ask = get(&format!("/v1/approvals?limit=2{cursor}")).key(&server.root);
        let page = server.ask(ask).await.json();
        let runs = page["approvals"].as_array().unwrap();
        assert!(runs.len() <= 2);
        found.extend(
            runs.iter()
                .map(|run| run["run_id"].as_str().unwrap().to_owned()),
        );
        match page["next_cursor"].as_u64() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(found, asking);
}

#[tokio::test]
async fn a_key_lives_and_dies() {
    let server = server().await;
    let body = json!({ "name": "ci", "scopes": ["probe"], "tier": "tiny" }).to_string();
    let made = server.ask(post("/v1/keys", body).key(&server.root)).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.text());
    let key = made.json()["api_key"].as_str().unwrap().to_owned();
    let key_id = made.json()["record"]["key_id"].as_str().unwrap().to_owned();
    // The admin domain has its own view of the keys; the guard's is at most a second old.
    server.world.clock.set(
        server
            .process
            .engine
            .now()
            .after(std::time::Duration::from_secs(2)),
    );
    let used = server
        .ask(call("probe.echo", json!({ "text": "a" })).key(&key))
        .await;
    assert_eq!(used.status, StatusCode::OK, "{}", used.text());
    assert_eq!(used.header("ratelimit-policy"), "\"requests\";q=3;w=60");
    let listed = server.ask(get("/v1/keys").key(&server.root)).await;
    assert!(!listed.text().contains(&key), "a list shows no secrets");
    let gone = server
        .ask(
            get(&format!("/v1/keys/{key_id}"))
                .method("DELETE")
                .key(&server.root),
        )
        .await;
    assert_eq!(gone.status, StatusCode::OK, "{}", gone.text());
    server.world.clock.set(
        server
            .process
            .engine
            .now()
            .after(std::time::Duration::from_secs(2)),
    );
    let refused = server
        .ask(call("probe.echo", json!({ "text": "a" })).key(&key))
        .await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn probes_tell_the_truth() {
    let mut server = server().await;
    let healthy = server.ask(get("/v1/health")).await.json();
    assert_eq!(healthy["status"], "ok");
    let ready = server.ask(get("/v1/ready")).await;
    insta::assert_snapshot!(ready.canonical(), @r#"{"checks":{"driver":"ok","server":"ok","store":"ok"},"ready":true}"#);
    let process = std::mem::replace(&mut server.process, server.world.process());
    process.stop().await;
    let idle = server.ask(get("/v1/ready")).await;
    assert_eq!(idle.status, StatusCode::SERVICE_UNAVAILABLE);
    insta::assert_snapshot!(idle.canonical(), @r#"{"checks":{"driver":"absent","server":"ok","store":"ok"},"ready":false,"reasons":[{"check":"driver","code":"BUSY","message":"no process drives the runs of this home","next_action":"restart windlass serve"}]}"#);
}

#[tokio::test]
async fn metrics_count_what_happened() {
    let server = server().await;
    server
        .ask(call("probe.echo", json!({ "text": "a" })).key(&server.probe))
        .await;
    server
        .ask(call("probe.echo", json!({ "text": "fail" })).key(&server.probe))
        .await;
    server.ask(get("/v1/runs")).await;
    for _ in 0..4 {
        server.ask(get("/nowhere").key(&server.tiny)).await;
    }
    let reply = server.ask(get("/v1/metrics").key(&server.root)).await;
    assert_eq!(
        reply.header("content-type"),
        "text/plain; version=0.0.4; charset=utf-8"
    );
    let text = reply.text();
    for line in [
        "windlass_requests_total{surface=\"http\",operation=\"probe.echo\",outcome=\"OK\"} 1",
        "windlass_requests_total{surface=\"http\",operation=\"probe.echo\",outcome=\"ILLEGAL_STATE\"} 1",
        "windlass_rate_limited_total{tier=\"tiny\"} 1",
        "windlass_http_requests_total{part=\"api\",status=\"2xx\"} 1",
        "windlass_http_requests_total{part=\"api\",status=\"4xx\"} 6",
        "windlass_http_unauthorized_total 1",
        "windlass_http_in_flight 1",
        "windlass_runs_unfinished 0",
        "windlass_driver_present 1",
        "windlass_webhooks_pending 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[tokio::test]
async fn request_ids_are_kept_or_made() {
    let server = server().await;
    let mut made = Vec::new();
    for (sent, kept) in [
        ("abc-1", true),
        ("x".repeat(128).as_str(), true),
        ("a b", false),
        ("<b>", false),
        ("", false),
    ] {
        let reply = server
            .ask(get("/v1/health").with("x-request-id", sent))
            .await;
        assert_eq!(reply.header("x-request-id") == sent, kept, "{sent:?}");
        if !kept {
            made.push(reply.header("x-request-id").to_owned());
        }
    }
    made.sort_unstable();
    made.dedup();
    assert_eq!(made.len(), 3, "every id is new: {made:?}");
    for id in made {
        let rest = id.strip_prefix("req_").unwrap();
        let base32 = |byte: u8| byte.is_ascii_lowercase() || (b'2'..=b'7').contains(&byte);
        assert!(rest.len() == 26 && rest.bytes().all(base32), "{id}");
    }
}

#[tokio::test]
async fn calls_are_audited_with_their_caller() {
    let server = server().await;
    server
        .ask(call("probe.echo", json!({ "text": "a" })).key(&server.probe))
        .await;
    server.ask(get("/v1/runs").key(&server.probe)).await;
    server.process.engine.audit().flush().await;
    let journal = server.process.store.journal(&"sys_audit".parse().unwrap());
    // Reads that end together are one event.
    let calls: Vec<_> = journal
        .iter()
        .flat_map(|event| event.payload.value()["calls"].as_array().unwrap().clone())
        .collect();
    let seen: Vec<_> = calls
        .iter()
        .map(|entry| {
            format!(
                "{} {} {}",
                entry["surface"], entry["operation"], entry["outcome"]
            )
        })
        .collect();
    insta::assert_snapshot!(seen.join("\n"), @r#"
    "http" "probe.echo" "OK"
    "http" "runs.list" "FORBIDDEN"
    "#);
    assert!(
        calls
            .iter()
            .all(|call| { call["principal"].as_str().unwrap().starts_with("key:key_") })
    );
}

#[tokio::test]
async fn an_mcp_service_is_behind_the_same_guard() {
    let server = server_with(|_| {}).await;
    let seen = tower::service_fn(|request: axum::extract::Request| async move {
        let principal = request
            .extensions()
            .get::<windlass_types::Principal>()
            .unwrap()
            .id();
        let id = request.headers()["x-request-id"]
            .to_str()
            .unwrap()
            .to_owned();
        let body = axum::body::to_bytes(request.into_body(), usize::MAX).await;
        let text = match body {
            Ok(body) => format!("{principal} {id} {}", body.len()),
            Err(error) => error.to_string(),
        };
        Ok::<_, std::convert::Infallible>(axum::response::Response::new(axum::body::Body::from(
            text,
        )))
    });
    let mounted = super::support::Server {
        router: windlass_http::router_with_mcp(server.state.clone(), seen),
        ..server
    };
    let answer = mounted
        .ask(
            post("/mcp", "{}")
                .with("x-request-id", "id-1")
                .key(&mounted.probe),
        )
        .await;
    answer.check_headers("mcp");
    assert!(answer.text().ends_with(" id-1 2"), "{}", answer.text());
    assert!(answer.text().starts_with("key:key_"));
    for (ask, status) in [
        (post("/mcp", "{}"), 401),
        (post("/mcp", "{}").key(&mounted.probe).host("evil"), 403),
        (
            post("/mcp", "{}")
                .key(&mounted.probe)
                .with("origin", "https://evil"),
            403,
        ),
        (
            post("/mcp", vec![b' '; 5000])
                .key(&mounted.probe)
                .with("content-length", "5000"),
            413,
        ),
        (get("/mcp").key(&mounted.probe), 200),
        (get("/mcp/x").key(&mounted.probe), 404),
    ] {
        let reply = mounted.ask(ask).await;
        assert_eq!(reply.status.as_u16(), status);
        reply.check_headers("mcp");
    }
    // A body that does not announce its size is cut off where the limit is.
    let cut = mounted
        .ask(post("/mcp", vec![b' '; 5000]).key(&mounted.probe))
        .await;
    assert_eq!(cut.text(), "the request body is larger than 4096 bytes");
}
