//! Plan, confirm, apply: where policy asks, an approver approves the plan before it is published.

use serde_json::{Value, json};

use super::{client::Client, journal::Journals, place::LaunchPlace};

const ASK: &str = "version = 1\n[[rule]]\noperation = \"launch.open_pr\"\ndecision = \"ask\"\n\
    reason = \"a person looks first\"\n";
const DENY: &str = "version = 1\n[[rule]]\noperation = \"launch.open_pr\"\ndecision = \"deny\"\n\
    reason = \"not from here\"\n";

/// The pull request is refused until it is approved; the digest to approve.
#[track_caller]
fn asks(place: &LaunchPlace, client: &mut Client, run_id: &str) -> String {
    let tool_reply = client.about("launch_open_pr", run_id);
    let details = tool_reply.refused_for("ILLEGAL_STATE", "approval_required");
    let next = details["next_actions"].to_string();
    assert!(
        next.contains(&format!("windlass runs approve {run_id}")),
        "{next}"
    );
    assert_eq!(details["state"], "READY_FOR_PR");
    assert!(
        !tool_reply.is_retryable(),
        "the same call does not help by itself"
    );
    let branches = git_branches(place);
    assert_eq!(branches, "", "nothing was published");
    let digest = details["plan_digest"].as_str().unwrap();
    assert_eq!(digest.len(), 64, "{digest}");
    digest.to_owned()
}

fn git_branches(place: &LaunchPlace) -> String {
    super::place::git(
        &place.root().join("site"),
        &["for-each-ref", "refs/heads/launch"],
    )
}

#[track_caller]
fn approve(place: &LaunchPlace, run_id: &str, digest: &str) {
    place
        .say(&[
            "runs",
            "approve",
            run_id,
            "--plan-digest",
            digest,
            "--detach",
        ])
        .worked();
}

#[test]
fn an_agent_waits_for_a_person_where_policy_asks() {
    let place = LaunchPlace::clean();
    place.policy(ASK);
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "READY_FOR_PR");
    let digest = asks(&place, &mut client, &run_id);
    // Asking again is no approval.
    assert_eq!(asks(&place, &mut client, &run_id), digest);
    let wrong = place.say(&[
        "runs",
        "approve",
        &run_id,
        "--plan-digest",
        &"0".repeat(64),
        "--detach",
    ]);
    assert_ne!(wrong.code, Some(0), "{}", wrong.stdout);
    asks(&place, &mut client, &run_id);

    approve(&place, &run_id, &digest);
    let tool_reply = client.about("launch_open_pr", &run_id);
    assert_eq!(
        tool_reply.worked()["branch"],
        format!("launch/{run_id}/quill")
    );
    assert_eq!(client.status(&run_id)["state"], "DONE");
    let approvals = Journals::open(&place.home()).named(&run_id, "PR_APPROVED");
    assert_eq!(approvals.len(), 1, "{approvals:?}");
    assert_eq!(approvals[0]["plan_digest"], digest);
    let who = approvals[0]["principal"].as_str().unwrap();
    assert!(
        who.starts_with("local:") && !who.contains('/'),
        "a person: {who}"
    );
}

#[test]
fn a_rejection_is_no_approval() {
    let place = LaunchPlace::clean();
    place.policy(ASK);
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "READY_FOR_PR");
    let digest = asks(&place, &mut client, &run_id);
    place.say(&["runs", "reject", &run_id, "--detach"]).worked();
    assert_eq!(asks(&place, &mut client, &run_id), digest);
    approve(&place, &run_id, &digest);
    client.about("launch_open_pr", &run_id).worked();
}

/// What was approved is one plan: once it changes, it needs another approval.
#[test]
fn a_changed_plan_needs_a_new_approval() {
    let place = LaunchPlace::clean();
    place.policy(ASK);
    let mut client = place.serve();
    let config = place.config_with(json!({ "allow_manual_edits": true }));
    let run_id = client.started(&config, "READY_FOR_PR");
    let digest = asks(&place, &mut client, &run_id);
    approve(&place, &run_id, &digest);

    let page = "content/docs/quill/index.md";
    let file = place
        .home()
        .join("launch")
        .join(&run_id)
        .join("site")
        .join(page);
    let text = fs_err::read_to_string(&file).unwrap();
    fs_err::write(&file, format!("{text}\nSee the __MANUAL_NAME__ page.\n")).unwrap();
    client.about("launch_validate", &run_id).worked();
    let resumed = client.about("launch_resume", &run_id);
    assert_eq!(resumed.worked()["status"]["state"], "READY_FOR_PR");

    let changed = asks(&place, &mut client, &run_id);
    assert_ne!(changed, digest);
    let stale = place.say(&[
        "runs",
        "approve",
        &run_id,
        "--plan-digest",
        &digest,
        "--detach",
    ]);
    assert_ne!(stale.code, Some(0), "{}", stale.stdout);
    asks(&place, &mut client, &run_id);
    approve(&place, &run_id, &changed);
    client.about("launch_open_pr", &run_id).worked();
}

#[test]
fn profile_prod_asks_without_a_rule() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let run_id = client.start(&place.config_far("prod"));
    let status = client.settled(&run_id);
    assert_eq!(status["state"], "READY_FOR_PR", "{status:#}");
    let digest = asks(&place, &mut client, &run_id);
    approve(&place, &run_id, &digest);
    client.about("launch_open_pr", &run_id).worked();
    assert_eq!(client.status(&run_id)["state"], "DONE");
}

#[test]
fn a_rule_may_allow_what_prod_asks_about() {
    let place = LaunchPlace::clean();
    place.policy(crate::suite::support::home::ALLOW_ALL);
    let mut client = place.serve();
    let run_id = client.start(&place.config_far("prod"));
    client.settled(&run_id);
    client.about("launch_open_pr", &run_id).worked();
}

#[test]
fn a_rule_that_denies_is_final() {
    let place = LaunchPlace::clean();
    place.policy(DENY);
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "READY_FOR_PR");
    let tool_reply = client.about("launch_open_pr", &run_id);
    let details: &Value = tool_reply.refused_for("INVALID_INPUT", "not from here");
    assert!(
        details["rule"].as_str().unwrap().starts_with("policy.toml"),
        "{details}"
    );
    assert_eq!(git_branches(&place), "");
    let status = client.status(&run_id);
    assert_eq!(status["state"], "READY_FOR_PR", "{status:#}");
}
