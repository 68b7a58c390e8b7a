//! The proofs every run kind must pass, for the kinds of stacks.
//!
//! Beside what the proofs compare, every end is held to this: no operation of CloudFormation was
//! begun twice, no change set waits to be executed, no stack is there for a change set only.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_cfn_double::Moment;
use windlass_testkit::proofs::{
    ProofCase, ProofWorld, Script, cancelled_anywhere_unwinds, fails_anywhere_unwinds,
    killed_at_every_write_resumes, twice_is_once,
};
use windlass_types::RunState;

use super::world::{Consent, Ground, StackWorld};

/// How much was tried at least: steps that failed, cancellations that came in time, writes at
/// which a process was killed.
type Tried = (usize, u64, u64);

fn case(kind: &str, arguments: Value, consent: Consent, ground: Ground) -> ProofCase {
    ProofCase {
        kind: kind.to_owned(),
        world: Box::new(move || {
            Arc::new(StackWorld {
                ground: ground.copy(),
                arguments: arguments.clone(),
                consent,
            }) as Arc<dyn ProofWorld>
        }),
        script: Script::approve_all(),
    }
}

/// Proves a run of a kind on a ground that its past has left.
fn prove(kind: &str, arguments: Value, ground: Ground, least: Tried) {
    let case = case(kind, arguments, Consent::None, ground);
    twice_is_once(&case);
    let steps = fails_anywhere_unwinds(&case);
    let in_time = cancelled_anywhere_unwinds(&case);
    let report = killed_at_every_write_resumes(&case);
    assert_eq!(report.deaths, report.tries, "{report:?}");
    let tried = (steps, in_time, report.tries);
    assert!(
        tried.0 >= least.0 && tried.1 >= least.1 && tried.2 >= least.2,
        "{tried:?}"
    );
}

#[test]
fn a_preview_holds() {
    let ground = Ground::new();
    prove("stack.preview", json!({}), ground, (3, 10, 20));
}

#[test]
fn a_preview_of_an_update_holds() {
    let arguments = json!({ "detectDrift": true });
    prove("stack.preview", arguments, edited(), (3, 10, 20));
}

#[test]
fn a_first_deploy_holds() {
    let ground = Ground::new();
    prove("stack.deploy", json!({}), ground, (15, 40, 60));
}

#[test]
fn an_update_holds() {
    prove("stack.deploy", json!({}), edited(), (15, 35, 55));
}

#[test]
fn a_deploy_of_files_alone_holds() {
    let ground = Ground::new().deployed();
    ground.file("files/index.txt", "two\n");
    ground.file("files/more.txt", "more\n");
    prove("stack.deploy", json!({}), ground, (14, 35, 50));
}

/// The protection of a database is lifted for the plan that somebody confirmed, and comes back. A
/// network comes with it, so the proofs that differ from other deploys have to do.
#[test]
fn a_confirmed_loss_holds() {
    let ground = Ground::of(DATABASE).deployed();
    ground.file("stacktape.yml", QUEUE);
    let case = case("stack.deploy", json!({}), Consent::Preview, ground);
    twice_is_once(&case);
    let steps = fails_anywhere_unwinds(&case);
    assert!(steps > 14, "{steps}");
}

#[test]
fn an_earlier_version_holds() {
    let ground = edited().deployed();
    prove("stack.rollback", json!({}), ground, (9, 20, 35));
}

#[test]
fn taking_a_failed_update_back_holds() {
    let ground = edited();
    ground
        .control()
        .fail_resource("JobsQueue", Moment::Update, "the queue is not well");
    let record = ground.past("stack.deploy", json!({ "disableAutoRollback": true }));
    assert_eq!(record.state, RunState::Failed);
    prove("stack.rollback", json!({}), ground, (4, 10, 15));
}

#[test]
fn a_delete_holds() {
    let ground = Ground::new().deployed();
    prove("stack.delete", json!({}), ground, (9, 18, 25));
}

/// A stack whose config has changed since.
fn edited() -> Ground {
    let ground = Ground::new().deployed();
    ground.edit(
        "visibilityTimeoutSeconds: 30",
        "visibilityTimeoutSeconds: 60",
    );
    ground
}

const DATABASE: &str = "
serviceName: shop
resources:
  db:
    type: relational-database
    properties:
      credentials:
        masterUserName: postgres
        masterUserPassword: only-for-tests
      engine:
        type: postgres
        properties:
          version: '16.6'
          primaryInstance:
            instanceSize: db.t4g.micro
";

const QUEUE: &str = "
serviceName: shop
resources:
  jobs:
    type: sqs-queue
";
