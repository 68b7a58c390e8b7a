//! What steps keep, say and pay for from inside their work.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use windlass_engine::{
    Domain,
    run::{Step, StepContext, WaitRequest},
};
use windlass_testkit::{
    Process, TestWorld, local,
    program::{FnDomain, Ledger, fn_kind},
    proofs::{
        ProofCase, ProofWorld, Script, cancelled_anywhere_unwinds, fails_anywhere_unwinds,
        killed_anywhere_resumes, twice_is_once,
    },
};
use windlass_types::{
    Digest, LogLevel, NewArtifact, Passing, Problem, RunId, RunState, Visibility,
};

use super::support::{ended, story, world_of};

fn report(text: &str) -> NewArtifact {
    NewArtifact {
        name: "report".to_owned(),
        content_type: "text/plain".to_owned(),
        bytes: text.as_bytes().to_vec(),
        visibility: Visibility::Private,
        expires_at: None,
    }
}

/// Everything a step can do, with two paid calls between.
async fn everything(step: &StepContext<'_>, ledger: &Ledger) -> Result<i64, Problem> {
    step.emit("begun", json!({ "n": 1 }))?;
    step.progress(0, Some(2), "asking");
    let mut sum = 0;
    for value in [3, 4] {
        sum += step
            .paid("ask", &value, async |attempt| {
                ledger.set(&attempt.idempotency_key, &format!("paid{value}"), value);
                Ok(value)
            })
            .await?;
        step.emit("asked", json!({ "n": value }))?;
    }
    step.store_artifact(report(&format!("sum {sum}"))).await?;
    step.text("all done ");
    step.log(LogLevel::Info, "done");
    Ok(sum)
}

/// A run of a pure, a paid and an effect step.
struct Telling {
    ledger: Ledger,
}

