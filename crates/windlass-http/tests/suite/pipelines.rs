//! The routes of contract 001: what they answer, with which status, headers and body.

use std::time::Duration;

use futures::StreamExt as _;
use http::StatusCode;
use serde_json::{Value, json};
use windlass_http::Deprecation;
use windlass_pipeline::ArtifactAddress;
use windlass_pipeline_design::model::Phase;
use windlass_types::Digest;

use super::{
    pipelines_support::{DAY, Jobs, SIGNING_KEY, SPEC, shop},
    support::{Ask, Reply, get, post, tier},
};

fn keys(reply: &Reply) -> String {
    let value = reply.json();
    let names: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    names.join(" ")
}

#[tokio::test]
async fn each_tool_has_its_route() {
    let shop = shop(Jobs::GoOn, |_| {}).await;
    let input = || json!({ "spec": SPEC }).to_string();
    let mut shown = Vec::new();
    for path in ["/v1/strategize", "/v1/architecture", "/v1/ux", "/v1/code"] {
        let reply = shop.ask(post(path, input()).key(&shop.key)).await;
        reply.check_headers(path);
        shown.push(format!(
            "POST {path} {} {}",
            reply.status.as_u16(),
            keys(&reply)
        ));
    }
    let begun = shop
        .ask(post("/v1/pipelines", input()).key(&shop.key))
        .await;
    begun.check_headers("begun");
    let job = begun.json()["job_id"].as_str().unwrap().to_owned();
    assert_eq!(begun.header("location"), format!("/v1/pipelines/{job}"));
    shown.push(format!(
        "POST /v1/pipelines {} {}",
        begun.status.as_u16(),
        keys(&begun)
    ));
    shop.ended(&job).await;
    let status = shop.show(&format!("/v1/pipelines/{job}")).await;
    assert_eq!(status.json()["status"], "completed");
    shown.push(format!(
        "GET /v1/pipelines/JOB {} {}",
        status.status.as_u16(),
        keys(&status)
    ));
    for kind in ["strategy", "code", "all"] {
        let below = shop
            .show(&format!("/v1/pipelines/{job}/artifacts/{kind}"))
            .await;
        let beside = shop.show(&format!("/artifacts/{job}/{kind}")).await;
        assert_eq!(below.body, beside.body);
        shown.push(format!(
            "GET …/{kind} {} {}",
            below.status.as_u16(),
            keys(&below)
        ));
    }
    insta::assert_snapshot!(shown.join("\n"), @"
    POST /v1/strategize 200 assumptions coverage edge_cases estimated_complexity generator open_questions quality_report requirements strategy_summary terminology
    POST /v1/architecture 200 architecture architecture_markdown coverage generator quality_report
    POST /v1/ux 200 coverage generator quality_report ux_markdown ux_spec
    POST /v1/code 200 checks coverage dependencies files generator quality_report setup_instructions
    POST /v1/pipelines 202 estimated_duration_seconds generator job_id phases_queued status
    GET /v1/pipelines/JOB 200 created_at error expires_at finished_at generator job_id phases progress_percent run_id status
    GET …/strategy 200 assumptions coverage edge_cases estimated_complexity generator open_questions quality_report requirements strategy_summary terminology
    GET …/code 200 checks coverage dependencies files generator quality_report setup_instructions
    GET …/all 200 architecture code strategy ux
    ");
}

#[tokio::test]
async fn an_artifact_has_a_tag_and_is_sent_once() {
    let shop = shop(Jobs::GoOn, |_| {}).await;
    let job = shop.done(&["strategy"]).await;
    let path = format!("/v1/pipelines/{job}/artifacts/strategy");
    let whole = shop.show(&path).await;
    let tag = whole.header("etag").to_owned();
    assert_eq!(tag, format!("\"{}\"", Digest::of(&whole.body)));
    assert_eq!(whole.header("cache-control"), "private, no-cache");
    for (sent, status) in [(tag.as_str(), 304), ("*", 304), ("\"other\"", 200)] {
        let ask = get(&path).key(&shop.key).with("if-none-match", sent);
        let reply = shop.ask(ask).await;
        reply.check_headers(sent);
        assert_eq!(reply.status.as_u16(), status, "{sent}");
        assert_eq!(reply.header("etag"), tag, "{sent}");
        assert_eq!(reply.body.is_empty(), status == 304, "{sent}");
    }
}

#[tokio::test]
async fn a_signed_address_needs_no_key_and_leads_to_one_artifact() {
    let shop = shop(Jobs::GoOn, |_| {}).await;
    let job = shop.done(&["strategy", "architecture"]).await;
    let run_id = job.parse().unwrap();
    let now = shop.server.process.engine.now();
    let signed = |phase: &str, key: &[u8]| {
        let address = ArtifactAddress {
            job_id: &run_id,
            phase: Phase::by_name(phase).unwrap(),
        };
        address.signed("", key, now.after(DAY))
    };
    let good = signed("strategy", SIGNING_KEY);
    let plain = shop.ask(get(&good)).await;
    plain.check_headers("signed");
    let keyed = shop.show(&format!("/artifacts/{job}/strategy")).await;
    assert_eq!((plain.status, &plain.body), (StatusCode::OK, &keyed.body));
    let again = get(&good).with("if-none-match", plain.header("etag"));
    assert_eq!(shop.ask(again).await.status, StatusCode::NOT_MODIFIED);

    let query = good.split_once('?').unwrap().1;
    let later = good.replace("exp=", "exp=9");
    let twice = format!("{good}&sig=0");
    let cases: Vec<(&str, Ask)> = vec![
        (
            "without a signature",
            get(&format!("/artifacts/{job}/strategy")),
        ),
        ("another key", get(&signed("strategy", b"other"))),
        ("another time", get(&later)),
        (
            "another phase",
            get(&format!("/artifacts/{job}/architecture?{query}")),
        ),
        ("everything", get(&format!("/artifacts/{job}/all?{query}"))),
        (
            "another job",
            get(&format!("/artifacts/job_other/strategy?{query}")),
        ),
        (
            "another route",
            get(&format!("/v1/pipelines/{job}/artifacts/strategy?{query}")),
        ),
        ("another method", post(&good, "{}")),
        ("two signatures", get(&twice)),
        ("beside a bad key", get(&good).key("wlk_1_2")),
    ];
    for (what, ask) in cases {
        let reply = shop.ask(ask).await;
        reply.check_headers(what);
        assert_eq!(
            (reply.status.as_u16(), reply.code().as_str()),
            (401, "UNAUTHORIZED"),
            "{what}"
        );
    }
    shop.server.world.clock.advance(DAY).await;
    assert_eq!(shop.ask(get(&good)).await.status, StatusCode::UNAUTHORIZED);
}

/// The body of a failure without its request id, which is in the header too.
fn failure(reply: &Reply) -> String {
    let mut body = reply.json();
    assert!(body["error"].is_object(), "{body}");
    let id = body["error"].as_object_mut().unwrap().remove("request_id");
    assert_eq!(id.unwrap(), reply.header("x-request-id"));
    assert_eq!(
        body.as_object().unwrap().len(),
        1,
        "nothing beside the error"
    );
    let error = &body["error"];
    format!(
        "{} {} {} {}",
        reply.status.as_u16(),
        error["code"].as_str().unwrap(),
        error["details"],
        error["message"].as_str().unwrap()
    )
}

#[tokio::test]
async fn failures_have_the_contract_s_shape_and_status() {
    let shop = shop(Jobs::Stay, |_| {}).await;
    shop.server.world.outbound.forbid("https://10.");
    let begun = shop
        .begin(&shop.key, json!({ "spec": SPEC, "phases": ["ux"] }))
        .await;
    let job = begun.json()["job_id"].as_str().unwrap().to_owned();
    let body = |value: Value| value.to_string();
    let cases: Vec<(&str, Ask)> = vec![
        ("no spec", post("/v1/strategize", "{}").key(&shop.key)),
        ("not JSON", post("/v1/ux", "{").key(&shop.key)),
        ("a list", post("/v1/code", "[]").key(&shop.key)),
        (
            "no phases",
            post("/v1/pipelines", body(json!({ "spec": SPEC, "phases": [] }))).key(&shop.key),
        ),
        (
            "too long a spec",
            post(
                "/v1/strategize",
                body(json!({ "spec": "a".repeat(256 * 1024 + 1) })),
            )
            .key(&shop.key),
        ),
        (
            "too long a body",
            post("/v1/strategize", "a".repeat(8 * 1024 * 1024 + 1)).key(&shop.key),
        ),
        (
            "another media type",
            post("/v1/strategize", "{}")
                .key(&shop.key)
                .without("content-type")
                .with("content-type", "text/plain"),
        ),
        (
            "a private webhook",
            post(
                "/v1/pipelines",
                body(json!({ "spec": SPEC, "webhook_url": "https://10.0.0.1/hook" })),
            )
            .key(&shop.key),
        ),
        (
            "unknown job",
            get("/v1/pipelines/job_aaaaaaaaaaaaaaaaaaaaaaaaaa").key(&shop.key),
        ),
        ("not a job", get("/v1/pipelines/run_1").key(&shop.key)),
        (
            "not ready",
            get(&format!("/artifacts/{job}/ux")).key(&shop.key),
        ),
        (
            "not requested",
            get(&format!("/artifacts/{job}/code")).key(&shop.key),
        ),
        (
            "no such artifact",
            get(&format!("/artifacts/{job}/logo")).key(&shop.key),
        ),
        ("wrong method", get("/v1/strategize").key(&shop.key)),
        ("no key", post("/v1/strategize", "{}")),
        ("a wrong key", post("/v1/pipelines", "{}").key("wlk_1_2")),
        (
            "a key in the address",
            get(&format!("/v1/pipelines/{job}?api_key={}", shop.key)),
        ),
        ("no key for MCP", post("/v1", "{}")),
        ("no key for MCP, versioned", post("/v1/mcp", "{}")),
        (
            "another scope",
            post("/v1/strategize", "{}").key(&shop.server.runs),
        ),
    ];
    let mut shown = Vec::new();
    for (what, ask) in cases {
        let reply = shop.ask(ask).await;
        reply.check_headers(what);
        assert!(
            !reply.text().contains(&shop.key),
            "{what}: the key comes back"
        );
        shown.push(format!("{what}: {}", failure(&reply)));
    }
    let shown = shown.join("\n").replace(&job, "JOB");
    insta::assert_snapshot!(shown, @r#"
    no spec: 400 INVALID_INPUT {"constraint":"required","field":"spec"} The 'spec' field is required and must be a non-empty string
    not JSON: 400 INVALID_INPUT {"column":1,"constraint":"json","field":"body","line":1} the body is not JSON: EOF while parsing an object at line 1 column 1
    a list: 400 INVALID_INPUT {"constraint":"type","field":""} the input must be an object, not an array
    no phases: 400 INVALID_INPUT {"constraint":"minItems","field":"phases"} The 'phases' field must name at least one phase
    too long a spec: 413 INVALID_INPUT {"actual":262145,"constraint":"maxLength","field":"spec","limit":262144} The 'spec' field must not be longer than 262144 bytes
    too long a body: 413 INVALID_INPUT {"constraint":"maxLength","field":"body","limit_bytes":8388608} the request body is larger than 8388608 bytes
    another media type: 415 INVALID_INPUT {"constraint":"media_type","field":"Content-Type"} the body is "text/plain"; send `application/json`
    a private webhook: 400 INVALID_INPUT {"constraint":"forbidden_address","field":"webhook_url"} The 'webhook_url' field cannot be used: target refused: https://10. is not allowed
    unknown job: 404 JOB_NOT_FOUND {} no job "job_aaaaaaaaaaaaaaaaaaaaaaaaaa"
    not a job: 404 JOB_NOT_FOUND {} no job "run_1"
    not ready: 409 ARTIFACT_NOT_READY {"phase":"ux","phase_status":"queued","progress_percent":0,"retry_after_seconds":1} the ux artifact is not ready: that phase is queued
    not requested: 400 INVALID_INPUT {"constraint":"phase_not_requested","field":"artifact_type"} The job was not asked for its code phase
    no such artifact: 400 INVALID_INPUT {"allowed":["strategy","architecture","ux","code","all"],"constraint":"enum","field":"artifact_type"} The 'artifact_type' field must be one of strategy, architecture, ux, code, all
    wrong method: 405 INVALID_INPUT {"constraint":"allowed","field":"method"} GET cannot be done at /v1/strategize
    no key: 401 UNAUTHORIZED {} invalid or expired API key
    a wrong key: 401 UNAUTHORIZED {} invalid or expired API key
    a key in the address: 401 UNAUTHORIZED {} invalid or expired API key
    no key for MCP: 401 UNAUTHORIZED {} invalid or expired API key
    no key for MCP, versioned: 401 UNAUTHORIZED {} invalid or expired API key
    another scope: 403 UNAUTHORIZED {"required_scopes":["pipeline"]} pipeline.strategize needs the scope "pipeline", which key:key_70c5b7ae5cf2631375a2614a424168ef does not have
    "#);
}

#[tokio::test]
async fn a_foreign_job_looks_like_no_job() {
    let shop = shop(Jobs::GoOn, |_| {}).await;
    let job = shop.done(&["strategy"]).await;
    for below in ["", "/artifacts/strategy", "/events"] {
        let mut answers = Vec::new();
        for id in [job.as_str(), "job_aaaaaaaaaaaaaaaaaaaaaaaaaa"] {
            let ask = get(&format!("/v1/pipelines/{id}{below}")).key(&shop.other);
            let reply = shop.ask(ask.with("x-request-id", "mine")).await;
            assert_eq!(reply.code(), "JOB_NOT_FOUND", "{below}");
            answers.push((reply.status, reply.text().replace(id, "JOB")));
        }
        assert_eq!(answers[0], answers[1], "{below}");
    }
    shop.server.world.clock.advance(7 * DAY).await;
    let gone = shop.show(&format!("/v1/pipelines/{job}")).await;
    assert_eq!(gone.code(), "JOB_NOT_FOUND", "kept for seven days");
}

#[tokio::test]
async fn a_repeated_call_finds_its_job() {
    let shop = shop(Jobs::Stay, |_| {}).await;
    let ask = |spec: &str, key: Option<&str>, field: Option<&str>| {
        let mut input = json!({ "spec": spec });
        if let Some(field) = field {
            input["idempotency_key"] = json!(field);
        }
        let ask = post("/v1/pipelines", input.to_string()).key(&shop.key);
        match key {
            Some(key) => ask.with("idempotency-key", key),
            None => ask,
        }
    };
    let job = async |ask: Ask| {
        let reply = shop.ask(ask).await;
        assert_eq!(reply.status, StatusCode::ACCEPTED, "{}", reply.text());
        reply.json()["job_id"].clone()
    };
    let first = job(ask(SPEC, Some("a"), None)).await;
    assert_eq!(job(ask(SPEC, Some("a"), None)).await, first);
    assert_eq!(job(ask(SPEC, Some("\"a\""), None)).await, first);
    assert_eq!(job(ask(SPEC, None, Some("a"))).await, first);
    assert_ne!(job(ask(SPEC, Some("b"), None)).await, first);
    for refused in [
        ask("Another product entirely.", Some("a"), None),
        ask(SPEC, Some("a"), Some("b")),
    ] {
        let reply = shop.ask(refused).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST);
        assert_eq!(reply.json()["error"]["details"]["field"], "idempotency_key");
    }
}

#[tokio::test]
async fn a_job_s_events_are_a_stream_that_ends_with_it() {
    let shop = shop(Jobs::GoOn, |_| {}).await;
    let job = shop.done(&["strategy"]).await;
    let path = format!("/v1/pipelines/{job}/events");
    let read = async |from: Option<u64>| {
        let ask = get(&path).key(&shop.key);
        let ask = match from {
            Some(last) => ask.with("last-event-id", last.to_string()),
            None => ask,
        };
        let (status, headers, stream) = shop.server.open(ask).await;
        let chunks: Vec<_> = stream.map(|chunk| chunk.unwrap()).collect().await;
        let text = String::from_utf8(chunks.concat()).unwrap();
        (status, headers, text)
    };
    let (status, headers, text) = read(None).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(headers["content-type"], "text/event-stream");
    for name in ["x-ratelimit-limit", "ratelimit", "x-request-id"] {
        assert!(headers.contains_key(name), "{name}");
    }
    assert!(text.starts_with("id: 1\nevent: run.created\n"), "{text}");
    assert!(text.contains("PHASE_COMPLETED"), "{text}");
    assert!(
        text.trim_end().ends_with('}') && text.contains("event: end\n"),
        "{text}"
    );
    let last = text
        .lines()
        .filter_map(|line| line.strip_prefix("id: "))
        .next_back();
    let last: u64 = last.unwrap().parse().unwrap();
    let (_, _, rest) = read(Some(last - 1)).await;
    assert!(rest.starts_with(&format!("id: {last}\n")), "{rest}");
    assert_eq!(read(Some(last)).await.0, StatusCode::NO_CONTENT);
    let ask = get(&path).key(&shop.key).with("last-event-id", "x");
    assert_eq!(shop.ask(ask).await.code(), "INVALID_INPUT");
}

#[tokio::test]
async fn an_outdated_version_says_so() {
    let shop = shop(Jobs::Stay, |state| {
        let since = "2027-01-01T00:00:00Z".parse().unwrap();
        let sunset = "2027-07-01T00:00:00Z".parse().unwrap();
        let link = Some("https://w.example/versions".to_owned());
        state.deprecations = [(
            "v1".to_owned(),
            Deprecation {
                since,
                sunset,
                link,
            },
        )]
        .into();
    })
    .await;
    for ask in [
        get("/v1/health"),
        post("/v1", "{}"),
        post("/v1/strategize", "{}").key(&shop.key),
    ] {
        let reply = shop.ask(ask).await;
        assert_eq!(reply.header("deprecation"), "@1798761600");
        assert_eq!(reply.header("sunset"), "Thu, 01 Jul 2027 00:00:00 GMT");
        assert_eq!(
            reply.header("link"),
            "<https://w.example/versions>; rel=\"deprecation\""
        );
    }
    let other = shop.ask(get("/health")).await;
    assert_eq!(
        (other.header("deprecation"), other.header("sunset")),
        ("", "")
    );
}

/// Pages of other origins get nothing to read unless they are let in.
#[tokio::test]
async fn cors_is_off_unless_it_is_set() {
    let shop = shop(Jobs::Stay, |_| {}).await;
    let ask = post("/v1/strategize", "{}")
        .key(&shop.key)
        .with("origin", "http://localhost:3000");
    let reply = shop.ask(ask).await;
    assert!(!reply.headers.contains_key("access-control-allow-origin"));
}

/// A phase may take longer than an ordinary request.
#[tokio::test]
async fn a_tool_that_takes_its_time_is_waited_for() {
    let shop = shop(Jobs::Stay, |state| {
        state.request_timeout = Duration::from_millis(20);
        state.tiers.insert("pro".to_owned(), tier(1000, 100));
    })
    .await;
    let ask = post("/v1/strategize", json!({ "spec": SPEC }).to_string()).key(&shop.key);
    let waited = tokio::time::timeout(Duration::from_millis(200), shop.ask(ask)).await;
    assert!(waited.is_err(), "nobody drives, so there is no answer yet");
    let by_name = post(
        "/v1/operations/pipeline.strategize",
        json!({ "spec": SPEC }).to_string(),
    );
    let waited =
        tokio::time::timeout(Duration::from_millis(200), shop.ask(by_name.key(&shop.key))).await;
    assert!(waited.is_err());
}
