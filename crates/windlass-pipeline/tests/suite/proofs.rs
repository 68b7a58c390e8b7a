//! The proofs every run kind must pass, for a job of all four phases.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_engine::Domain;
use windlass_testkit::proofs::{
    ProofCase, ProofWorld, Script, cancelled_anywhere_unwinds, fails_anywhere_unwinds,
    killed_anywhere_resumes, twice_is_once,
};
use windlass_types::Digest;

use super::world::{SPEC, offline};

/// Jobs change nothing but the store.
struct Nowhere;

impl ProofWorld for Nowhere {
    fn domains(&self) -> Vec<Box<dyn Domain>> {
        vec![offline()]
    }

    fn input(&self) -> Value {
        json!({
            "spec": SPEC,
            "phases": ["strategy", "architecture", "ux", "code"],
            "generator": "offline",
            "webhook_url": "https://receiver.example/hook",
        })
    }

    fn state_hash(&self) -> Digest {
        Digest::ZERO
    }

    fn uses_threads(&self) -> bool {
        true
    }

    /// The addresses in a webhook end when the job's artifacts do, so that they depend on the time;
    /// and how long a job took depends on how often it died.
    fn normalise(&self, text: String) -> String {
        let mut plain = String::new();
        let mut rest = text.as_str();
        while let Some(at) = ["exp=", "sig=", "\"duration_ms\":", "\"timestamp\":\""]
            .iter()
            .filter_map(|mark| rest.find(mark).map(|at| at + mark.len()))
            .min()
        {
            plain.push_str(&rest[..at]);
            let value =
                rest[at..].find(|c: char| !(c.is_ascii_alphanumeric() || "-:.".contains(c)));
            rest = &rest[at + value.unwrap_or(rest.len() - at)..];
        }
        plain.push_str(rest);
        plain
    }
}

fn case() -> ProofCase {
    ProofCase {
        kind: "pipeline".to_owned(),
        world: Box::new(|| Arc::new(Nowhere) as Arc<dyn ProofWorld>),
        script: Script::approve_all(),
    }
}

#[test]
fn twice_is_once_for_a_job() {
    twice_is_once(&case());
}

#[test]
fn a_job_that_fails_anywhere_unwinds() {
    assert_eq!(fails_anywhere_unwinds(&case()), 4);
}

#[test]
fn a_job_that_is_cancelled_anywhere_unwinds() {
    assert!(cancelled_anywhere_unwinds(&case()) > 8);
}

#[test]
fn a_job_that_is_killed_anywhere_ends_the_same() {
    let report = killed_anywhere_resumes(&case());
    assert_eq!(report.deaths, report.tries, "{report:?}");
    assert!(report.tries > 30, "{report:?}");
}
