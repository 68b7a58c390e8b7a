//! Calls through a catalogue: answers, refusals, and runs that are followed.

use std::{future::Future, sync::Arc, time::Duration};

use clap::Parser as _;
use serde_json::{Value, json};
use windlass_engine::{
    Domain, Engine, WeakEngine,
    operation::{Answer, Awaited, CallContext, Operation, OperationInfo, Reply, operation},
    run::RunKind,
};
use windlass_ports::BoxFuture;
use windlass_testkit::{Process, TestWorld, local};
use windlass_types::{Problem, RunId, code};

use super::super::{StackCommand, arguments::Request, call};
use crate::{
    Interrupt,
    cli::{Cli, Command},
    dispatch::Failure,
    host::Opened,
    output::{Captured, Mode},
    session::{Report, Session},
};

/// Operations of the same names as the real ones, with answers that a test can distinguish.
struct Pretend;

impl Domain for Pretend {
    fn kinds(&self, _engine: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        Vec::new()
    }

    fn operations(&self, engine: &Engine) -> Vec<Arc<dyn Operation>> {
        let plain = |verb: &str| {
            operation("stack", verb)
                .describe("x", "x")
                .input_schema(json!({ "type": "object" }))
        };
        vec![
            plain("sql").handle(|_, input: Value| async move {
                Ok(json!({ "rows": [{ "asked": input["sql"] }], "fields": ["asked"], "message": "1 row" }))
            }),
            plain("delete").handle(|_, input: Value| async move {
                if input["confirm"] != json!(true) {
                    return Err(Problem::new(&code::CONFIRM_REQUIRED, "Deleting shop-dev removes data")
                        .with("stackName", "shop-dev")
                        .next("repeat with confirm=true"));
                }
                Ok(json!({ "stackName": "shop-dev", "message": "deleted" }))
            }),
            plain("deploy").by(|info| Deferring { info, engine: engine.clone() }),
        ]
    }
}

/// Answers with a ticket for a run that exists already; its answer is there once the run rests.
struct Deferring {
    info: OperationInfo,
    engine: Engine,
}

impl Operation for Deferring {
    fn info(&self) -> &OperationInfo {
        &self.info
    }

    fn call<'a>(
        &'a self,
        _context: CallContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Reply, Problem>> {
        Box::pin(async move {
            let run: RunId = input["configPath"].as_str().unwrap().parse().unwrap();
            let timeout = input["timeoutSeconds"].as_u64().unwrap_or(3600);
            let timeout = std::time::Duration::from_secs(timeout);
            Ok(Reply::Await(Awaited::run(run, timeout)))
        })
    }

    fn settled<'a>(
        &'a self,
        _context: CallContext,
        ticket: &'a str,
    ) -> BoxFuture<'a, Result<Option<Answer>, Problem>> {
        Box::pin(async move {
            let record = self.engine.store.run(&ticket.parse().unwrap()).await?;
            let rests = record.is_some_and(|record| record.state.is_final());
            Ok(rests.then(|| Answer::plain(json!({ "runId": ticket }))))
        })
    }
}

fn world() -> TestWorld {
    let domains = || -> Vec<Box<dyn Domain>> {
        vec![
            Box::new(Pretend),
            windlass_demo::domain(),
            windlass_runs::domain(),
        ]
    };
    TestWorld::new(domains).with_threads()
}

fn session(process: &Process, captured: &Captured, interrupt: Interrupt) -> Session {
    let opened = Opened {
        catalogue: process.catalogue().clone(),
        principal: local(),
    };
    Session::new(opened, &captured.printer, interrupt)
}

fn command(words: &[&str]) -> StackCommand {
    let line = ["windlass", "stack"]
        .into_iter()
        .chain(words.iter().copied());
    match Cli::try_parse_from(line).unwrap().command {
        Command::Stack(command) => *command.0,
        other => panic!("{other:?}"),
    }
}

async fn played<T>(world: &TestWorld, work: impl Future<Output = T>) -> T {
    world.clock.run(work).await
}

async fn run(captured: &Captured, words: &[&str]) -> Result<Report, Failure> {
    let world = world();
    let session = session(&world.process(), captured, Interrupt::never());
    played(&world, Box::pin(command(words).run(&session))).await
}

