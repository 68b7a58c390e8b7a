//! Executes a program over a run context.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::yield_now;
use windlass_engine::run::{
    ChildRequest, RetryPolicy, RunContext, RunError, SIGNAL_APPROVAL, Step, WaitRequest,
    WebhookRequest,
};
use windlass_ports::BoxFuture;
use windlass_types::{EffectClass, NewArtifact, Problem, code};

use super::{KIND, Ledger, Op, input};

/// The results of every call, in order.
pub(super) fn interpret<'a>(
    context: &'a dyn RunContext,
    ledger: &'a Ledger,
    program: Vec<Op>,
) -> BoxFuture<'a, Result<Vec<Value>, RunError>> {
    Box::pin(async move {
        let mut results = Vec::new();
        for op in program {
            let result = perform(context, ledger, op, results.len()).await?;
            results.push(result);
        }
        Ok(results)
    })
}

async fn perform(
    context: &dyn RunContext,
    ledger: &Ledger,
    op: Op,
    so_far: usize,
) -> Result<Value, RunError> {
    match op {
        Op::Count { name } => {
            Step::pure(name)
                .input(&so_far)
                .run(context, async |_| {
                    yield_now().await;
                    Ok(json!(so_far))
                })
                .await
        }
        Op::Set { cell, value } => set(context, ledger, Setting::new(cell, value)).await,
        Op::Keep { cell, value } => {
            set(
                context,
                ledger,
                Setting {
                    undo: Undo::None,
                    ..Setting::new(cell, value)
                },
            )
            .await
        }
        Op::Stuck { cell } => {
            set(
                context,
                ledger,
                Setting {
                    undo: Undo::Fails,
                    ..Setting::new(cell, 1)
                },
            )
            .await
        }
        Op::PanicInUndo { cell } => {
            set(
                context,
                ledger,
                Setting {
                    undo: Undo::Panics,
                    ..Setting::new(cell, 1)
                },
            )
            .await
        }
        Op::PanicIn { cell } => {
            set(
                context,
                ledger,
                Setting {
                    panics: true,
                    ..Setting::new(cell, 1)
                },
            )
            .await
        }
        Op::Flaky {
            cell,
            value,
            refusals,
            tries,
        } => {
            set(
                context,
                ledger,
                Setting {
                    refusals,
                    tries,
                    ..Setting::new(cell, value)
                },
            )
            .await
        }
        Op::Sleep { name, seconds } => {
            context.sleep(&name, Duration::from_secs(seconds)).await?;
            Ok(Value::Null)
        }
        Op::Wait { signal, seconds } => {
            let timeout = seconds.map(Duration::from_secs);
            let request = WaitRequest {
                timeout,
                ..WaitRequest::new(signal.clone(), signal)
            };
            Ok(context
                .wait_for(request)
                .await?
                .map_or(Value::Null, |signal| signal.payload))
        }
        Op::Approval { name } => {
            let request = WaitRequest {
                prompt: Some(format!("{name}?")),
                ..WaitRequest::new(name, SIGNAL_APPROVAL)
            };
            let signal = context.wait_for(request).await?;
            signal
                .ok_or(Problem::new(&code::TIMEOUT, "no answer arrived in time"))?
                .require_approval()?;
            Ok(json!(true))
        }
        Op::Emit { name, text } => {
            context.emit(&name, json!({ "text": text })).await?;
            Ok(Value::Null)
        }
        Op::Artifact { name, text } => {
            let stored = context
                .put_artifact(NewArtifact::text(name, "text/plain", text))
                .await?;
            Ok(json!(stored.sha256))
        }
        Op::Notify { name, url } => notify(context, name, url, None).await,
        Op::NotifySigned {
            name,
            url,
            secret_name,
        } => notify(context, name, url, Some(secret_name)).await,
        Op::Child { name, program } => {
            let request = ChildRequest {
                title: format!("child {name}"),
                operation: "ledger.child".to_owned(),
                targets: vec![name.clone()],
                effect: EffectClass::Write,
                name,
                kind: KIND.to_owned(),
                input: input(&program),
            };
            context.child(request).await
        }
        Op::Both { left, right } => {
            let (left, right) = futures::future::try_join(
                interpret(context, ledger, left),
                interpret(context, ledger, right),
            )
            .await?;
            Ok(json!([left, right]))
        }
        Op::Fail => Err(Problem::new(&code::STEP_FAILED, "the program fails here").into()),
        Op::Panic => panic!("the program panics here"),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Undo {
    Restores,
    Fails,
    Panics,
    None,
}

struct Setting {
    cell: String,
    value: i64,
    refusals: u32,
    tries: u32,
    undo: Undo,
    panics: bool,
}

impl Setting {
    fn new(cell: String, value: i64) -> Self {
        Self {
            cell,
            value,
            refusals: 0,
            tries: 1,
            undo: Undo::Restores,
            panics: false,
        }
    }
}

async fn set(
    context: &dyn RunContext,
    ledger: &Ledger,
    setting: Setting,
) -> Result<Value, RunError> {
    let Setting {
        cell,
        value,
        refusals,
        tries,
        undo,
        panics,
    } = setting;
    let retry = RetryPolicy {
        max_attempts: tries,
        first_pause: Duration::from_secs(10),
        longest_pause: Duration::from_secs(60),
    };
    let mut step = Step::effect(cell.clone(), cell.clone())
        .input(&value)
        .retry(retry);
    if undo != Undo::None {
        let (ledger, cell) = (ledger.clone(), cell.clone());
        step = step.undo(move |before: Option<i64>| {
            let (ledger, cell) = (ledger.clone(), cell.clone());
            async move {
                yield_now().await;
                match undo {
                    Undo::Fails => {
                        return Err(Problem::new(
                            &code::UNDO_CONFLICT,
                            format!("{cell} cannot be put back"),
                        ));
                    }
                    Undo::Panics => panic!("the undo of {cell} panics"),
                    Undo::Restores | Undo::None => ledger.restore(&cell, value, before),
                }
                yield_now().await;
                Ok(())
            }
        });
    }
    let before: Option<i64> = step
        .run(context, async |step| {
            yield_now().await;
            if ledger.call(step.idempotency_key()) <= refusals {
                return Err(Problem::new(
                    &code::UPSTREAM_ERROR,
                    format!("{cell} refuses for now"),
                ));
            }
            let before = ledger.set(step.idempotency_key(), &cell, value);
            assert!(!panics, "the work on {cell} panics");
            yield_now().await;
            Ok(before)
        })
        .await?;
    Ok(json!(before))
}

async fn notify(
    context: &dyn RunContext,
    name: String,
    url: String,
    secret_name: Option<String>,
) -> Result<Value, RunError> {
    let request = WebhookRequest {
        event: "program.notified".to_owned(),
        body: json!({ "from": name }),
        name,
        url,
        secret_name,
    };
    context.notify(request).await?;
    Ok(Value::Null)
}
