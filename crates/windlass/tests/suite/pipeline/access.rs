//! Keys that do not work and bodies that are too long, at every address of the API.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windlass_engine::access::{ApiKeys, NewKey};
use windlass_types::Scope;

use super::site::{NO_LIMITS, SPEC, Site, make_key};
use crate::suite::support::{
    binary::say,
    home::Place,
    http::{Ask, Reply},
    library::{Library, owner, runtime},
    mcp::initialize,
};

/// One request to every kind of address.
fn asks() -> Vec<Ask> {
    let hello = initialize("init", "2025-06-18").to_string();
    let mcp = |path: &str| {
        Ask::post(path, hello.clone()).with("accept", "application/json, text/event-stream")
    };
    let spec = json!({ "spec": SPEC }).to_string();
    vec![
        Ask::post("/v1/strategize", spec.clone()),
        Ask::post("/v1/pipelines", spec),
        Ask::get("/v1/pipelines/job_aaaaaaaaaaaaaaaaaaaaaaaaaa"),
        Ask::get("/artifacts/job_aaaaaaaaaaaaaaaaaaaaaaaaaa/code"),
        mcp("/v1/mcp"),
        mcp("/v1"),
    ]
}

fn bearer(ask: Ask, key: &str) -> Ask {
    ask.with("authorization", format!("Bearer {key}"))
}

/// What a refusal says, but for its id.
fn refusal(reply: &Reply) -> Value {
    let mut body = reply.json();
    assert_eq!(reply.status, 401, "{}", reply.text());
    let challenge = reply.header("www-authenticate").unwrap();
    assert!(challenge.starts_with("Bearer"), "{challenge}");
    for name in [
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ] {
        assert!(reply.header(name).is_some(), "{name}");
    }
    let id = body["error"].as_object_mut().unwrap().remove("request_id");
    assert_eq!(id.unwrap(), reply.header("x-request-id").unwrap());
    body
}

/// A key whose time is over before the server starts.
fn expired_key(place: &Place) -> String {
    let runtime = runtime();
    let made = runtime.block_on(async {
        let library = Library::open(&place.home(), None).unwrap();
        let new = NewKey {
            name: "old".to_owned(),
            tier: "pro".to_owned(),
            scopes: vec![Scope::new("pipeline")],
            lifetime: Some(Duration::ZERO),
        };
        ApiKeys::new(&library.engine).create(&owner(), new).await
    });
    made.unwrap().api_key
}

#[test]
fn a_key_that_does_not_work_is_refused_in_the_same_words_everywhere() {
    let mut expired = String::new();
    let settings = format!("{NO_LIMITS}[limits.tiers.unauthorized]\nper_minute = 100000\n");
    let site = Site::open_after(&settings, |place| expired = expired_key(place));
    let revoked = make_key(&site.place, &[]);
    let works = |key: &str| {
        let ask = bearer(Ask::get("/v1/pipelines/job_none"), key);
        ask.send(site.daemon.address).unwrap().status != 401
    };
    assert!(works(&revoked.text));
    say(&site.place.home(), &["keys", "revoke", &revoked.id]).worked();
    let started = Instant::now();
    while works(&revoked.text) {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "it still works"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut altered = site.key.text.clone();
    let last = altered.pop().unwrap();
    altered.push(if last == 'A' { 'B' } else { 'A' });

    let mut words = Vec::new();
    for ask in asks() {
        for key in [&expired, &revoked.text, &altered, "wlk_x_y", "nonsense"] {
            let reply = bearer(ask.clone(), key).send(site.daemon.address).unwrap();
            words.push(refusal(&reply));
            assert!(!reply.text().contains(key), "the key comes back");
        }
        words.push(refusal(&ask.send(site.daemon.address).unwrap()));
        let mut in_query = ask;
        in_query
            .path
            .push_str(&format!("?api_key={}", site.key.text));
        words.push(refusal(&in_query.send(site.daemon.address).unwrap()));
    }
    words.dedup();
    assert_eq!(words.len(), 1, "{words:#?}");
    assert_eq!(words[0]["error"]["code"], "UNAUTHORIZED");
    assert!(works(&site.key.text));
}

#[test]
fn a_body_that_is_too_long_is_refused_everywhere() {
    let site = Site::open(NO_LIMITS);
    let long = 8 * 1024 * 1024 + 1;
    for path in ["/v1/strategize", "/v1/pipelines", "/v1/mcp", "/v1"] {
        let body = format!("{{\"spec\":\"{}\"}}", "a".repeat(long));
        let ask = Ask::post(path, body).with("accept", "application/json, text/event-stream");
        let reply = site.ask(ask);
        assert_eq!(reply.status, 413, "{path}: {}", reply.text());
        let error = &reply.json()["error"];
        assert_eq!(error["code"], "INVALID_INPUT", "{path}: {error}");
        assert_eq!(error["details"]["field"], "body", "{path}: {error}");
        assert_eq!(error["details"]["constraint"], "maxLength");
        assert_eq!(error["details"]["limit_bytes"], 8 * 1024 * 1024);
        assert_eq!(error["request_id"], reply.header("x-request-id").unwrap());
        assert!(reply.header("x-ratelimit-limit").is_some());
        assert!(reply.header("retry-after").is_none());
    }
}
