//! COMMIT_SERVICE_ERROR: a commit service on loopback that refuses, fails and recovers.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
};

use serde_json::{Value, json};

use super::{client::Client, place::LaunchPlace};
use crate::suite::support::loopback::{Answer, Loopback, Request, json_answer};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const SETTINGS: &str = "[launch]\nallow_private_targets = true\nallow_http = true\n\
    [launch.tokens]\nSITE_TOKEN = [\"127.0.0.1\"]\n";

/// A commit service; each call answers with the status it was set to.
struct Service {
    server: Loopback,
    commit: Arc<AtomicU16>,
    open_pr: Arc<AtomicU16>,
}

impl Service {
    fn start(code: &'static str) -> Self {
        let (commit, open_pr) = (Arc::new(AtomicU16::new(200)), Arc::new(AtomicU16::new(200)));
        let statuses = (Arc::clone(&commit), Arc::clone(&open_pr));
        let server = Loopback::start(move |request| answer(request, &statuses, code));
        Self {
            server,
            commit,
            open_pr,
        }
    }

    fn config(&self, place: &LaunchPlace) -> Value {
        place.config_with(json!({ "commit_service": {
            "endpoint_url": format!("http://{}", self.server.address),
            "github_token_env": "SITE_TOKEN",
        } }))
    }

    /// The requests to one of the two calls.
    fn asked(&self, path: &str) -> Vec<Request> {
        let mut all = self.server.received();
        all.retain(|request| request.path == path);
        all
    }
}

fn answer(request: &Request, statuses: &(Arc<AtomicU16>, Arc<AtomicU16>), code: &str) -> Answer {
    let is_commit = request.path == "/v1/commit";
    let set = if is_commit { &statuses.0 } else { &statuses.1 };
    let status = set.load(Ordering::SeqCst);
    if status != 200 {
        let body = json!({
            "schema_version": "1.0", "code": code, "message": "not today", "details": null,
        });
        let (status, mut headers, body) = json_answer(status, &body);
        // Tried again at once.
        headers.push(("retry-after", "0".to_owned()));
        return (status, headers, body);
    }
    let body = if is_commit {
        json!({ "commit_sha": COMMIT, "created_at": "2026-01-02T00:00:00Z" })
    } else {
        json!({ "pr_url": "https://git.example/site/pull/7", "pr_number": 7 })
    };
    json_answer(200, &body)
}

fn ready(place: &LaunchPlace, service: &Service) -> (Client, String) {
    place.settings(SETTINGS);
    let mut command = place.command();
    command.env("SITE_TOKEN", "word");
    let mut client = Client::of(command, &place.home());
    let run_id = client.started(&service.config(place), "READY_FOR_PR");
    (client, run_id)
}

#[test]
fn a_service_that_fails_leaves_the_run_ready_and_the_key_the_same() {
    // Status, whether the same call may help, how often it is tried.
    for (status, retryable, tries) in [
        (500, true, 4),
        (429, true, 4),
        (401, false, 1),
        (409, false, 1),
    ] {
        let place = LaunchPlace::clean();
        let service = Service::start("REFUSED");
        let (mut client, run_id) = ready(&place, &service);
        service.commit.store(status, Ordering::SeqCst);
        let tool_reply = client.about("launch_open_pr", &run_id);
        let details = tool_reply.refused("COMMIT_SERVICE_ERROR");
        assert_eq!(details["adapter"], "http");
        assert_eq!(details["stage"], "commit");
        assert_eq!(details["http_status"], status);
        assert_eq!(details["service_code"], "REFUSED");
        assert_eq!(
            tool_reply.is_retryable(),
            retryable,
            "{status}: {:#}",
            tool_reply.0
        );
        assert_eq!(service.asked("/v1/commit").len(), tries, "{status}");
        let state = client.settled(&run_id);
        assert_eq!(state["state"], "READY_FOR_PR", "{status}: {state:#}");

        service.commit.store(200, Ordering::SeqCst);
        let tool_reply = client.about("launch_open_pr", &run_id);
        assert_eq!(tool_reply.worked()["commit_sha"], COMMIT);
        assert_eq!(
            tool_reply.worked()["pr_url"],
            "https://git.example/site/pull/7"
        );
        let keys: Vec<Value> = service
            .asked("/v1/commit")
            .iter()
            .map(|request| request.json()["idempotency_key"].clone())
            .collect();
        assert_eq!(keys.len(), tries + 1);
        assert!(keys.windows(2).all(|pair| pair[0] == pair[1]), "{keys:?}");
        assert_eq!(client.status(&run_id)["state"], "DONE");
    }
}

