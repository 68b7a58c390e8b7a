//! CANCELLED: a run is cancelled wherever it is, leaves no checkout, and says so from then on.

use std::collections::BTreeSet;

use serde_json::json;

use super::{
    client::{Client, ToolReply},
    levers,
    place::LaunchPlace,
    shapes::STATES,
};
use crate::suite::support::directory::fill;

/// Cancels a run and looks that nothing of it is left but its record.
fn cancel(place: &LaunchPlace, client: &mut Client, run_id: &str) {
    let tool_reply = client.about("launch_cancel", run_id);
    assert_cancelled(place, client, run_id, &tool_reply);
}

fn assert_cancelled(
    place: &LaunchPlace,
    client: &mut Client,
    run_id: &str,
    tool_reply: &ToolReply,
) {
    let wanted = json!({
        "ok": true, "run_id": run_id, "cancelled": true, "state": "CANCELLED",
    });
    assert_eq!(tool_reply.0, wanted);
    assert!(
        !place.checkouts().contains(&run_id.to_owned()),
        "its folder is still there"
    );
    assert_eq!(client.status(run_id)["state"], "CANCELLED");
    assert_eq!(place.site_git(&["branch", "--list", "launch/*"]), "");
}

#[test]
fn a_cancelled_run_says_so_to_every_tool() {
    let place = LaunchPlace::defective();
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "VALIDATING");
    cancel(&place, &mut client, &run_id);
    for tool in [
        "launch_validate",
        "launch_fix_next",
        "launch_resume",
        "launch_open_pr",
    ] {
        let tool_reply = client.about(tool, &run_id);
        tool_reply.refused("CANCELLED");
        assert_eq!(tool_reply.0["run_id"], run_id);
    }
    // Again is the same; looking is as before.
    cancel(&place, &mut client, &run_id);
    let plan = client.artifact_json(&run_id, "page_plan.json");
    assert!(plan["pages"].is_array());
    let listed = client.call(
        "launch_list_runs",
        json!({ "filter": { "state": "CANCELLED" } }),
    );
    assert_eq!(listed.worked()["runs"][0]["run_id"], run_id);
    assert!(listed.worked()["runs"][0]["finished_at"].is_string());
    let tool_reply = client.call(
        "launch_get_artifact",
        json!({ "run_id": run_id, "artifact_name": "pr.json" }),
    );
    tool_reply.refused_for("ILLEGAL_STATE", "not_produced");
}

/// The states a run can be held in, one by one.
#[test]
fn cancelled_where_it_is_held() {
    let place = LaunchPlace::defective();
    fill(
        &place.root().join("site"),
        &[("hugo.toml", "baseURL = \"https://a.example/\"\n")],
    );
    let site = place.root().join("site");
    super::place::git(&site, &["add", "--all"]);
    super::place::git(&site, &["commit", "--quiet", "--message", "hugo"]);
    let head = place.site_git(&["rev-parse", "HEAD"]);
    let git = levers::git(&place);
    let hugo = levers::hugo(&place);
    let (model, llm) = levers::model(&place);
    let mut client = place.serve();
    let plain = place.config();
    let modelled = place.config_with(json!({ "llm": llm }));
    let built = place.config_with(json!({ "site_ref": head.trim() }));

    git.hold();
    let run_id = client.start(&plain);
    git.wait_until_reached();
    assert_eq!(client.status(&run_id)["state"], "CREATED");
    client.ask("launch_cancel", &json!({ "run_id": run_id }));
    git.release();
    let (_, tool_reply) = client.answer();
    assert_cancelled(&place, &mut client, &run_id, &tool_reply);

    model.hold();
    let run_id = client.start(&modelled);
    model.wait_until_reached();
    assert_eq!(client.status(&run_id)["state"], "DRAFTING");
    cancel(&place, &mut client, &run_id);
    model.release();

    model.hold();
    let run_id = client.start(&modelled);
    model.wait_until_reached();
    git.hold();
    model.release();
    git.wait_until_reached();
    assert_eq!(client.status(&run_id)["state"], "LINKING");
    client.ask("launch_cancel", &json!({ "run_id": run_id }));
    git.release();
    let (_, tool_reply) = client.answer();
    assert_cancelled(&place, &mut client, &run_id, &tool_reply);

    hugo.hold();
    let run_id = client.start(&built);
    hugo.wait_until_reached();
    assert_eq!(client.status(&run_id)["state"], "VALIDATING");
    client.ask("launch_cancel", &json!({ "run_id": run_id }));
    hugo.release();
    let (_, tool_reply) = client.answer();
    assert_cancelled(&place, &mut client, &run_id, &tool_reply);

    // A call that waits for work that is cancelled learns so.
    let run_id = client.started(&plain, "VALIDATING");
    git.hold();
    let fix = client.ask("launch_fix_next", &json!({ "run_id": run_id }));
    git.wait_until_reached();
    assert_eq!(client.status(&run_id)["state"], "FIXING");
    let stop = client.ask("launch_cancel", &json!({ "run_id": run_id }));
    git.release();
    for _ in 0..2 {
        let (id, tool_reply) = client.answer();
        if id == fix {
            tool_reply.refused("CANCELLED");
        } else {
            assert_eq!(id, stop);
            assert_eq!(tool_reply.worked()["state"], "CANCELLED");
        }
    }
    cancel(&place, &mut client, &run_id);

    let run_id = client.started(&plain, "VALIDATING");
    client.about("launch_resume", &run_id).worked();
    assert_eq!(client.status(&run_id)["state"], "READY_FOR_PR");
    git.hold();
    client.ask("launch_open_pr", &json!({ "run_id": run_id }));
    git.wait_until_reached();
    assert_eq!(client.status(&run_id)["parked"], false);
    client.ask("launch_cancel", &json!({ "run_id": run_id }));
    git.release();
    for _ in 0..2 {
        client.answer();
    }
    cancel(&place, &mut client, &run_id);
    assert_eq!(place.checkouts(), [""; 0]);
}

/// The states nothing holds a run in: cancelled as soon as they are seen, in a race that the
/// cancelling may lose to the next state, but never to the end.
#[test]
fn cancelled_as_soon_as_a_state_is_seen() {
    let place = LaunchPlace::example();
    let mut client = place.serve();
    let order = |state: &str| STATES.iter().position(|known| *known == state).unwrap();
    let mut hit = BTreeSet::new();
    for wanted in [
        "CREATED",
        "CLONED_INPUTS",
        "INGESTED",
        "FACTS_READY",
        "PLAN_READY",
        "DRAFT_READY",
    ] {
        let run_id = client.start(&place.config());
        let status = client.until(&run_id, |status| {
            order(status["state"].as_str().unwrap()) >= order(wanted)
        });
        hit.insert(status["state"].as_str().unwrap().to_owned());
        cancel(&place, &mut client, &run_id);
    }
    println!("cancelled at {hit:?}");
    assert!(hit.len() >= 3, "{hit:?}");
    // Started and cancelled in one breath.
    for _ in 0..5 {
        let run_id = client.start(&place.config());
        cancel(&place, &mut client, &run_id);
    }
    assert_eq!(place.checkouts(), [""; 0]);
}
