//! What a launch reports: the local telemetry interface, a service elsewhere, an export.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
};

use serde_json::{Value, json};

use super::{client::Client, place::LaunchPlace};
use crate::suite::support::{
    binary::{Daemon, free_address},
    http::Ask,
    loopback::{Loopback, json_answer},
};

const SETTINGS: &str = "[launch]\nallow_private_targets = true\nallow_http = true\n\
    [launch.tokens]\nTELEMETRY_TOKEN = [\"127.0.0.1\"]\n";

/// A launch with one defect in the way, fixed and opened.
fn done(place: &LaunchPlace, client: &mut Client, config: &Value) -> String {
    let run_id = client.started(config, "VALIDATING");
    client.about("launch_resume", &run_id).worked();
    assert_eq!(client.settled(&run_id)["state"], "READY_FOR_PR");
    client.about("launch_open_pr", &run_id).worked();
    assert_eq!(client.status(&run_id)["state"], "DONE");
    assert!(place.home().is_dir());
    run_id
}

fn serve(place: &LaunchPlace) -> Daemon {
    let mut daemon = Daemon::spawn_with(place.command(), free_address(), &["--no-auth"]);
    daemon.wait_until_ready();
    daemon
}

fn get(daemon: &Daemon, path: &str) -> Value {
    let reply = Ask::get(path).send(daemon.address).unwrap();
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply.json()
}

#[test]
fn a_launch_is_a_parent_with_its_parts() {
    let place = LaunchPlace::defective();
    let mut client = place.serve();
    let run_id = done(&place, &mut client, &place.config());
    drop(client);
    let daemon = serve(&place);
    let shown = get(&daemon, &format!("/telemetry/{run_id}"));
    let run = &shown["run"];
    assert_eq!(run["job_type"], "launch");
    assert_eq!(run["status"], "success");
    assert_eq!(run["product"], "quill");
    assert_eq!(run["parent_run_id"], Value::Null);
    assert_eq!(run["context_json"]["state"], "DONE");
    assert!(run["duration_ms"].as_u64().is_some(), "{run}");
    let trace = run["context_json"]["trace_id"].as_str().unwrap();
    assert_eq!(trace.len(), 32);
    let children = shown["children"].as_array().unwrap();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut spans = std::collections::BTreeSet::new();
    for child in children {
        let kind = child["job_type"].as_str().unwrap();
        *kinds.entry(kind).or_default() += 1;
        assert_eq!(child["parent_run_id"], run_id);
        assert_eq!(child["context_json"]["trace_id"], trace, "{child}");
        let span = child["context_json"]["span_id"].as_str().unwrap();
        assert_eq!(span.len(), 16);
        assert_ne!(span, "0000000000000000", "{child}");
        let status = child["status"].as_str().unwrap();
        assert_ne!(status, "running", "{child}");
        assert!(child["end_time"].as_str() >= child["start_time"].as_str());
        if kind != "mcp_tool_call" {
            assert!(spans.insert(span), "two parts with one span: {child}");
        }
    }
    // One of 18 gates per validation: the first, and one after each of three fixes.
    assert_eq!(kinds["gate"], 18 * 4);
    assert_eq!(kinds["commit_service"], 2);
    assert!(kinds["worker"] >= 12, "{kinds:?}");
    assert!(kinds["mcp_tool_call"] >= 3, "{kinds:?}");
    assert!(!kinds.contains_key("llm_call"));
    let failing = children
        .iter()
        .filter(|child| child["job_type"] == "gate" && child["status"] == "failure");
    assert_eq!(failing.count(), 3);

    // The span of a part is that of the step the engine recorded and traced.
    let journal = place.say(&["runs", "export", &run_id]).worked().stdout;
    let journal: Value = serde_json::from_str(&journal).unwrap();
    for (part, step) in [
        ("-work-W4-plan-1", "W4:plan"),
        ("-gate-1-Schema", "gate:1:Schema"),
    ] {
        let part = children
            .iter()
            .find(|child| child["run_id"] == format!("{run_id}{part}"))
            .unwrap();
        let step = journal["events"]
            .as_array()
            .unwrap()
            .iter()
            .find(|event| {
                let payload: Value =
                    serde_json::from_str(event["payload"].as_str().unwrap()).unwrap();
                event["type"] == "step.completed" && payload["key"] == step
            })
            .unwrap();
        assert_eq!(part["context_json"]["span_id"], step["span_id"]);
        let events = get(
            &daemon,
            &format!("/api/v1/runs/{}/events", part["run_id"].as_str().unwrap()),
        );
        assert_eq!(events["total"], 2, "{events}");
    }

    // The same in lists; a part by its own id; nobody may say otherwise.
    let listed = get(&daemon, "/api/v1/runs?job_type=launch");
    assert_eq!(listed["runs"], json!([run]));
    let total = get(&daemon, "/api/v1/runs")["total"].as_u64().unwrap();
    assert_eq!(total, children.len() as u64 + 1);
    let gates = format!("/api/v1/runs?parent_run_id={run_id}&job_type=gate&status=failed");
    assert_eq!(get(&daemon, &gates)["total"], 3);
    let events = get(&daemon, &format!("/api/v1/runs/{run_id}/events?limit=2"));
    assert_eq!(events["events"][0]["type"], "RUN_CREATED");
    let own = json!({
        "event_id": run["event_id"], "run_id": run_id, "agent_name": "x", "job_type": "launch",
        "start_time": "2026-01-01T00:00:00Z",
    });
    let reply = Ask::post("/api/v1/runs", own.to_string()).send(daemon.address);
    let reply = reply.unwrap();
    assert_eq!(
        (reply.status, &reply.json()["result"]),
        (200, &json!("duplicate"))
    );
    let mut patch = Ask::post(
        &format!("/api/v1/runs/{}", run["event_id"].as_str().unwrap()),
        r#"{"status":"failure"}"#,
    );
    patch.method = "PATCH".to_owned();
    assert_eq!(patch.send(daemon.address).unwrap().status, 409);
}

