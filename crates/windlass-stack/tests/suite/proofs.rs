//! The proofs every run kind must pass, for the kinds of stacks.
//!
//! In addition to what the proofs compare, every end must satisfy this: no operation of
//! CloudFormation was begun twice, no change set waits to be executed, no stack is there for a
//! change set only.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_cfn_double::Moment;
use windlass_testkit::proofs::{
    ProofCase, ProofWorld, Script, cancelled_anywhere_unwinds, fails_anywhere_unwinds,
    killed_at_every_write_resumes, twice_is_once,
};
use windlass_types::RunState;

use super::picture;
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
    prove_case(&case(kind, arguments, Consent::None, ground), least);
}

fn prove_case(case: &ProofCase, least: Tried) {
    twice_is_once(case);
    let steps = fails_anywhere_unwinds(case);
    let in_time = cancelled_anywhere_unwinds(case);
    let report = killed_at_every_write_resumes(case);
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
    prove("stack.preview", arguments, Ground::edited(), (3, 10, 20));
}

#[test]
fn a_first_deploy_holds() {
    let ground = Ground::new();
    prove("stack.deploy", json!({}), ground, (15, 40, 60));
}

#[test]
fn an_update_holds() {
    prove("stack.deploy", json!({}), Ground::edited(), (15, 35, 55));
}

#[test]
fn a_deploy_of_files_alone_holds() {
    let ground = Ground::new().deployed();
    ground.file("files/index.txt", "two\n");
    ground.file("files/more.txt", "more\n");
    prove("stack.deploy", json!({}), ground, (14, 35, 50));
}

/// The protection of a database is lifted for the plan that was confirmed, and comes back. A
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

/// The failed stack is deleted and created again, each once.
#[test]
fn a_recreation_holds() {
    let ground = Ground::of(QUEUE);
    ground
        .control()
        .fail_resource("JobsQueue", Moment::Create, "the queue is not well");
    let record = ground.past("stack.deploy", json!({}));
    assert_eq!(record.state, RunState::Failed);
    let case = case("stack.deploy", json!({}), Consent::Preview, ground);
    prove_case(&case, (17, 35, 55));
}

#[test]
fn a_new_secret_holds() {
    prove(
        "stack.secret_create",
        secret(json!({})),
        Ground::new(),
        (1, 0, 8),
    );
}

/// One that waits for its deletion is restored, and the result says so however often the run is
/// interrupted.
#[test]
fn a_new_version_of_a_secret_holds() {
    let ground = Ground::new();
    for kind in ["stack.secret_create", "stack.secret_delete"] {
        let record = ground.past(kind, secret(json!({})));
        assert_eq!(record.state, RunState::Completed, "{:?}", record.problem);
    }
    let forced = secret(json!({ "forceUpdate": true }));
    let record = ground.copy().past("stack.secret_create", forced.clone());
    assert_eq!(record.output.unwrap()["restored"], true);
    prove("stack.secret_create", forced, ground, (2, 1, 10));
}

#[test]
fn a_deletion_of_a_secret_holds() {
    let ground = Ground::new();
    ground.past("stack.secret_create", secret(json!({})));
    prove("stack.secret_delete", secret(json!({})), ground, (2, 1, 8));
}

/// A run that comes back without its value says so, unless the value had arrived in AWS.
#[test]
fn a_secret_without_its_value_is_interrupted() {
    let ground = Ground::new();
    let mut lost = ground.job(secret(json!({})), false, Value::Null);
    lost["slot"] = json!("of a process that is gone");
    let record = ground.past_of("stack.secret_create", lost);
    assert_eq!(record.state, RunState::Failed);
    let problem = record.problem.unwrap();
    assert_eq!(problem.details()["reason"], "interrupted");
    assert_eq!(problem.next_actions(), ["run the command again"]);
    assert_eq!(ground.control().state()["secrets"], json!([]));
}

/// The value dies with the process: whether it had arrived decides how the run ends.
#[test]
fn a_secret_is_found_where_it_had_arrived() {
    let mut ends = Vec::new();
    for write in 1..=4 {
        let mut ground = Ground::new();
        let record = ground.killed_before(write, "stack.secret_create", secret(json!({})));
        let made = ground.control().state()["secrets"]
            .as_array()
            .unwrap()
            .len();
        let result = match (record.output, record.problem) {
            (Some(output), _) => output["versionId"].to_string(),
            (None, problem) => problem.unwrap().details()["reason"].to_string(),
        };
        ends.push(picture::plain(format!(
            "{:?} {made} {result}",
            record.state
        )));
    }
    // Before it begins, before its intent is on record, before its outcome is, before its end is.
    insta::assert_snapshot!(ends.join("\n"), @r#"
    Failed 0 "interrupted"
    Failed 0 "interrupted"
    Completed 1 "windlass-RUN"
    Completed 1 "windlass-RUN"
    "#);
}

fn secret(more: Value) -> Value {
    let mut all = json!({ "secretName": "key", "region": "eu-west-1" });
    let members = all.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    all
}

#[test]
fn an_earlier_version_holds() {
    let ground = Ground::edited().deployed();
    prove("stack.rollback", json!({}), ground, (9, 20, 35));
}

#[test]
fn rolling_back_a_failed_update_holds() {
    let ground = Ground::edited();
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
