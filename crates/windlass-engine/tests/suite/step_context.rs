//! What steps keep, say and pay for from inside their work.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use windlass_engine::{
    Domain,
    run::{RetryPolicy, RunError, Step, StepContext},
};
use windlass_testkit::{
    Moment, TestWorld, local,
    program::{FnDomain, Ledger, fn_kind},
    proofs::{
        ProofCase, ProofWorld, Script, cancelled_anywhere_unwinds, fails_anywhere_unwinds,
        killed_anywhere_resumes, twice_is_once,
    },
};
use windlass_types::{
    Body, Digest, LogLevel, NewArtifact, Passing, Problem, RunId, RunState, Visibility, code,
};

use super::support::{bodies, ended, story, world_of};

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

/// Paid calls of three steps' worth, counted, killed at every write.
#[test]
fn what_is_known_is_never_paid_for_again() {
    let writes = killed_while_paying(None);
    assert_eq!(writes.calls, [1, 1, 1]);
    let mut deaths = 0;
    for write in 1..=writes.writes {
        for moment in Moment::ALL {
            let paid = killed_while_paying(Some((write, moment)));
            deaths += u32::from(paid.died);
            // At most the one call whose result was not on record is made again.
            let again: u32 = paid.calls.iter().map(|calls| calls - 1).sum();
            assert!(
                again <= 1,
                "{:?} when killed at {write} {moment:?}",
                paid.calls
            );
            assert!(!paid.known_again, "killed at {write} {moment:?}");
        }
    }
    assert!(deaths > 15, "{deaths} deaths");
}

struct Paid {
    calls: Vec<u32>,
    writes: u64,
    died: bool,
    /// Whether a call was begun whose result was on record.
    known_again: bool,
}

fn killed_while_paying(kill: Option<(u64, Moment)>) -> Paid {
    let calls: Arc<[AtomicU32; 3]> = Arc::default();
    let counted = Arc::clone(&calls);
    let kind = fn_kind("paying", move |context, _| {
        let calls = Arc::clone(&counted);
        Box::pin(async move {
            let call = |place: usize| {
                calls[place].fetch_add(1, Ordering::SeqCst);
                std::future::ready(Ok(place))
            };
            let two: [usize; 2] = Step::pure("draft")
                .run(context, async |step| {
                    let first = step.paid("ask", &0, async |_| call(0).await).await?;
                    let second = step.paid("repair", &first, async |_| call(1).await).await?;
                    // Fails once it is paid for; the retry below does not pay again.
                    if step.attempt() == 1 {
                        return Err(Problem::new(&code::UPSTREAM_ERROR, "try again"));
                    }
                    Ok([first, second])
                })
                .await
                .or_else(|error| match error {
                    RunError::Failed(_) => Ok([0, 1]),
                    other => Err(other),
                })?;
            let third: usize = Step::paid("alone")
                .retry(RetryPolicy::NEVER)
                .run(context, async |_| call(2).await)
                .await?;
            Ok(json!([two, third]))
        })
    });
    let world = world_of(vec![kind], Vec::new());
    let create = |client: windlass_testkit::Process| async move {
        client.start("paying", json!(null)).await
    };
    let run_id = world.life(world.disk.open_again(), create).unwrap();
    let live = |store: &windlass_testkit::MemoryStore| {
        world.life(store.clone(), |mut process| {
            let run_id = run_id.clone();
            async move {
                process.drive().await;
                let record = process.end(&run_id).await;
                assert_eq!(record.output, Some(json!([[0, 1], 2])));
            }
        })
    };
    let store = world.disk.open_again();
    if let Some((write, moment)) = kill {
        store.crash_at(write, moment);
    }
    let died = live(&store).is_none();
    if died {
        live(&world.disk.open_again()).unwrap();
    }
    let mut known = std::collections::HashSet::new();
    let mut known_again = false;
    for event in world.disk.journal(&run_id) {
        match Body::decode(&event.event_type, &event.payload).unwrap() {
            Some(Body::StepCompleted(step)) => drop(known.insert(step.key)),
            Some(Body::StepStarted(step)) => known_again |= known.contains(&step.key),
            _ => {}
        }
    }
    Paid {
        calls: calls
            .iter()
            .map(|calls| calls.load(Ordering::SeqCst))
            .collect(),
        writes: store.writes(),
        died,
        known_again,
    }
}

#[tokio::test]
async fn another_try_of_a_step_uses_what_was_paid_for() {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    let kind = fn_kind("retrying", move |context, _| {
        let calls = Arc::clone(&counted);
        Box::pin(async move {
            let retry = RetryPolicy {
                max_attempts: 3,
                first_pause: Duration::from_secs(1),
                longest_pause: Duration::from_secs(1),
            };
            let answer: u32 = Step::pure("draft")
                .retry(retry)
                .run(context, async |step| {
                    step.emit("tried", json!(step.attempt()))?;
                    let call = || async { Ok(calls.fetch_add(1, Ordering::SeqCst)) };
                    let answer = step.paid("ask", &(), async |_| call().await).await?;
                    match step.attempt() {
                        3 => Ok(answer),
                        _ => Err(Problem::new(&code::UPSTREAM_ERROR, "not yet")),
                    }
                })
                .await?;
            Ok(json!(answer))
        })
    });
    let world = world_of(vec![kind], Vec::new());
    let process = world.driving().await;
    let record = process.run("retrying", json!(null)).await;
    assert_eq!(record.output, Some(json!(0)));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    // What the tries that failed said is not on record.
    let tried: Vec<Value> = bodies(&process, &record.run_id)
        .into_iter()
        .filter_map(|body| match body {
            Body::Domain(name, event) if name == "tried" => Some(event.data),
            _ => None,
        })
        .collect();
    assert_eq!(tried, [json!(3)]);
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
                            Passing::Text { text } => step.text(text),
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

#[tokio::test]
async fn paid_work_is_given_up_when_its_run_is_cancelled_and_leaves_no_residue() {
    let (began, mut begun) = tokio::sync::mpsc::unbounded_channel();
    let kind = fn_kind("paying", move |context, input: Value| {
        let began = began.clone();
        Box::pin(async move {
            let forever = || {
                began.send(()).unwrap();
                std::future::pending::<Result<(), Problem>>()
            };
            if input == json!("inside") {
                Step::pure("draft")
                    .run(context, async |step| {
                        step.paid("ask", &(), async |_| forever().await).await
                    })
                    .await?;
            } else {
                Step::paid("alone")
                    .run(context, async |_| forever().await)
                    .await?;
            }
            Ok(json!(null))
        })
    });
    let world = world_of(vec![kind], Vec::new());
    let process = world.driving().await;
    for input in ["inside", "alone"] {
        let run_id = process.start("paying", json!(input)).await;
        begun.recv().await.unwrap();
        cancel(&process, &run_id).await;
        let record = ended(&process, &run_id).await;
        assert_eq!(
            (record.state, record.residue),
            (RunState::Cancelled, vec![]),
            "{input}"
        );
    }
}

async fn cancel(process: &windlass_testkit::Process, run_id: &RunId) {
    let principal = local();
    let cancelled = process.engine.cancel(&principal, run_id, None);
    cancelled.await.unwrap();
}
