//! ILLEGAL_STATE: every precondition of every tool, and when waiting helps.

use serde_json::{Value, json};

use super::{
    client::{Client, ToolReply},
    journal::Journals,
    levers,
    place::LaunchPlace,
};

fn report_of(tool_reply: &ToolReply) -> &Value {
    &tool_reply.worked()["validation_report"]
}

/// Waiting helps, and the answer says for how long.
#[track_caller]
fn not_yet(tool_reply: &ToolReply, state: &str) {
    let details = tool_reply.refused("ILLEGAL_STATE");
    assert_eq!(details["state"], state, "{:#}", tool_reply.0);
    assert!(tool_reply.is_retryable(), "{:#}", tool_reply.0);
    assert!(tool_reply.0["run_id"].is_string(), "{:#}", tool_reply.0);
}

/// Waiting does not help.
#[track_caller]
fn never(tool_reply: &ToolReply, state: &str, reason: &str) {
    let details = tool_reply.refused_for("ILLEGAL_STATE", reason);
    assert_eq!(details["state"], state, "{:#}", tool_reply.0);
    assert!(!tool_reply.is_retryable(), "{:#}", tool_reply.0);
    assert!(tool_reply.0["run_id"].is_string(), "{:#}", tool_reply.0);
}

fn artifact(client: &mut Client, run_id: &str, name: &str) -> ToolReply {
    let arguments = json!({ "run_id": run_id, "artifact_name": name });
    client.call("launch_get_artifact", arguments)
}

#[test]
fn while_a_run_is_driven_its_tools_say_when_to_ask_again() {
    let place = LaunchPlace::clean();
    let git = levers::git(&place);
    git.hold();
    let mut client = place.serve();
    let run_id = client.start(&place.config());
    git.wait_until_reached();
    for tool in ["launch_validate", "launch_fix_next", "launch_open_pr"] {
        let tool_reply = client.about(tool, &run_id);
        not_yet(&tool_reply, "CREATED");
        let needed = tool_reply.refused("ILLEGAL_STATE")["required_states"].to_string();
        let wanted = match tool {
            "launch_validate" => "LINKING",
            "launch_fix_next" => "VALIDATING",
            _ => "READY_FOR_PR",
        };
        assert!(needed.contains(wanted), "{tool}: {needed}");
    }
    for (name, state) in [
        ("page_plan.json", "PLAN_READY"),
        ("validation_report.json", "VALIDATING"),
        ("pr.json", "PR_OPENED"),
        ("drafts/docs/content/docs/quill/index.md", "DRAFTING"),
    ] {
        let tool_reply = artifact(&mut client, &run_id, name);
        not_yet(&tool_reply, "CREATED");
        let details = tool_reply.refused_for("ILLEGAL_STATE", "not_produced");
        assert_eq!(details["produced_in_state"], state, "{name}");
    }
    // It has a driver: the answer is the status, at once, and no second driver.
    let resumed = client.about("launch_resume", &run_id);
    assert_eq!(resumed.worked()["status"]["state"], "CREATED");
    assert_eq!(resumed.worked()["status"]["parked"], false);
    git.release();
    assert_eq!(client.settled(&run_id)["state"], "READY_FOR_PR");
    report_of(&client.about("launch_validate", &run_id));
}

#[test]
fn a_run_that_waits_with_issues_cannot_be_published() {
    let place = LaunchPlace::defective();
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "VALIDATING");
    let tool_reply = client.about("launch_open_pr", &run_id);
    never(&tool_reply, "VALIDATING", "state");
    let tool_reply = artifact(&mut client, &run_id, "pr.json");
    never(&tool_reply, "VALIDATING", "not_produced");
    assert_eq!(place.site_git(&["branch", "--list", "launch/*"]), "");
}

#[test]
fn a_run_that_is_ready_has_nothing_to_fix() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "READY_FOR_PR");
    never(
        &client.about("launch_fix_next", &run_id),
        "READY_FOR_PR",
        "state",
    );
    let report = client.about("launch_validate", &run_id);
    assert_eq!(report_of(&report)["ok"], true);
    assert_eq!(client.status(&run_id)["state"], "READY_FOR_PR");
}