#[tokio::test]
async fn an_answer_is_shown_and_reported() {
    let captured = Captured::new(Mode::Human);
    let report = run(&captured, &["sql", "db", "select 1"])
        .await
        .ok()
        .unwrap();
    assert_eq!(captured.stdout(), "asked\nselect 1\n");
    assert_eq!(captured.stderr(), "1 row\n");
    assert_eq!(report.message, "1 row");
    assert_eq!(report.data["fields"], json!(["asked"]));
}

#[tokio::test]
async fn without_a_terminal_the_missing_flag_is_named() {
    for mode in [Mode::Human, Mode::Json, Mode::Agent] {
        let captured = Captured::new(mode);
        let words = ["delete", "--project-name", "shop", "--stage", "dev"];
        let failure = run(&captured, &words).await.err().unwrap();
        assert_eq!(failure.problem.code().name, "CONFIRM_REQUIRED");
        assert_eq!(failure.problem.next_actions(), ["repeat with --yes"]);
        assert_eq!(captured.stdout(), "");
        let yes: Vec<&str> = words.into_iter().chain(["--yes"]).collect();
        let report = run(&captured, &yes).await.ok().unwrap();
        assert_eq!(report.message, "deleted");
    }
}

/// A run that another caller created and no process drives yet.
async fn started(session: &Session, directory: &std::path::Path, pause_ms: u64) -> String {
    let input = json!({ "dir": directory, "files": { "a.txt": "1" }, "pause_ms": pause_ms });
    let planned = session
        .call("demo.plan", input.clone())
        .await
        .unwrap()
        .output;
    let mut input = input;
    input["confirm_token"] = planned["confirm_token"].clone();
    input["yes"] = json!(true);
    let applied = session.call("demo.apply", input).await.unwrap();
    applied.run_id.unwrap().to_string()
}

fn deploy(run: &str, timeout: u64) -> Request {
    Request {
        operation: "stack.deploy",
        input: json!({ "configPath": run, "timeoutSeconds": timeout }),
    }
}

#[tokio::test]
async fn a_run_is_driven_to_its_end_and_then_answers() {
    let (world, directory) = (world(), tempfile::tempdir().unwrap());
    let captured = Captured::new(Mode::Agent);
    let session = session(&world.process(), &captured, Interrupt::never());
    let work = async {
        let run = started(&session, directory.path(), 0).await;
        let answer = call::call(&session, deploy(&run, 60)).await.unwrap();
        assert_eq!(answer, json!({ "runId": run }));
    };
    played(&world, work).await;
    assert!(directory.path().join("a.txt").exists());
    assert_eq!(
        captured.stdout(),
        "",
        "steps of the run are not part of the stream"
    );
}

#[tokio::test]
async fn an_interrupted_command_names_its_run() {
    let (world, directory) = (world(), tempfile::tempdir().unwrap());
    let captured = Captured::new(Mode::Agent);
    let (raise, interrupt) = Interrupt::manual();
    let session = session(&world.process(), &captured, interrupt);
    let work = async {
        let run = started(&session, directory.path(), 3_600_000).await;
        let engine = session.engine();
        let later = async {
            let moment = engine.now().after(Duration::from_secs(5));
            engine.clock.sleep_until(moment).await;
            raise();
        };
        let (followed, ()) = tokio::join!(call::call(&session, deploy(&run, 7200)), later);
        (run, followed.unwrap_err())
    };
    let (run, problem) = played(&world, work).await;
    assert_eq!(problem.code().name, "INTERRUPTED");
    assert_eq!(problem.details()["reason"], "interrupted");
    assert_eq!(problem.details()["runId"], json!(run));
}

#[tokio::test]
async fn what_takes_too_long_times_out_and_continues() {
    let (world, directory) = (world(), tempfile::tempdir().unwrap());
    let captured = Captured::new(Mode::Agent);
    let session = session(&world.process(), &captured, Interrupt::never());
    let work = async {
        let run = started(&session, directory.path(), 3_600_000).await;
        let problem = call::call(&session, deploy(&run, 5)).await.unwrap_err();
        let id = run.parse().unwrap();
        let left = session
            .engine()
            .visible_run(session.principal(), &id)
            .await
            .unwrap();
        (problem, left.state)
    };
    let (problem, state) = played(&world, work).await;
    assert_eq!(problem.code().name, "TIMEOUT");
    assert!(problem.details().contains_key("runId"), "{problem:?}");
    assert!(!state.is_final(), "{state:?}");
}
