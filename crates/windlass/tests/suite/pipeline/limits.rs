//! How much a key may ask for: exact headers on every answer, and what is said when it is too much.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::site::{SPEC, SilentModel, Site, make_key};
use crate::suite::support::{
    http::{Ask, Reply},
    mcp::initialize,
};

#[expect(
    clippy::disallowed_methods,
    reason = "what the server's clock says is compared with the machine's"
)]
fn epoch_seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_secs()
}

fn number(reply: &Reply, name: &str) -> u64 {
    let value = reply
        .header(name)
        .unwrap_or_else(|| panic!("no {name}: {reply:?}"));
    value.parse().unwrap_or_else(|_| panic!("{name}: {value}"))
}

/// What the headers say, once they have been checked against each other and the clock.
#[track_caller]
fn standing(reply: &Reply, before: u64) -> (u64, u64, u64) {
    let after = epoch_seconds();
    let limit = number(reply, "x-ratelimit-limit");
    let remaining = number(reply, "x-ratelimit-remaining");
    let reset = number(reply, "x-ratelimit-reset");
    assert_eq!(
        reply.header("ratelimit-policy").unwrap(),
        format!("\"requests\";q={limit};w=60")
    );
    let state = reply.header("ratelimit").unwrap();
    let delta = state
        .strip_prefix(&format!("\"requests\";r={remaining};t="))
        .unwrap();
    let delta: u64 = delta.parse().unwrap();
    // Both name the same instant, one from the epoch on and one from now on, rounded up.
    assert!(
        (before..=after + 1).contains(&(reset - delta)),
        "{reset} − {delta}"
    );
    match reply.header("retry-after") {
        Some(retry) => {
            assert_eq!(reply.status, 429);
            assert!(retry.parse::<u64>().unwrap() >= 1);
        }
        None => assert_ne!(reply.status, 429),
    }
    (limit, remaining, reset)
}

#[test]
fn requests_are_counted_and_then_refused() {
    let site = Site::open("");
    let free = make_key(&site.place, &["--tier", "free"]).text;
    let hello = initialize("init", "2025-06-18").to_string();
    let mcp = |path: &str| {
        Ask::post(path, hello.clone()).with("accept", "application/json, text/event-stream")
    };
    let asks = [
        Ask::post("/v1/strategize", "{}"),
        Ask::post("/v1/strategize", json!({ "spec": SPEC }).to_string()),
        Ask::post("/v1/code", "not json"),
        Ask::get("/v1/pipelines/job_none"),
        Ask::get("/v1/pipelines/job_none/artifacts/code"),
        Ask::get("/artifacts/job_none/code"),
        Ask::get("/nowhere"),
        mcp("/v1/mcp"),
        mcp("/v1"),
        Ask::get("/v1/strategize"),
    ];
    let send = |ask: &Ask| {
        let before = epoch_seconds();
        let ask = ask.clone().with("authorization", format!("Bearer {free}"));
        let reply = ask.send(site.daemon.address).unwrap();
        let standing = standing(&reply, before);
        (reply, standing)
    };
    let began = epoch_seconds();
    let mut reset = 0;
    for (count, ask) in asks.iter().enumerate() {
        let (reply, (limit, remaining, until)) = send(ask);
        assert_ne!(reply.status, 429, "{}", ask.path);
        assert_eq!((limit, remaining), (10, 9 - count as u64), "{}", ask.path);
        if count == 0 {
            reset = until;
            // The window is of sixty seconds from the first request on.
            assert!((began + 60..=epoch_seconds() + 61).contains(&reset));
        }
        assert_eq!(until, reset, "the oldest request leaves first");
    }
    for ask in &asks {
        let before = epoch_seconds();
        let (reply, (limit, remaining, until)) = send(ask);
        assert_eq!(reply.status, 429, "{}", ask.path);
        assert_eq!((limit, remaining, until), (10, 0, reset));
        let retry = number(&reply, "retry-after");
        assert!((reset - epoch_seconds()..=reset - before + 1).contains(&retry));
        let body = reply.json();
        let is_mcp = !ask.body.is_empty() && ask.path.ends_with(['p', '1']);
        let error = if is_mcp && ask.path != "/v1/strategize" {
            assert_eq!(body["id"], "init", "an answer to the request: {body}");
            &body["error"]["data"]
        } else {
            &body["error"]
        };
        assert_eq!(error["code"], "RATE_LIMITED", "{body}");
        assert_eq!(error["details"]["limit"], "requests");
        assert_eq!(error["details"]["retry_after_seconds"], retry);
    }
    // Another key has limits of its own.
    let other = site.ask(Ask::get("/v1/pipelines/job_none"));
    assert_eq!(other.status, 404);
    assert_eq!(number(&other, "x-ratelimit-limit"), 60);
    assert_eq!(number(&other, "x-ratelimit-remaining"), 59);
}

#[test]
fn jobs_at_once_are_limited() {
    let model = SilentModel::start();
    let site = Site::open(&model.settings(""));
    let free = make_key(&site.place, &["--tier", "free"]).text;
    let begin = || {
        let before = epoch_seconds();
        let ask = Ask::post("/v1/pipelines", json!({ "spec": SPEC }).to_string())
            .with("authorization", format!("Bearer {free}"));
        let reply = ask.send(site.daemon.address).unwrap();
        standing(&reply, before);
        reply
    };
    let first = begin();
    assert_eq!(first.status, 202, "{}", first.text());
    let location = first.header("location").unwrap().to_owned();
    let job: Value = first.json()["job_id"].clone();
    assert_eq!(location, format!("/v1/pipelines/{}", job.as_str().unwrap()));
    let second = begin();
    assert_eq!(second.status, 429, "{}", second.text());
    let error = &second.json()["error"];
    assert_eq!(error["code"], "RATE_LIMITED");
    assert_eq!(error["details"]["limit"], "concurrent_jobs");
    assert_eq!(
        error["details"]["retry_after_seconds"],
        number(&second, "retry-after")
    );
}