impl ProofWorld for Telling {
    fn domains(&self) -> Vec<Box<dyn Domain>> {
        let ledger = self.ledger.clone();
        let kind = fn_kind("telling", move |context, _| {
            let ledger = ledger.clone();
            Box::pin(async move {
                let sum = Step::pure("tell")
                    .run(context, async |step| everything(&step, &ledger).await)
                    .await?;
                let more: i64 = Step::paid("pay")
                    .run(context, async |step| {
                        step.emit("paid", json!(null))?;
                        Ok(ledger.set(step.idempotency_key(), "pay", 5).unwrap_or(5))
                    })
                    .await?;
                let undone = ledger.clone();
                let before: Option<i64> = Step::effect("set", "world")
                    .undo(move |before: Option<i64>| {
                        undone.restore("set", sum, before);
                        std::future::ready(Ok(()))
                    })
                    .run(context, async |step| {
                        step.emit("set", json!(sum))?;
                        step.store_artifact(report("again")).await?;
                        Ok(ledger.set(step.idempotency_key(), "set", sum))
                    })
                    .await?;
                Ok(json!([sum, more, before]))
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
        // What was paid for is no state of the world: nothing takes it back.
        Digest::of_json(&json!(self.ledger.get("set")))
    }
}

fn case() -> ProofCase {
    ProofCase {
        kind: "telling".to_owned(),
        world: Box::new(|| {
            Arc::new(Telling {
                ledger: Ledger::new(),
            }) as Arc<dyn ProofWorld>
        }),
        script: Script::approve_all(),
    }
}

#[test]
fn what_steps_keep_and_pay_for_is_there_once_whatever_happens() {
    twice_is_once(&case());
    fails_anywhere_unwinds(&case());
    cancelled_anywhere_unwinds(&case());
    let report = killed_anywhere_resumes(&case());
    assert!(report.deaths > 20, "{report:?}");
}

#[tokio::test]
async fn what_a_step_keeps_is_on_record_with_its_outcome() {
    let telling = Telling {
        ledger: Ledger::new(),
    };
    let world = TestWorld::new(move || telling.domains());
    let process = world.driving().await;
    let record = process.run("telling", json!(null)).await;
    assert_eq!(record.state, RunState::Completed);
    insta::assert_snapshot!(story(&process, &record.run_id), @"
    run.created
    run.started
    step.started tell/ask
    step.completed tell/ask
    step.started tell/ask#2
    step.completed tell/ask#2
    event.begun tell/begun
    event.asked tell/asked
    event.asked tell/asked#2
    artifact.stored tell/artifact:report
    step.completed tell
    step.started pay
    event.paid pay/paid
    step.completed pay
    step.started set
    event.set set/set
    artifact.stored set/artifact:report
    step.completed set
    run.completed
    ");
}

/// A run whose step says something each time it is told to, and ends when told so.
struct Speaking {
    world: TestWorld,
    say: tokio::sync::mpsc::UnboundedSender<Option<Passing>>,
    begun: tokio::sync::mpsc::UnboundedReceiver<u32>,
}

fn speaking() -> Speaking {
    let (say, told) = tokio::sync::mpsc::unbounded_channel::<Option<Passing>>();
    let told = Arc::new(tokio::sync::Mutex::new(told));
    let (began, begun) = tokio::sync::mpsc::unbounded_channel();
    let tries = Arc::new(Mutex::new(0));
    let kind = fn_kind("speaking", move |context, _| {
        let (told, began, tries) = (Arc::clone(&told), began.clone(), Arc::clone(&tries));
        Box::pin(async move {
            Step::pure("speak")
                .run(context, async |step| {
                    step.emit("spoke", json!(null))?;
                    let number = {
                        let mut tries = tries.lock().unwrap();
                        *tries += 1;
                        *tries
                    };
                    began.send(number).unwrap();
                    while let Some(Some(what)) = told.lock().await.recv().await {
                        match what {
                            Passing::Progress {
                                done,
                                total,
                                message,
                            } => step.progress(done, total, message),
                            Passing::Text { text, stream: None } => step.text(text),
                            Passing::Text {
                                text,
                                stream: Some(stream),
                            } => step.text_of(&stream, text),
                            Passing::Again { message } => step.again(message),
                            Passing::Log { level, message } => step.log(level, message),
                        }
                    }
                    Ok(())
                })
                .await?;
            Ok(json!(null))
        })
    });
    Speaking {
        world: world_of(vec![kind], Vec::new()),
        say,
        begun,
    }
}

fn text(text: &str) -> Passing {
    Passing::Text {
        text: text.to_owned(),
        stream: None,
    }
}

fn progress(done: u64, message: &str) -> Passing {
    Passing::Progress {
        done,
        total: Some(1_000),
        message: message.to_owned(),
    }
}

#[tokio::test]
async fn a_step_that_speaks_and_dies_leaves_nothing_behind() {
    let Speaking {
        world,
        say,
        mut begun,
    } = speaking();
    let process = world.driving().await;
    let run_id = process.start("speaking", json!(null)).await;
    assert_eq!(begun.recv().await, Some(1));
    process.kill();
    let process = world.driving().await;
    assert_eq!(begun.recv().await, Some(2));
    say.send(None).unwrap();
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
    insta::assert_snapshot!(story(&process, &run_id), @"
    run.created
    run.started
    run.started
    event.spoke speak/spoke
    step.completed speak
    run.completed
    ");
}

#[tokio::test]
async fn watchers_hear_what_passes_and_it_is_nowhere_afterwards() {
    let Speaking {
        world,
        say,
        mut begun,
    } = speaking();
    let process = world.driving().await;
    let run_id = process.start("speaking", json!(null)).await;
    let mut watching = process.engine.notices_of(&run_id);
    let mut beside = process.engine.notices_of(&run_id);
    begun.recv().await.unwrap();
    // Short pieces wait for more, and pieces end between words.
    say.send(Some(text("the sec"))).unwrap();
    say.send(Some(text("ret is\nou"))).unwrap();
    say.send(Some(progress(1, "half way"))).unwrap();
    for watcher in [&mut watching, &mut beside] {
        let mut heard = Vec::new();
        for _ in 0..3 {
            let notice = watcher.next().await;
            assert_eq!((&notice.run_id, notice.step.as_str()), (&run_id, "speak"));
            heard.push(notice.what.clone());
        }
        assert_eq!(
            heard,
            [text("the secret is\n"), text("ou"), progress(1, "half way")]
        );
    }
    say.send(None).unwrap();
    ended(&process, &run_id).await;
    let export = process.engine.export_run(&local(), &run_id).await.unwrap();
    let export = serde_json::to_string(&export).unwrap();
    assert!(export.contains("speak/spoke"));
    for word in ["secret", "half way", "progress"] {
        assert!(!export.contains(word), "{word}");
    }
}

#[tokio::test]
async fn a_slow_watcher_loses_notices_and_delays_nobody() {
    let Speaking {
        world,
        say,
        mut begun,
    } = speaking();
    let process = world.driving().await;
    let run_id = process.start("speaking", json!(null)).await;
    let mut slow = process.engine.notices_of(&run_id);
    begun.recv().await.unwrap();
    for done in 0..1_000 {
        say.send(Some(progress(done, "on"))).unwrap();
    }
    say.send(None).unwrap();
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
    let first = slow.next().await;
    let Passing::Progress { done, .. } = first.what else {
        panic!("{first:?}");
    };
    assert!(done > 500, "the oldest were lost, not {done}");
}

#[tokio::test]
async fn secrets_do_not_pass() {
    let Speaking {
        world,
        say,
        mut begun,
    } = speaking();
    let process = world.driving().await;
    let secret = "correct-horse-battery".to_owned();
    assert!(process.engine.redactor.register(&secret.into()));
    let run_id = process.start("speaking", json!(null)).await;
    let mut watching = process.engine.notices_of(&run_id);
    begun.recv().await.unwrap();
    say.send(Some(text("it is correct-hor"))).unwrap();
    say.send(Some(text("se-battery \n"))).unwrap();
    say.send(Some(progress(1, "uses correct-horse-battery")))
        .unwrap();
    for _ in 0..2 {
        let notice = watching.next().await;
        let shown = serde_json::to_string(&*notice).unwrap();
        assert!(!shown.contains("horse"), "{shown}");
    }
}

#[tokio::test]
async fn an_effect_sees_that_its_run_is_cancelled() {
    let (began, mut begun) = tokio::sync::mpsc::unbounded_channel();
    let kind = fn_kind("patient", move |context, _| {
        let began = began.clone();
        Box::pin(async move {
            let seen: bool = Step::effect("wait", "world")
                .undo(|_: bool| async { Ok(()) })
                .run(context, async |step| {
                    began.send(step.is_interrupted()).unwrap();
                    step.interrupted().await;
                    Ok(step.is_interrupted())
                })
                .await?;
            context.sleep("after", Duration::from_secs(1)).await?;
            Ok(json!(seen))
        })
    });
    let world = world_of(vec![kind], Vec::new());
    let process = world.driving().await;
    let run_id = process.start("patient", json!(null)).await;
    assert_eq!(begun.recv().await, Some(false));
    cancel(&process, &run_id).await;
    let record = ended(&process, &run_id).await;
    assert_eq!(
        (record.state, record.residue),
        (RunState::Cancelled, vec![])
    );
}

pub(super) async fn cancel(process: &windlass_testkit::Process, run_id: &RunId) {
    let principal = local();
    let cancelled = process.engine.cancel(&principal, run_id, None);
    cancelled.await.unwrap();
}

#[tokio::test]
async fn a_step_takes_what_it_is_told_while_it_works() {
    // Each step waits for a word and takes all there are; the wait behind them gets the next one.
    let kind = fn_kind("listening", |context, _| {
        Box::pin(async move {
            let mut told: Vec<Value> = Vec::new();
            for name in ["first", "second"] {
                let words: Vec<Value> = Step::pure(name)
                    .run(context, async |step| {
                        step.signalled("word").await;
                        let taken = step.take_signals("word")?;
                        assert_eq!(step.take_signals("word")?, []);
                        Ok(taken.into_iter().map(|signal| signal.payload).collect())
                    })
                    .await?;
                told.push(json!(words));
            }
            let last = context.wait_for(WaitRequest::new("last", "word")).await?;
            told.extend(last.map(|signal| signal.payload));
            Ok(json!(told))
        })
    });
    let world = world_of(vec![kind], Vec::new());
    let mut process = world.driving().await;
    let run_id = process.start("listening", json!(null)).await;
    for (count, word) in ["one", "two"].into_iter().enumerate() {
        process
            .engine
            .send_signal(&local(), &run_id, "word", json!(word))
            .await
            .unwrap();
        while completed(&process, &run_id) <= count {
            tokio::task::yield_now().await;
        }
        // What was taken stays taken in the next life.
        process.kill();
        process = world.driving().await;
    }
    process
        .engine
        .send_signal(&local(), &run_id, "word", json!("three"))
        .await
        .unwrap();
    let record = ended(&process, &run_id).await;
    assert_eq!(record.output, Some(json!([["one"], ["two"], "three"])));
}

/// How many steps of a run are done.
fn completed(process: &Process, run_id: &RunId) -> usize {
    let types = process.event_types(run_id);
    types
        .iter()
        .filter(|kind| *kind == "step.completed")
        .count()
}
