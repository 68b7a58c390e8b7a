//! The proofs hold for a sound kind and find what is wrong with unsound ones.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::{Value, json};
use windlass_engine::{Domain, run::Step};
use windlass_testkit::{
    program::{self, FnDomain, Ledger, Op, ProgramDomain, fn_kind},
    proofs::{
        ProofCase, ProofWorld, Reaction, Script, cancelled_anywhere_unwinds,
        fails_anywhere_unwinds, killed_anywhere_resumes, twice_is_once,
    },
};
use windlass_types::Digest;

struct ProgramWorld {
    ledger: Ledger,
    program: Vec<Op>,
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

fn case(program: Vec<Op>) -> ProofCase {
    ProofCase {
        kind: program::KIND.to_owned(),
        world: Box::new(move || {
            Arc::new(ProgramWorld {
                ledger: Ledger::new(),
                program: program.clone(),
            }) as Arc<dyn ProofWorld>
        }),
        script: Script::new(|_, on| match on.what.as_str() {
            "approval" => Reaction::Approve,
            _ => Reaction::Signal(json!({ "said": "go" })),
        }),
    }
}

fn everything() -> Vec<Op> {
    vec![
        Op::Count {
            name: "count".to_owned(),
        },
        Op::set("a", 1),
        Op::Emit {
            name: "progress".to_owned(),
            text: "half".to_owned(),
        },
        Op::sleep("nap", 3600),
        Op::approval("go on"),
        Op::child(
            "sub",
            [Op::set("b", 2), Op::sleep("nap", 5), Op::set("c", 3)],
        ),
        Op::Artifact {
            name: "report".to_owned(),
            text: "done".to_owned(),
        },
        Op::wait("go", None),
        Op::Flaky {
            cell: "d".to_owned(),
            value: 4,
            refusals: 2,
            tries: 9,
        },
        Op::Notify {
            name: "tell".to_owned(),
            url: "https://hook.test/".to_owned(),
        },
        Op::set("a", 5),
    ]
}

#[test]
fn a_sound_kind_passes_all() {
    let case = case(everything());
    twice_is_once(&case);
    assert_eq!(fails_anywhere_unwinds(&case), 7 + 1);
    assert!(cancelled_anywhere_unwinds(&case) > 20);
    let report = killed_anywhere_resumes(&case);
    assert!(report.writes > 40, "{report:?}");
    assert_eq!(report.deaths, report.tries, "{report:?}");
    assert_eq!(report.tries, 3 * report.writes, "{report:?}");
}

/// A world of one counter and a kind that breaks a rule.
struct Broken {
    counter: Arc<AtomicU64>,
    undoes: bool,
}

impl ProofWorld for Broken {
    fn domains(&self) -> Vec<Box<dyn Domain>> {
        let (counter, undoes) = (Arc::clone(&self.counter), self.undoes);
        let kind = fn_kind("broken", move |context, _| {
            let counter = Arc::clone(&counter);
            Box::pin(async move {
                let undone = Arc::clone(&counter);
                let step = Step::effect("add", "counter").undo(move |(): ()| {
                    undone.fetch_sub(u64::from(undoes), Ordering::SeqCst);
                    std::future::ready(Ok(()))
                });
                // Adds again when it is repeated: an effect that cannot recognise itself.
                step.run(context, move |_| {
                    counter.fetch_add(1, Ordering::SeqCst);
                    std::future::ready(Ok(()))
                })
                .await?;
                Step::pure("after")
                    .run(context, |_| std::future::ready(Ok(())))
                    .await?;
                Ok(Value::Null)
            })
        });
        vec![Box::new(FnDomain {
            kinds: vec![kind],
            operations: Vec::new(),
        })]
    }

    fn input(&self) -> Value {
        Value::Null
    }

    fn state_hash(&self) -> Digest {
        Digest::of(&self.counter.load(Ordering::SeqCst).to_be_bytes())
    }
}

#[test]
fn unsound_kinds_are_detected() {
    let broken = |undoes: bool| ProofCase {
        kind: "broken".to_owned(),
        world: Box::new(move || {
            Arc::new(Broken {
                counter: Arc::default(),
                undoes,
            }) as Arc<dyn ProofWorld>
        }),
        script: Script::approve_all(),
    };
    let fails = |proof: &dyn Fn()| catch_unwind(AssertUnwindSafe(proof)).is_err();
    assert!(
        fails(&|| twice_is_once(&broken(true))),
        "an effect that adds up when repeated"
    );
    assert!(
        fails(&|| _ = killed_anywhere_resumes(&broken(true))),
        "an effect that adds up when resumed"
    );
    assert!(
        fails(&|| _ = fails_anywhere_unwinds(&broken(false))),
        "an undo that does not undo"
    );
}
