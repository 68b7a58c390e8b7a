//! Many calls at once: the work is done once, and everyone gets its result.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{
    client::{Client, ToolReply},
    journal::Journals,
    levers,
    place::LaunchPlace,
};

const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// Sends a call so often that all of them are on their way to the run before it does the first.
fn pile_up(
    place: &LaunchPlace,
    client: &mut Client,
    run_id: &str,
    tool: &str,
    times: usize,
) -> Vec<ToolReply> {
    let git = levers::git(place);
    let journals = Journals::open(&place.home());
    let before = journals.signals(run_id);
    git.hold();
    for _ in 0..times {
        client.ask(tool, &json!({ "run_id": run_id }));
    }
    git.wait_until_reached();
    let started = Instant::now();
    while journals.signals(run_id) < before + times {
        let so_far = journals.signals(run_id);
        assert!(
            started.elapsed() < WAIT_LIMIT,
            "{so_far} of {times} arrived"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    git.release();
    (0..times).map(|_| client.answer().1).collect()
}

#[test]
fn fix_next_64_times_at_once_is_one_attempt() {
    let place = LaunchPlace::defective();
    let mut client = place.serve();
    levers::git(&place);
    let run_id = client.started(&place.config(), "VALIDATING");
    let tool_reply = pile_up(&place, &mut client, &run_id, "launch_fix_next", 64);
    let first = &tool_reply[0];
    first.worked();
    assert!(
        tool_reply.iter().all(|other| other == first),
        "all get the same"
    );
    let status = client.settled(&run_id);
    assert_eq!(status["fix_attempts"]["used"], 1, "{status:#}");
    assert_eq!(status["state"], "VALIDATING");
    let journals = Journals::open(&place.home());
    let finished = journals.named(&run_id, "WORK_ITEM_FINISHED");
    let attempts = finished.iter().filter(|item| item["worker"] == "W8");
    assert_eq!(attempts.count(), 1);
}

#[test]
fn open_pr_16_times_at_once_is_one_pull_request() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    levers::git(&place);
    let run_id = client.started(&place.config(), "READY_FOR_PR");
    let tool_reply = pile_up(&place, &mut client, &run_id, "launch_open_pr", 16);
    let opened = tool_reply
        .iter()
        .find(|tool_reply| tool_reply.is_ok())
        .expect("one opened it");
    for other in &tool_reply {
        let says: &Value = match other.code() {
            None => &other.0,
            Some(_) => other.refused_for("ILLEGAL_STATE", "already_open"),
        };
        for member in ["pr_url", "branch", "commit_sha"] {
            assert_eq!(says[member], opened.0[member], "{:#}", other.0);
        }
    }
    let branches = place.site_git(&["branch", "--list", "launch/*"]);
    assert_eq!(branches.lines().count(), 1, "{branches}");
    let journals = Journals::open(&place.home());
    assert_eq!(journals.named(&run_id, "PR_OPENED").len(), 1);
    assert_eq!(client.status(&run_id)["state"], "DONE");
}

/// A validation that is asked for while an attempt is made is that attempt's.
#[test]
fn validating_during_a_fix_waits_for_it() {
    let place = LaunchPlace::defective();
    let git = levers::git(&place);
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "VALIDATING");
    let about = json!({ "run_id": run_id });
    git.hold();
    let fix = client.ask("launch_fix_next", &about);
    git.wait_until_reached();
    assert_eq!(client.status(&run_id)["state"], "FIXING");
    let journals = Journals::open(&place.home());
    let validate = client.ask("launch_validate", &about);
    let started = Instant::now();
    while journals.signals(&run_id) < 2 {
        assert!(started.elapsed() < WAIT_LIMIT, "it does not arrive");
        std::thread::sleep(Duration::from_millis(5));
    }
    git.release();
    let mut reports = Vec::new();
    for _ in 0..2 {
        let (id, tool_reply) = client.answer();
        assert!(id == fix || id == validate);
        reports.push(tool_reply.worked()["validation_report"].clone());
    }
    assert_eq!(reports[0], reports[1]);
    client.settled(&run_id);
    let finished = journals.named(&run_id, "WORK_ITEM_FINISHED");
    let validations = finished.iter().filter(|item| item["worker"] == "W7");
    assert_eq!(validations.count(), 2, "the first, and the attempt's");
}

/// Ten runs at once, each as if it were alone.
#[test]
fn runs_do_not_disturb_each_other() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let call = ("launch_start_run", json!({ "run_config": place.config() }));
    let tool_reply = client.at_once(&vec![call; 10]);
    let mut digests = Vec::new();
    for tool_reply in tool_reply {
        let run_id = tool_reply.worked()["run_id"].as_str().unwrap().to_owned();
        let status = client.settled(&run_id);
        assert_eq!(status["state"], "READY_FOR_PR", "{status:#}");
        digests.push(super::client::digests(&status));
    }
    assert!(digests.iter().all(|other| *other == digests[0]));
}
