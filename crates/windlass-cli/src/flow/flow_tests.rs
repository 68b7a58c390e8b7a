//! Whole scenarios on an in-memory disk and clock: plan, confirm, apply, follow, steer.

use std::future::Future;

use serde_json::{Value, json};
use tempfile::TempDir;
use windlass_engine::run::RunView;
use windlass_testkit::{Process, TestWorld, local};
use windlass_types::{Problem, RunState};

use super::{
    ApplyArgs, Asked, ChangeOperations, Channel, SteerArgs, Wanted, apply, approval_wanted,
    find_run, plan, steer,
};
use crate::{
    Interrupt,
    host::Opened,
    output::{Captured, Mode},
    session::{Report, Session},
};

const DEMO: ChangeOperations = ChangeOperations {
    plan: "demo.plan",
    apply: "demo.apply",
};
const STAY: SteerArgs = SteerArgs { detach: false };
const YES: ApplyArgs = ApplyArgs {
    yes: true,
    token: None,
    detach: false,
    idempotency_key: None,
};

/// A world with the demo and the runs domain, a directory, and one process.
struct Scene {
    world: TestWorld,
    directory: TempDir,
}

impl Scene {
    fn new() -> Self {
        let domains = || vec![windlass_demo::domain(), windlass_runs::domain()];
        Self {
            world: TestWorld::new(domains).with_threads(),
            directory: tempfile::tempdir().unwrap(),
        }
    }

    fn input(&self, extra: Value) -> Value {
        let mut input =
            json!({ "dir": self.directory.path(), "files": { "a.txt": "1", "b.txt": "2" } });
        input
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        input
    }

    async fn play<T>(&self, work: impl Future<Output = T>) -> T {
        self.world.clock.run(work).await
    }

    fn has(&self, name: &str) -> bool {
        self.directory.path().join(name).exists()
    }
}

fn session(process: &Process, captured: &Captured) -> Session {
    let opened = Opened {
        catalogue: process.catalogue().clone(),
        principal: local(),
    };
    Session::new(opened, &captured.printer, Interrupt::never())
}

/// Output without what differs from run to run.
fn plain(scene: &Scene, text: &str) -> String {
    let text = text.replace(scene.directory.path().to_str().unwrap(), "DIR");
    let mut shown = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find("run_") {
        let end = rest[start + 4..]
            .find(|letter: char| !letter.is_ascii_hexdigit())
            .map_or(rest.len(), |end| start + 4 + end);
        shown.push_str(&rest[..start]);
        shown.push_str("RUN");
        rest = &rest[end..];
    }
    shown.push_str(rest);
    let lines: Vec<&str> = shown.lines().map(without_duration).collect();
    lines.join("\n")
}

fn without_duration(line: &str) -> &str {
    match line.rsplit_once("  ") {
        Some((text, took)) if took.ends_with(" ms") || took.ends_with(" s") => text,
        _ => line,
    }
}

fn run_of(report: &Report) -> RunView {
    serde_json::from_value(report.data["run"].clone()).unwrap()
}

#[tokio::test]
async fn applying_plans_asks_and_follows_to_the_end() {
    let scene = Scene::new();
    let captured = Captured::new(Mode::Human);
    let session = session(&scene.world.process(), &captured);
    let report = scene
        .play(apply(
            &session,
            DEMO,
            scene.input(json!({ "note": true })),
            &YES,
        ))
        .await
        .unwrap();
    assert_eq!(run_of(&report).state, RunState::Completed);
    assert!(scene.has("a.txt") && scene.has("b.txt") && scene.has("WINDLASS-NOTE.txt"));
    insta::assert_snapshot!(plain(&scene, &captured.stdout()), @"run RUN completed");
    let text = plain(&scene, &captured.stderr());
    let text: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("plan digest"))
        .collect();
    insta::assert_snapshot!(text.join("\n"), @"
    ACTION    TARGET             DETAIL
    + create  a.txt              1 byte
    + create  b.txt              1 byte
    + create  WINDLASS-NOTE.txt  by a child run
    demo.apply on DIR: 3 to create
    policy: allow (policy.toml:2)
    ▸ demo.apply DIR
    · keep a.txt
    ✓ change a.txt
    · keep b.txt
    ✓ change b.txt
    ▸ note: child run RUN (demo.note)
      ▸ note in DIR
      · look
      · keep WINDLASS-NOTE.txt
      ✓ change WINDLASS-NOTE.txt
      ✓ completed
    ✓ note
    · kept report.json (76 B)
    ✓ completed
    hint: windlass runs show RUN
    hint: windlass runs rollback RUN
    ");
}

