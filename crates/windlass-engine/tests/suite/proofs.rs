//! The proofs every run kind must pass, on programs that use every call of the context.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_engine::Domain;
use windlass_testkit::{
    program::{self, Ledger, Op, ProgramDomain},
    proofs::{
        ProofCase, ProofWorld, Reaction, Script, cancelled_anywhere_unwinds,
        fails_anywhere_unwinds, killed_anywhere_resumes, twice_is_once,
    },
};
use windlass_types::Digest;

/// A ledger with something in it, and a program to be run over it.
pub(super) struct ProgramWorld {
    ledger: Ledger,
    program: Vec<Op>,
}

impl ProgramWorld {
    pub(super) fn new(program: Vec<Op>) -> Self {
        let ledger = Ledger::new();
        ledger.set("before", "a", 100);
        Self { ledger, program }
    }
}

impl ProofWorld for ProgramWorld {
    fn domains(&self) -> Vec<Box<dyn Domain>> {
        vec![Box::new(ProgramDomain::new(&self.ledger))]
    }

    fn input(&self) -> Value {
        program::input(&self.program)
    }

    fn state_hash(&self) -> Digest {
        self.ledger.hash()
    }

    fn effects(&self) -> Vec<String> {
        self.ledger.changes()
    }
}

/// Answers every approval with yes and every other signal with a greeting.
pub(super) fn case(program: Vec<Op>) -> ProofCase {
    ProofCase {
        kind: program::KIND.to_owned(),
        world: Box::new(move || {
            Arc::new(ProgramWorld::new(program.clone())) as Arc<dyn ProofWorld>
        }),
        script: Script::new(|_, on| match on.what.as_str() {
            "approval" => Reaction::Approve,
            _ => Reaction::Signal(json!({ "said": on.what })),
        }),
    }
}

fn everything() -> Vec<Op> {
    vec![
        Op::Count {
            name: "count".to_owned(),
        },
        Op::set("a", 1),
        Op::set("a", 2),
        Op::Emit {
            name: "progress".to_owned(),
            text: "half".to_owned(),
        },
        Op::sleep("nap", 3600),
        Op::approval("go on"),
        Op::Both {
            left: vec![Op::set("left", 1), Op::sleep("left nap", 7)],
            right: vec![Op::wait("right", None), Op::set("right", 1)],
        },
        Op::child(
            "sub",
            [
                Op::set("b", 2),
                Op::child("deeper", [Op::set("c", 3)]),
                Op::sleep("nap", 5),
            ],
        ),
        Op::Artifact {
            name: "report".to_owned(),
            text: "done".to_owned(),
        },
        Op::Flaky {
            cell: "d".to_owned(),
            value: 4,
            refusals: 2,
            tries: 20,
        },
        Op::Notify {
            name: "tell".to_owned(),
            url: "https://hook.test/".to_owned(),
        },
        Op::wait("late", Some(60)),
    ]
}

/// A short program whose last calls decide how it ends.
fn ending_in(last: &[Op]) -> ProofCase {
    let mut program = vec![
        Op::set("a", 1),
        Op::child("sub", [Op::set("b", 2), Op::sleep("nap", 5)]),
        Op::Both {
            left: vec![Op::set("left", 1)],
            right: vec![Op::sleep("right", 5), Op::set("right", 1)],
        },
    ];
    program.extend_from_slice(last);
    case(program)
}

#[test]
fn twice_is_once_for_every_call() {
    twice_is_once(&case(everything()));
}

#[test]
fn a_failure_anywhere_unwinds() {
    assert_eq!(fails_anywhere_unwinds(&case(everything())), 10);
}

#[test]
fn a_cancellation_anywhere_unwinds() {
    assert!(cancelled_anywhere_unwinds(&case(everything())) > 40);
}

#[test]
fn a_death_anywhere_is_survived() {
    let report = killed_anywhere_resumes(&case(everything()));
    assert!(report.writes > 60, "{report:?}");
    assert_eq!(
        (report.tries, report.deaths),
        (3 * report.writes, 3 * report.writes)
    );
}

#[test]
fn a_death_anywhere_in_a_run_that_ends_badly_is_survived() {
    let stuck = Op::Stuck {
        cell: "stuck".to_owned(),
    };
    let kept = Op::Keep {
        cell: "kept".to_owned(),
        value: 1,
    };
    let failing_child = Op::child("failing", [Op::set("c", 1), stuck.clone(), Op::Fail]);
    for last in [
        vec![Op::Fail],
        vec![Op::Panic],
        vec![stuck, kept, Op::Fail],
        vec![failing_child],
    ] {
        killed_anywhere_resumes(&ending_in(&last));
    }
}

#[test]
fn a_death_anywhere_in_a_rejected_run_is_survived() {
    let mut rejected = case(everything());
    rejected.script = Script::new(|_, on| match on.what.as_str() {
        "approval" => Reaction::Reject,
        _ => Reaction::Nothing,
    });
    killed_anywhere_resumes(&rejected);
}

#[test]
fn a_death_anywhere_beside_a_child_under_way_is_survived() {
    let child = Op::child(
        "sub",
        [Op::set("c", 1), Op::sleep("long", 3600), Op::set("d", 1)],
    );
    let program = vec![Op::Both {
        left: vec![Op::set("l", 1), Op::sleep("short", 5), Op::Fail],
        right: vec![child],
    }];
    killed_anywhere_resumes(&case(program));
}