#[test]
fn a_launch_that_waits_or_was_cancelled_says_so() {
    let place = LaunchPlace::defective();
    let mut client = place.serve();
    let waits = client.started(&place.config(), "VALIDATING");
    let gone = client.started(&place.config(), "VALIDATING");
    client.about("launch_cancel", &gone).worked();
    drop(client);
    let daemon = serve(&place);
    for (run_id, status, state) in [
        (&waits, "running", "VALIDATING"),
        (&gone, "cancelled", "CANCELLED"),
    ] {
        let run = get(&daemon, &format!("/api/v1/runs/{run_id}"));
        assert_eq!(run["status"], status);
        assert_eq!(run["context_json"]["state"], state);
    }
}

/// A telemetry service whose answers a test decides.
struct Service {
    server: Loopback,
    status: Arc<AtomicU16>,
}

impl Service {
    fn start() -> Self {
        let status = Arc::new(AtomicU16::new(200));
        let set = Arc::clone(&status);
        let server = Loopback::start(move |_| json_answer(set.load(Ordering::SeqCst), &json!({})));
        Self { server, status }
    }

    fn launch(&self, place: &LaunchPlace) -> (Client, Value) {
        place.settings(SETTINGS);
        let mut command = place.command();
        command.env("TELEMETRY_TOKEN", "word");
        let client = Client::of(command, &place.home());
        let config = place.config_with(json!({ "telemetry": {
            "endpoint_url": format!("http://{}/", self.server.address),
            "project": "letters",
            "auth_token_env": "TELEMETRY_TOKEN",
        } }));
        (client, config)
    }

    /// What was reported, by event id, with the changes that followed.
    fn runs(&self) -> BTreeMap<String, Value> {
        let mut runs = BTreeMap::new();
        for request in self.server.received() {
            assert_eq!(request.header("authorization"), "Bearer word");
            let body = request.json();
            if request.path == "/api/v1/runs/batch" {
                for run in body["runs"].as_array().unwrap() {
                    let id = run["event_id"].as_str().unwrap().to_owned();
                    assert!(runs.insert(id, run.clone()).is_none(), "twice: {run}");
                }
            } else {
                let id = request.path.strip_prefix("/api/v1/runs/").unwrap();
                let Value::Object(changes) = body else {
                    panic!("{body}")
                };
                let run = runs.get_mut(id).expect("it was reported before");
                run.as_object_mut().unwrap().extend(changes);
            }
        }
        runs
    }
}