#[tokio::test]
async fn without_a_yes_and_a_terminal_nothing_happens() {
    let scene = Scene::new();
    let captured = Captured::new(Mode::Human);
    let session = session(&scene.world.process(), &captured);
    let no_answer = ApplyArgs::default();
    let problem = scene
        .play(apply(&session, DEMO, scene.input(json!({})), &no_answer))
        .await
        .unwrap_err();
    assert_eq!(problem.code().name, "CONFIRM_REQUIRED");
    assert!(!scene.has("a.txt"));
}

#[tokio::test]
async fn a_token_applies_once() {
    let scene = Scene::new();
    let captured = Captured::new(Mode::Json);
    let session = session(&scene.world.process(), &captured);
    let input = scene.input(json!({}));
    let planned = scene
        .play(plan(&session, DEMO, input.clone(), "windlass demo apply"))
        .await
        .unwrap();
    let token = planned.data["confirm_token"].as_str().unwrap().to_owned();
    let args = ApplyArgs {
        token: Some(token),
        ..YES
    };
    scene
        .play(apply(&session, DEMO, input.clone(), &args))
        .await
        .unwrap();
    let again = scene
        .play(apply(&session, DEMO, input, &args))
        .await
        .unwrap_err();
    assert_eq!(again.code().name, "CONFIRM_TOKEN_USED");
    assert_eq!(
        (captured.stdout(), captured.stderr()),
        (String::new(), String::new()),
        "machines get no prose"
    );
}

#[tokio::test]
async fn nothing_to_do_starts_no_run() {
    let scene = Scene::new();
    let captured = Captured::new(Mode::Human);
    let session = session(&scene.world.process(), &captured);
    scene
        .play(apply(&session, DEMO, scene.input(json!({})), &YES))
        .await
        .unwrap();
    let report = scene
        .play(apply(&session, DEMO, scene.input(json!({})), &YES))
        .await
        .unwrap();
    assert!(
        report.message.ends_with("nothing to do"),
        "{}",
        report.message
    );
    let runs = session.call("runs.list", json!({})).await.unwrap();
    assert_eq!(runs.output["runs"].as_array().unwrap().len(), 1);
}

async fn stop_at_the_question(scene: &Scene, session: &Session) -> Problem {
    scene
        .play(apply(
            session,
            DEMO,
            scene.input(json!({ "approval": true })),
            &YES,
        ))
        .await
        .unwrap_err()
}