/// A page of a run that is ready is edited: the next validation finds it, the pull request is
/// refused, and resuming fixes it.
#[test]
fn a_failing_second_validation_revokes_readiness() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let config = place.config_with(json!({ "allow_manual_edits": true }));
    let run_id = client.started(&config, "READY_FOR_PR");
    let page = "content/docs/quill/index.md";
    let file = place
        .home()
        .join("launch")
        .join(&run_id)
        .join("site")
        .join(page);
    let text = fs_err::read_to_string(&file).unwrap();
    fs_err::write(&file, format!("{text}\nSee the __MANUAL_NAME__ page.\n")).unwrap();

    let tool_reply = client.about("launch_validate", &run_id);
    let report = report_of(&tool_reply);
    assert_eq!(report["ok"], false, "{report:#}");
    assert_eq!(report["manual_edits"], true);
    assert_eq!(report["manual_edited_files"], json!([page]));
    assert_eq!(client.status(&run_id)["state"], "READY_FOR_PR");
    never(
        &client.about("launch_open_pr", &run_id),
        "READY_FOR_PR",
        "report_not_ok",
    );
    assert_eq!(place.site_git(&["branch", "--list", "launch/*"]), "");

    let resumed = client.about("launch_resume", &run_id);
    let status = &resumed.worked()["status"];
    assert_eq!(status["state"], "READY_FOR_PR", "{status:#}");
    assert!(
        status["fix_attempts"]["used"].as_u64().unwrap() > 0,
        "{status:#}"
    );
    let opened = client.about("launch_open_pr", &run_id);
    let branch = opened.worked()["branch"].as_str().unwrap();
    let published = place.site_git(&["show", &format!("{branch}:{page}")]);
    assert!(!published.contains("__MANUAL_NAME__"), "{published}");
    let rewinds = Journals::open(&place.home()).named(&run_id, "RESUME_REWIND");
    assert_eq!(rewinds.len(), 1, "{rewinds:?}");
    assert_eq!(rewinds[0]["from_state"], "READY_FOR_PR");
    assert_eq!(rewinds[0]["to_state"], "DRAFT_READY");
}

/// Without permission, edits of the worktree are nobody's: the bundle is what counts.
#[test]
fn edits_without_permission_reach_nothing() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "READY_FOR_PR");
    let page = "content/docs/quill/index.md";
    let file = place
        .home()
        .join("launch")
        .join(&run_id)
        .join("site")
        .join(page);
    let text = fs_err::read_to_string(&file).unwrap();
    fs_err::write(&file, format!("{text}\nQuill cures colds.\n")).unwrap();
    let opened = client.about("launch_open_pr", &run_id);
    let branch = opened.worked()["branch"].as_str().unwrap();
    let published = place.site_git(&["show", &format!("{branch}:{page}")]);
    assert!(!published.contains("cures colds"), "{published}");
}

#[test]
fn a_run_that_is_done_stays_as_it_is() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "READY_FOR_PR");
    let opened = client.about("launch_open_pr", &run_id).worked().clone();
    let status = client.status(&run_id);
    assert_eq!(status["state"], "DONE");

    let tool_reply = client.about("launch_open_pr", &run_id);
    never(&tool_reply, "DONE", "already_open");
    let details = tool_reply.refused("ILLEGAL_STATE");
    for member in ["pr_url", "branch", "commit_sha"] {
        assert_eq!(details[member], opened[member], "{:#}", tool_reply.0);
    }
    never(&client.about("launch_fix_next", &run_id), "DONE", "state");
    never(&client.about("launch_cancel", &run_id), "DONE", "ended");
    let report = client.about("launch_validate", &run_id);
    let kept = client.artifact_json(&run_id, "validation_report.json");
    assert_eq!(
        *report_of(&report),
        kept,
        "what was opened is judged as it was opened"
    );
    assert_eq!(client.status(&run_id), status);
    let branches = place.site_git(&["branch", "--list", "launch/*"]);
    assert_eq!(branches.lines().count(), 1, "{branches}");
}

#[test]
fn a_run_that_failed_does_nothing_more() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let config = place.config_with(json!({ "site_repo_url": place.root().join("nowhere") }));
    let run_id = client.started(&config, "FAILED");
    for tool in [
        "launch_validate",
        "launch_fix_next",
        "launch_open_pr",
        "launch_resume",
    ] {
        never(&client.about(tool, &run_id), "FAILED", "state");
    }
    never(&client.about("launch_cancel", &run_id), "FAILED", "ended");
    let tool_reply = artifact(&mut client, &run_id, "page_plan.json");
    never(&tool_reply, "FAILED", "not_produced");
    assert_eq!(client.status(&run_id)["state"], "FAILED");
}