#[test]
fn a_remote_service_gets_updates_of_a_launch() {
    let place = LaunchPlace::clean();
    let service = Service::start();
    let (mut client, config) = service.launch(&place);
    let run_id = client.started(&config, "READY_FOR_PR");
    let before = service.runs();
    let launch = |runs: &BTreeMap<String, Value>| {
        let found = runs.values().find(|run| run["run_id"] == run_id);
        found.cloned().unwrap()
    };
    assert_eq!(launch(&before)["status"], "running");
    assert_eq!(launch(&before)["context_json"]["project"], "letters");
    client.about("launch_open_pr", &run_id).worked();
    let after = service.runs();
    assert_eq!(launch(&after)["status"], "success");
    assert!(launch(&after)["end_time"].is_string());
    assert!(after.len() > before.len());
    assert!(
        after
            .values()
            .all(|run| run["run_id"] == run_id || run["parent_run_id"] == run_id)
    );
    let gates = after.values().filter(|run| run["job_type"] == "gate");
    assert_eq!(gates.count(), 18);
    drop(client);
    let daemon = serve(&place);
    let events = get(&daemon, &format!("/api/v1/runs/{run_id}/events"));
    let flushed: Vec<&Value> = events["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["type"] == "TELEMETRY_FLUSHED")
        .collect();
    let states: Vec<&str> = flushed
        .iter()
        .map(|event| event["payload"]["state"].as_str().unwrap())
        .collect();
    assert_eq!(
        states,
        ["PLAN_READY", "DRAFT_READY", "READY_FOR_PR", "PR_OPENED"]
    );
    assert!(flushed.iter().all(|event| event["payload"]["pending"] == 0));
}

#[test]
fn what_was_not_sent_makes_a_launch_partial_and_never_fails_it() {
    let place = LaunchPlace::clean();
    let service = Service::start();
    let (mut client, config) = service.launch(&place);
    // A refusal is not tried again.
    service.status.store(403, Ordering::SeqCst);
    let run_id = client.started(&config, "READY_FOR_PR");
    assert_eq!(service.server.received().len(), 3);
    client.about("launch_open_pr", &run_id).worked();
    assert_eq!(client.status(&run_id)["state"], "DONE");
    drop(client);
    let daemon = serve(&place);
    let run = get(&daemon, &format!("/api/v1/runs/{run_id}"));
    assert_eq!(run["status"], "partial");

    // What waited is sent with the next flush.
    let place = LaunchPlace::clean();
    let service = Service::start();
    let (mut client, config) = service.launch(&place);
    service.status.store(404, Ordering::SeqCst);
    let run_id = client.started(&config, "READY_FOR_PR");
    service.status.store(201, Ordering::SeqCst);
    client.about("launch_open_pr", &run_id).worked();
    drop(client);
    let daemon = serve(&place);
    let run = get(&daemon, &format!("/api/v1/runs/{run_id}"));
    assert_eq!(run["status"], "success");
    let heard = service.server.received();
    let last = heard.last().unwrap().json();
    assert_eq!(last["status"], "success", "{last}");
}

#[test]
fn an_export_contains_the_events_and_a_reproducible_snapshot() {
    let place = LaunchPlace::defective();
    let mut client = place.serve();
    let run_id = done(&place, &mut client, &place.config());
    drop(client);
    let folder = place.root().join("exported");
    let export = || {
        let to = folder.to_str().unwrap();
        place
            .say(&["runs", "export", &run_id, "--dir", to])
            .worked();
        ["run.json", "events.ndjson", "snapshot.json"]
            .map(|name| fs_err::read_to_string(folder.join(name)).unwrap())
    };
    let [document, events, snapshot] = export();
    let events: Vec<Value> = events
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events[0]["type"], "RUN_CREATED");
    assert_eq!(events.last().unwrap()["run_id"], run_id);
    let fields = [
        "event_id",
        "run_id",
        "ts",
        "type",
        "payload",
        "trace_id",
        "span_id",
        "prev_hash",
        "event_hash",
    ];
    for event in &events {
        assert!(
            fields.iter().all(|field| event.get(*field).is_some()),
            "{event}"
        );
    }
    let read: Value = serde_json::from_str(&snapshot).unwrap();
    assert_eq!(read["run_state"], "DONE");
    assert_eq!(read["issues"], json!([]));
    for name in [
        "section_states",
        "artifacts_index",
        "work_items",
        "schema_version",
    ] {
        assert!(read.get(name).is_some(), "{name}");
    }
    fs_err::remove_file(folder.join("snapshot.json")).unwrap();
    let [_, _, again] = export();
    assert_eq!(again, snapshot);

    // Elsewhere the document alone gives the same snapshot.
    let other = LaunchPlace::clean();
    let file = other.root().join("run.json");
    fs_err::write(&file, document).unwrap();
    other
        .say(&["runs", "import", file.to_str().unwrap()])
        .worked();
    let to = other.root().join("exported");
    other
        .say(&["runs", "export", &run_id, "--dir", to.to_str().unwrap()])
        .worked();
    assert_eq!(
        fs_err::read_to_string(to.join("snapshot.json")).unwrap(),
        snapshot
    );
}
