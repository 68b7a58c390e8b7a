//! INVALID_INPUT and RUN_NOT_FOUND: what a call without sense is answered, in the contract's
//! words, and that it leaves nothing behind.

use serde_json::{Value, json};

use super::{client::Client, keys::find, place::LaunchPlace, shapes::TOOLS};
use crate::suite::support::{
    binary::{Daemon, free_address},
    http::Ask,
};

const SOME_RUN: &str = "r_2026-01-21T10-00-00Z_o5uw4zdmmfzxgllxnfxgi3dbom";

/// The tools about one run.
fn run_tools() -> impl Iterator<Item = &'static str> {
    let others = ["launch_start_run", "launch_list_runs"];
    TOOLS.into_iter().filter(move |tool| !others.contains(tool))
}

/// A request that is whole but for what a test does to it.
fn whole(tool: &str) -> Value {
    let mut arguments = json!({ "run_id": SOME_RUN });
    if tool == "launch_get_artifact" {
        arguments["artifact_name"] = json!("page_plan.json");
    }
    arguments
}

#[track_caller]
fn refused(client: &mut Client, tool: &str, arguments: &Value, field: &str) {
    let tool_reply = client.call(tool, arguments.clone());
    let details = tool_reply.refused("INVALID_INPUT");
    assert_eq!(
        details["field"], field,
        "{tool} {arguments}: {:#}",
        tool_reply.0
    );
    assert!(tool_reply.0.get("run_id").is_none(), "{:#}", tool_reply.0);
}

#[test]
fn a_run_id_must_be_there_and_be_a_text() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    for tool in run_tools() {
        for wrong in [
            json!(null),
            json!(""),
            json!(7),
            json!(true),
            json!([SOME_RUN]),
            json!({ "run_id": SOME_RUN }),
        ] {
            let mut arguments = whole(tool);
            arguments["run_id"] = wrong;
            refused(&mut client, tool, &arguments, "/run_id");
        }
        let mut missing = whole(tool);
        missing.as_object_mut().unwrap().remove("run_id");
        refused(&mut client, tool, &missing, "/run_id");
        let mut unknown = whole(tool);
        unknown["force"] = json!(true);
        refused(&mut client, tool, &unknown, "/force");
        let mut twisted = whole(tool);
        twisted["a/b~c"] = json!(true);
        refused(&mut client, tool, &twisted, "/a~1b~0c");
    }
}

#[test]
fn arguments_that_are_no_object_get_the_same_shape() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let missing = client
        .session
        .request("tools/call", &json!({ "name": "launch_cancel" }));
    let envelope = &missing["result"]["structuredContent"];
    assert_eq!(envelope["error"]["code"], "INVALID_INPUT", "{missing}");
    assert_eq!(missing["result"]["isError"], true);
}

#[test]
fn a_start_needs_a_configuration_and_nothing_unknown() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let tool = "launch_start_run";
    let config = place.config();
    for (arguments, field) in [
        (json!({}), "/run_config"),
        (json!({ "run_config": null }), "/run_config"),
        (
            json!({ "run_config": "product_name: Quill" }),
            "/run_config",
        ),
        (json!({ "run_config": [config] }), "/run_config"),
        (json!({ "run_config": 1 }), "/run_config"),
        (
            json!({ "run_config": config, "product_name": "Quill" }),
            "/product_name",
        ),
        (json!({ "run_config": config, "key": "k" }), "/key"),
        (
            json!({ "run_config": config, "idempotency_key": 5 }),
            "/idempotency_key",
        ),
        (
            json!({ "run_config": config, "idempotency_key": ["k"] }),
            "/idempotency_key",
        ),
        (
            json!({ "run_config": config, "idempotency_key": "" }),
            "/idempotency_key",
        ),
        (
            json!({ "run_config": config, "idempotency_key": "a\nb" }),
            "/idempotency_key",
        ),
        (
            json!({ "run_config": config, "idempotency_key": "a\u{0}b" }),
            "/idempotency_key",
        ),
        (
            json!({ "run_config": config, "idempotency_key": "\u{7f}" }),
            "/idempotency_key",
        ),
        (
            json!({ "run_config": config, "idempotency_key": "\u{9c}" }),
            "/idempotency_key",
        ),
        (
            json!({ "run_config": config, "idempotency_key": "k".repeat(201) }),
            "/idempotency_key",
        ),
    ] {
        refused(&mut client, tool, &arguments, field);
    }
    let listed = client.call("launch_list_runs", json!({}));
    assert_eq!(listed.0, json!({ "ok": true, "runs": [] }));
}

