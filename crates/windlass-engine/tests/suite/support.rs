//! A world with a ledger, and short ways to look at what happened in it.

use std::sync::Arc;

use serde_json::Value;
use windlass_engine::{Domain, operation::Operation, run::RunKind};
use windlass_testkit::{
    Process, TestWorld,
    program::{self, FnDomain, Ledger, Op, ProgramDomain},
};
use windlass_types::{Body, RunId, RunRecord, RunState};

/// A world whose runs are programs over a ledger.
pub(super) struct Scene {
    pub(super) world: TestWorld,
    pub(super) ledger: Ledger,
}

pub(super) fn scene() -> Scene {
    let ledger = Ledger::new();
    let world = TestWorld::new({
        let ledger = ledger.clone();
        move || vec![Box::new(ProgramDomain::new(&ledger)) as Box<dyn Domain>]
    });
    Scene { world, ledger }
}

/// A world with kinds of a test's own.
pub(super) fn world_of(
    kinds: Vec<Arc<dyn RunKind>>,
    operations: Vec<Arc<dyn Operation>>,
) -> TestWorld {
    let domain = FnDomain { kinds, operations };
    TestWorld::new(move || vec![Box::new(domain.clone()) as Box<dyn Domain>])
}

/// Starts a program.
pub(super) async fn start(process: &Process, program: &[Op]) -> RunId {
    process.start(program::KIND, program::input(program)).await
}

/// Starts a program and lets it settle.
pub(super) async fn run(process: &Process, program: &[Op]) -> RunRecord {
    process.run(program::KIND, program::input(program)).await
}

/// The bodies of a run's events.
pub(super) fn bodies(process: &Process, run_id: &RunId) -> Vec<Body> {
    process
        .store
        .journal(run_id)
        .iter()
        .map(|event| {
            Body::decode(&event.event_type, &event.payload)
                .unwrap()
                .unwrap()
        })
        .collect()
}

/// A run's events on one line each: the type, and the key where there is one.
pub(super) fn story(process: &Process, run_id: &RunId) -> String {
    let lines: Vec<String> = process
        .store
        .journal(run_id)
        .iter()
        .map(|event| {
            let payload = event.payload.value();
            let key = payload
                .get("key")
                .or_else(|| payload.get("signal"))
                .and_then(Value::as_str);
            format!("{} {}", event.event_type, key.unwrap_or_default())
                .trim_end()
                .to_owned()
        })
        .collect();
    lines.join("\n")
}

/// The code of a run's failure.
pub(super) fn problem_code(record: &RunRecord) -> &'static str {
    record
        .problem
        .as_ref()
        .map_or("", |problem| problem.code().name)
}

/// Lets the run end.
pub(super) async fn ended(process: &Process, run_id: &RunId) -> RunRecord {
    process.end(run_id).await
}

/// Lets the run reach a wait for a person.
pub(super) async fn waiting(process: &Process, run_id: &RunId) -> RunRecord {
    process.idle().await;
    let record = process.settle(run_id).await;
    assert_eq!(record.state, RunState::Waiting, "{:?}", record.problem);
    record
}