#[test]
fn a_pull_request_that_fails_reuses_its_commit() {
    let place = LaunchPlace::clean();
    let service = Service::start("BROKEN");
    let (mut client, run_id) = ready(&place, &service);
    service.open_pr.store(503, Ordering::SeqCst);
    let tool_reply = client.about("launch_open_pr", &run_id);
    assert_eq!(
        tool_reply.refused("COMMIT_SERVICE_ERROR")["stage"],
        "open_pr"
    );
    assert!(tool_reply.is_retryable());
    assert_eq!(client.settled(&run_id)["state"], "READY_FOR_PR");
    service.open_pr.store(200, Ordering::SeqCst);
    let tool_reply = client.about("launch_open_pr", &run_id);
    assert_eq!(tool_reply.worked()["commit_sha"], COMMIT);
    assert_eq!(
        service.asked("/v1/commit").len(),
        1,
        "the commit was made once"
    );
    let opens = service.asked("/v1/open_pr");
    assert_eq!(opens.len(), 5);
    let keys: Vec<Value> = opens
        .iter()
        .map(|r| r.json()["idempotency_key"].clone())
        .collect();
    assert!(keys.windows(2).all(|pair| pair[0] == pair[1]), "{keys:?}");
}

#[test]
fn requests_are_as_the_service_wants_them() {
    let place = LaunchPlace::clean();
    let service = Service::start("");
    let (mut client, run_id) = ready(&place, &service);
    client.about("launch_open_pr", &run_id).worked();
    let uuid =
        regex::Regex::new("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$");
    let uuid = uuid.unwrap();
    let requests = service.server.received();
    assert_eq!(requests.len(), 2);
    let mut keys = Vec::new();
    for request in &requests {
        assert_eq!(request.header("authorization"), "Bearer word");
        let body = request.json();
        let key = body["idempotency_key"].as_str().unwrap().to_owned();
        assert_eq!(request.header("idempotency-key"), key);
        assert!(uuid.is_match(&key), "{key}");
        keys.push(key);
        assert_eq!(body["schema_version"], "1.0");
        assert_eq!(body["run_id"], run_id);
        assert_eq!(body["branch_name"], format!("launch/{run_id}/quill"));
    }
    assert_ne!(keys[0], keys[1], "one key for each call");
    let commit = requests[0].json();
    assert_eq!(requests[0].path, "/v1/commit");
    assert_eq!(commit["base_ref"], place.config()["site_ref"]);
    assert_eq!(commit["allowed_paths"], place.config()["allowed_paths"]);
    assert_eq!(commit["require_clean_base"], true);
    let bundle = client.artifact_json(&run_id, "patch_bundle.json");
    assert_eq!(commit["patch_bundle"], bundle);
    let open: BTreeMap<String, Value> = serde_json::from_value(requests[1].json()).unwrap();
    for member in ["pr_title", "pr_body", "draft", "base_ref"] {
        assert!(open.contains_key(member), "{member}");
    }
    let record = client.artifact_json(&run_id, "pr.json");
    assert_eq!(record["pr_number"], 7);
    assert_eq!(record["pr_body"], open["pr_body"]);
}

/// The service checks the paths itself; what it refuses is a violation, and the run is over.
#[test]
fn a_service_that_refuses_a_path_ends_the_run() {
    let place = LaunchPlace::clean();
    let service = Service::start("PATH_NOT_ALLOWED");
    let (mut client, run_id) = ready(&place, &service);
    service.commit.store(403, Ordering::SeqCst);
    let tool_reply = client.about("launch_open_pr", &run_id);
    tool_reply.refused("ALLOWED_PATHS_VIOLATION");
    let status = client.settled(&run_id);
    assert_eq!(status["state"], "FAILED", "{status:#}");
    assert_eq!(status["failure"]["code"], "ALLOWED_PATHS_VIOLATION");
}

/// A variable goes nowhere it was not allowed to go, and nothing is sent without it.
#[test]
fn a_token_is_only_sent_where_settings_allow_it() {
    let place = LaunchPlace::clean();
    let service = Service::start("");
    place.settings("[launch]\nallow_private_targets = true\nallow_http = true\n");
    let mut command = place.command();
    command.env("SITE_TOKEN", "word");
    let mut client = Client::of(command, &place.home());
    let run_id = client.started(&service.config(&place), "READY_FOR_PR");
    let tool_reply = client.about("launch_open_pr", &run_id);
    tool_reply.refused("COMMIT_SERVICE_ERROR");
    assert!(!tool_reply.is_retryable());
    assert_eq!(service.server.received().len(), 0);
    assert_eq!(client.settled(&run_id)["state"], "READY_FOR_PR");
}

/// A service on this machine must be allowed as well.
#[test]
fn a_private_service_must_be_allowed() {
    let place = LaunchPlace::clean();
    let service = Service::start("");
    let mut client = place.serve();
    let mut config = service.config(&place);
    config["commit_service"]
        .as_object_mut()
        .unwrap()
        .remove("github_token_env");
    let run_id = client.started(&config, "READY_FOR_PR");
    let tool_reply = client.about("launch_open_pr", &run_id);
    let details = tool_reply.refused("COMMIT_SERVICE_ERROR");
    assert_eq!(details["stage"], "commit");
    assert_eq!(service.server.received().len(), 0);
}
