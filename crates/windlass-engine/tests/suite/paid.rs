//! Paid work: what is known is never paid for again.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use windlass_engine::run::{RetryPolicy, RunError, Step};
use windlass_testkit::{MemoryStore, Moment, Process, program::fn_kind};
use windlass_types::{Body, Problem, RunState, code};

use super::{
    step_context::cancel,
    support::{bodies, ended, world_of},
};

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
    let create = |client: Process| async move { client.start("paying", json!(null)).await };
    let run_id = world.life(world.disk.open_again(), create).unwrap();
    let live = |store: &MemoryStore| {
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
    let mut known = HashSet::new();
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