#[tokio::test]
async fn a_run_that_asks_is_answered_and_continues() {
    let scene = Scene::new();
    let captured = Captured::new(Mode::Human);
    let first = session(&scene.world.process(), &captured);
    let problem = stop_at_the_question(&scene, &first).await;
    assert_eq!(
        (problem.code().name, problem.code().exit_code),
        ("APPROVAL_REQUIRED", 4)
    );
    assert!(
        problem.next_actions()[0].starts_with("windlass runs approve run_"),
        "{problem:?}"
    );
    assert!(scene.has("a.txt") && !scene.has("b.txt"), "half is done");
    let run_id = find_run(&first, "latest").await.unwrap();
    let record = first.engine().visible_run(first.principal(), &run_id);
    let asked = Asked::of(&first, &record.await.unwrap()).unwrap();
    let review = Captured::new(Mode::Human);
    asked.show(&session(&scene.world.process(), &review), Channel::Notice);
    let shown = review
        .stderr()
        .replace(&scene.directory.path().display().to_string(), "DIR");
    insta::assert_snapshot!(shown, @r"
    asks to approve: demo.apply on DIR (write)
      + a.txt (1 byte)
      + b.txt (1 byte)
      1 of 2 files are changed. Continue?
    ");
    let problem = approval_wanted(&first, &run_id).await.unwrap().unwrap();
    assert_eq!(problem.code().exit_code, 4, "{problem}");
    assert_eq!(
        problem.next_actions(),
        [format!("windlass runs show {run_id}")]
    );
    // Another command, another process, as it would be on a command line.
    drop(first);
    let second = session(&scene.world.process(), &captured);
    let said = json!({ "reason": "fine" });
    let report = steer(
        &second,
        "runs.approve",
        "latest",
        said,
        &STAY,
        Wanted::Completed,
    );
    let run = run_of(&scene.play(report).await.unwrap());
    assert_eq!((run.state, run.attempts), (RunState::Completed, 2));
    assert!(scene.has("b.txt"));
    assert!(
        captured.stderr().contains("✓ approved by local:ada: fine"),
        "{}",
        captured.stderr()
    );
}

#[tokio::test]
async fn rejecting_and_cancelling_undo_and_count_as_done() {
    for (operation, wanted, state) in [
        ("runs.reject", Wanted::Rejected, RunState::Failed),
        ("runs.cancel", Wanted::Cancelled, RunState::Cancelled),
    ] {
        let scene = Scene::new();
        let captured = Captured::new(Mode::Human);
        let session = session(&scene.world.process(), &captured);
        stop_at_the_question(&scene, &session).await;
        let outcome = steer(&session, operation, "latest", json!({}), &STAY, wanted);
        let run = run_of(&scene.play(outcome).await.unwrap());
        assert_eq!(run.state, state, "{operation}");
        assert!(!scene.has("a.txt"), "{operation} undoes");
    }
}

#[tokio::test]
async fn the_event_stream_ends_with_the_result_that_the_dispatcher_writes() {
    let scene = Scene::new();
    let captured = Captured::new(Mode::Agent);
    let session = session(&scene.world.process(), &captured);
    let report = scene
        .play(apply(&session, DEMO, scene.input(json!({})), &YES))
        .await
        .unwrap();
    session
        .printer
        .ndjson()
        .success(&report.message, report.data);
    let lines: Vec<Value> = captured
        .stdout()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(lines.iter().all(|line| line["v"] == "1.0"));
    let percents: Vec<u64> = lines
        .iter()
        .filter_map(|line| line["pct"].as_u64())
        .collect();
    assert_eq!(percents, [50, 100, 100]);
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["type"], &last["ok"], &last["code"]),
        (&json!("result"), &json!(true), &json!("OK"))
    );
    assert_eq!(last["data"]["run"]["state"], "completed");
}

#[tokio::test]
async fn an_interrupt_leaves_the_run_and_says_how_to_continue() {
    let scene = Scene::new();
    let captured = Captured::new(Mode::Human);
    let process = scene.world.process();
    let (raise, interrupt) = Interrupt::manual();
    let session = Session {
        interrupt,
        ..session(&process, &captured)
    };
    raise();
    let input = scene.input(json!({ "pause_ms": 3_600_000 }));
    let problem = scene
        .play(apply(&session, DEMO, input, &YES))
        .await
        .unwrap_err();
    assert_eq!(problem.code().exit_code, 130);
    let run_id = find_run(&session, "latest").await.unwrap();
    assert_eq!(
        problem.next_actions(),
        [format!("windlass runs resume {run_id}")]
    );
    let record = session
        .engine()
        .visible_run(&local(), &run_id)
        .await
        .unwrap();
    assert!(!record.state.is_final(), "{:?}", record.state);
}

#[tokio::test]
async fn a_detached_run_waits_for_a_driver() {
    let scene = Scene::new();
    let captured = Captured::new(Mode::Human);
    let session = session(&scene.world.process(), &captured);
    let args = ApplyArgs {
        detach: true,
        ..YES
    };
    scene
        .play(apply(&session, DEMO, scene.input(json!({})), &args))
        .await
        .unwrap();
    let run_id = find_run(&session, "latest").await.unwrap();
    assert_eq!(captured.stdout(), format!("{run_id}\n"));
    assert!(
        captured
            .stderr()
            .contains(&format!("hint: windlass runs resume {run_id}"))
    );
    let report = steer(
        &session,
        "runs.resume",
        "latest",
        json!({}),
        &STAY,
        Wanted::Completed,
    );
    assert_eq!(
        run_of(&scene.play(report).await.unwrap()).state,
        RunState::Completed
    );
}
