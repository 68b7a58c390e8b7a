//! The proofs over the run kinds that Windlass ships.

use std::{path::Path, sync::Arc};

use serde_json::{Value, json};
use windlass_demo::{DemoPlan, FileChange};
use windlass_engine::Domain;
use windlass_ports::BoxFuture;
use windlass_testkit::{
    Process,
    program::{self, Ledger, Op, ProgramDomain},
    proofs::{
        DirectoryWorld, ProofCase, ProofWorld, Script, cancelled_anywhere_unwinds,
        fails_anywhere_unwinds, killed_anywhere_resumes, twice_is_once,
    },
};
use windlass_types::Digest;

fn prove(case: &ProofCase) {
    twice_is_once(case);
    assert!(fails_anywhere_unwinds(case) > 1);
    cancelled_anywhere_unwinds(case);
    let report = killed_anywhere_resumes(case);
    assert_eq!(report.deaths, report.tries, "{report:?}");
}

fn demo_plan(directory: &Path) -> DemoPlan {
    let directory = directory.canonicalize().unwrap();
    let change = |path: &str, before: Option<&str>, after: Option<&str>| FileChange {
        path: path.to_owned(),
        before: before.map(|text| Digest::of(text.as_bytes())),
        after: after.map(str::to_owned),
    };
    DemoPlan {
        dir: directory.display().to_string(),
        files: vec![
            change("new.txt", None, Some("hello\n")),
            change("sub/kept.txt", Some("old\n"), Some("new\n")),
            change("dropped.txt", Some("bye\n"), None),
        ],
        pause_ms: 60_000,
        approval: true,
        note: true,
        webhook_url: Some("https://hook.test/demo".to_owned()),
        webhook_secret: None,
    }
}

const FILES: &[(&str, &str)] = &[
    ("sub/kept.txt", "old\n"),
    ("dropped.txt", "bye\n"),
    ("other.txt", "nobody's business\n"),
];

fn demo_domains() -> Vec<Box<dyn Domain>> {
    vec![windlass_demo::domain()]
}

#[test]
fn the_demo_holds() {
    let world = DirectoryWorld::factory(demo_domains, FILES, |directory| {
        serde_json::to_value(demo_plan(directory)).unwrap()
    });
    prove(&ProofCase {
        kind: "demo".to_owned(),
        world,
        script: Script::approve_all(),
    });
}

/// A ledger that a completed run has changed; taking that run back is the run to prove.
struct Rollback {
    ledger: Ledger,
}

impl ProofWorld for Rollback {
    fn domains(&self) -> Vec<Box<dyn Domain>> {
        vec![
            windlass_runs::domain(),
            Box::new(ProgramDomain::new(&self.ledger)),
        ]
    }

    fn input(&self) -> Value {
        Value::Null
    }

    fn prepare<'a>(&'a self, process: &'a mut Process) -> BoxFuture<'a, Value> {
        Box::pin(async move {
            process.drive().await;
            let child = Op::child("sub", [Op::set("b", 2)]);
            let program = program::input(&[Op::set("a", 1), child, Op::set("c", 3)]);
            let record = process.run(program::KIND, program).await;
            json!({ "run_id": record.run_id, "last_seq": record.last_seq })
        })
    }

    fn state_hash(&self) -> Digest {
        self.ledger.hash()
    }
}

#[test]
fn rolling_back_a_run_holds() {
    prove(&ProofCase {
        kind: "runs.rollback".to_owned(),
        world: Box::new(|| {
            Arc::new(Rollback {
                ledger: Ledger::new(),
            }) as Arc<dyn ProofWorld>
        }),
        script: Script::approve_all(),
    });
}