#[test]
fn an_artifact_needs_a_name() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "READY_FOR_PR");
    for wrong in [
        json!(null),
        json!(""),
        json!(3),
        json!(["page_plan.json"]),
        json!({}),
    ] {
        let tool_reply = client.call(
            "launch_get_artifact",
            json!({ "run_id": run_id, "artifact_name": wrong }),
        );
        let details = tool_reply.refused("INVALID_INPUT");
        assert_eq!(details["field"], "/artifact_name", "{:#}", tool_reply.0);
        assert_eq!(tool_reply.0["run_id"], run_id, "the run is known");
    }
    let tool_reply = client.about("launch_get_artifact", &run_id);
    assert_eq!(
        tool_reply.refused("INVALID_INPUT")["field"],
        "/artifact_name"
    );
}

#[test]
fn a_list_has_a_known_filter_limit_and_cursor() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let tool = "launch_list_runs";
    for (arguments, field) in [
        (json!({ "filter": "DONE" }), "/filter"),
        (json!({ "filter": ["DONE"] }), "/filter"),
        (json!({ "filter": { "state": "done" } }), "/filter/state"),
        (json!({ "filter": { "state": "RUNNING" } }), "/filter/state"),
        (json!({ "filter": { "state": "" } }), "/filter/state"),
        (json!({ "filter": { "state": 3 } }), "/filter/state"),
        (json!({ "filter": { "state": ["DONE"] } }), "/filter/state"),
        (
            json!({ "filter": { "product_slug": 3 } }),
            "/filter/product_slug",
        ),
        (json!({ "filter": { "slug": "quill" } }), "/filter/slug"),
        (json!({ "limit": 0 }), "/limit"),
        (json!({ "limit": 1001 }), "/limit"),
        (json!({ "limit": -1 }), "/limit"),
        (json!({ "limit": 1.5 }), "/limit"),
        (json!({ "limit": "10" }), "/limit"),
        (json!({ "limit": 1e300 }), "/limit"),
        (json!({ "cursor": "next" }), "/cursor"),
        (json!({ "cursor": "" }), "/cursor"),
        (json!({ "cursor": 5 }), "/cursor"),
        (json!({ "cursor": "../../windlass.db" }), "/cursor"),
        (json!({ "page": 2 }), "/page"),
    ] {
        refused(&mut client, tool, &arguments, field);
    }
    // A run that is not there is no page's end; nothing follows it.
    let beyond = client.call(tool, json!({ "cursor": SOME_RUN }));
    assert_eq!(beyond.0["runs"], json!([]), "{:#}", beyond.0);
}

#[test]
fn unknown_malformed_and_other_peoples_runs_are_not_found() {
    let place = LaunchPlace::clean();
    place.settings(&format!(
        "[launch]\nlocal_roots = [{:?}]\n",
        place.root().to_str().unwrap()
    ));
    let mut client = place.serve();
    let own = client.started(&place.config(), "READY_FOR_PR");
    // A run of another kind: a demo plan that was applied.
    let scratch = place.root().join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let scratch = scratch.to_str().unwrap();
    let applied = place.say(&[
        "demo",
        "apply",
        "--dir",
        scratch,
        "--file",
        "new.txt=new",
        "--yes",
        "--json",
    ]);
    let other = find(&applied.worked().json(), "run_id")
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned();
    assert!(other.starts_with("run_"), "{other}");
    let flipped = format!(
        "{}{}",
        &own[..own.len() - 1],
        if own.ends_with('a') { "b" } else { "a" }
    );
    for tool in run_tools() {
        for run_id in [
            SOME_RUN,
            &other,
            &flipped,
            "r_",
            "nonsense",
            &own[1..],
            &own.to_uppercase(),
        ] {
            let mut arguments = whole(tool);
            arguments["run_id"] = json!(run_id);
            let tool_reply = client.call(tool, arguments);
            tool_reply.refused("RUN_NOT_FOUND");
            assert!(tool_reply.0.get("run_id").is_none(), "{:#}", tool_reply.0);
        }
    }
    // The holder of a key sees the runs of that key alone, whatever the operation.
    let key = place
        .say(&["keys", "create", "test", "--scope", "launch"])
        .worked();
    let mut daemon = Daemon::spawn_with(place.command(), free_address(), &[]);
    daemon.wait_until_ready();
    for tool in run_tools() {
        let path = format!(
            "/v1/operations/launch.{}",
            tool.trim_start_matches("launch_")
        );
        let mut arguments = whole(tool);
        arguments["run_id"] = json!(own);
        let reply = Ask::post(&path, arguments.to_string())
            .with("authorization", format!("Bearer {}", key.stdout.trim()))
            .send(daemon.address)
            .unwrap();
        assert_eq!(reply.status, 404, "{tool}: {}", reply.text());
        assert!(reply.text().contains("RUN_NOT_FOUND"), "{}", reply.text());
    }
    assert_eq!(client.status(&own)["state"], "READY_FOR_PR", "untouched");
}
