//! What is said of runs that have not completed.

use windlass_testkit::TestWorld;
use windlass_testkit::program::{self, Ledger, Op, ProgramDomain};
use windlass_types::WaitingOn;

use super::*;

/// Any run's record, for the parts of it that are asked about.
fn record() -> RunRecord {
    let world = TestWorld::new(|| vec![Box::new(ProgramDomain::new(&Ledger::new())) as _]);
    let work = |process: windlass_testkit::Process| async move {
        let input = program::input(&[Op::set("a", 1)]);
        let run_id = process.start(program::KIND, input).await;
        process
            .engine
            .settle(&run_id, std::time::Duration::ZERO)
            .await
    };
    world.life(world.disk.open_again(), work).unwrap().unwrap()
}

fn waits_for(key: &str, what: &str) -> RunRecord {
    let on = WaitingOn {
        what: what.to_owned(),
        ..WaitingOn::default()
    };
    RunRecord {
        waiting_on: vec![(key.to_owned(), on)],
        ..record()
    }
}

#[test]
fn who_is_waited_for() {
    let cases = [
        ("pause", "timer", None),
        ("part", "child", None),
        (
            "approval",
            "approval",
            Some(("APPROVAL_REQUIRED", "approval_pending")),
        ),
        (
            CREDENTIALS,
            CREDENTIALS,
            Some(("UNAUTHORIZED", "credentials_expired")),
        ),
    ];
    for (key, what, said) in cases {
        let record = waits_for(key, what);
        let problem = waiting(&record);
        let found = problem
            .as_ref()
            .map(|it| (it.code().name, it.details()["reason"].as_str().unwrap()));
        assert_eq!(found, said, "{key}");
        if let Some(problem) = problem {
            let next = problem.next_actions().join("\n");
            assert!(next.contains(record.run_id.as_str()), "{next}");
        }
    }
    assert!(waiting(&record()).is_none());
}

#[test]
fn a_cancelled_run_says_what_remains() {
    let cancelled = cancelled(&RunRecord {
        residue: vec!["execute".to_owned()],
        ..record()
    });
    assert_eq!(cancelled.details()["residue"], json!(["execute"]));
    assert_eq!(cancelled.details()["reason"], "interrupted");
}

#[test]
fn a_caller_with_a_short_timeout_is_told_how_to_go_on() {
    let record = record();
    let problem = unfinished(&record);
    assert_eq!(problem.code().name, "TIMEOUT");
    assert_eq!(problem.details()["runId"], record.run_id.as_str());
    assert_eq!(unknown_run("run_x").code().name, "RUN_NOT_FOUND");
}

#[test]
fn a_plan_is_known_by_its_digest() {
    let digest = windlass_types::Digest::of(b"plan");
    let cases = [
        (json!({ "planDigest": digest.to_string() }), Some(digest)),
        (json!({ "planDigest": "plan" }), None),
        (json!({ "planDigest": 7 }), None),
        (json!({}), None),
    ];
    for (data, found) in cases {
        assert_eq!(record_digest(data.as_object().unwrap()), found, "{data}");
    }
}
