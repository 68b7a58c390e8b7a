//! The proofs every run kind must pass, for a launch that is fixed once and opened.

use std::sync::Arc;

use serde_json::json;
use windlass_testkit::proofs::{
    ProofCase, ProofWorld, Reaction, Script, cancelled_anywhere_unwinds, fails_anywhere_unwinds,
    killed_at_every_write_resumes, twice_is_once,
};

use super::world::LaunchWorld;

/// A launch whose first validation fails, that is fixed and then opened.
fn case() -> ProofCase {
    ProofCase {
        kind: "launch".to_owned(),
        world: Box::new(|| Arc::new(LaunchWorld::new()) as Arc<dyn ProofWorld>),
        script: Script::new(|record, on| {
            if on.what != "launch.action" {
                return Reaction::Nothing;
            }
            let turn = record.waiting_on.first().map(|(key, _)| key.as_str());
            let (action, seen) = match turn {
                Some("turn 1") => ("resume", 1),
                _ => ("open_pr", 2),
            };
            Reaction::Signal(json!({
                "action": action,
                "call_id": action,
                "seen_validations": seen,
                "seen_fixes": seen - 1,
            }))
        }),
    }
}

#[test]
fn twice_is_once_for_a_launch() {
    twice_is_once(&case());
}

#[test]
fn a_launch_that_fails_anywhere_leaves_nothing() {
    let steps = fails_anywhere_unwinds(&case());
    assert!(steps > 50, "{steps}");
}

#[test]
fn a_launch_that_is_cancelled_anywhere_leaves_nothing() {
    let in_time = cancelled_anywhere_unwinds(&case());
    assert!(in_time > 50, "{in_time}");
}

#[test]
fn a_launch_that_is_killed_anywhere_ends_the_same() {
    let report = killed_at_every_write_resumes(&case());
    assert_eq!(report.deaths, report.tries, "{report:?}");
    assert!(report.tries > 150, "{report:?}");
}
