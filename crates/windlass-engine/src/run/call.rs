//! Calls from runs: a run's code calls an operation of the catalogue as the run's principal,
//! through the gate like any other caller.
//!
//! The call is an effect of the run. A run that it starts is found again by the step's key when
//! the call is repeated after a crash, and is taken back with its caller.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_types::{EffectClass, Problem, RunId, RunState, Surface, code};

use super::{RunContext, RunError, Step};
use crate::{
    Engine, WeakEngine,
    operation::{Awaited, Begun, CallContext, CallRequest, Grant, Pending, Terms},
};

/// How long one look at a started run lasts.
const LOOK: Duration = Duration::from_secs(60);

/// A call of an operation from a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OperationCall {
    /// The name of this call within the run.
    pub name: String,
    /// The operation's name.
    pub operation: String,
    /// Its input.
    pub input: Value,
    /// The directory that the call works in.
    #[serde(default)]
    pub directory: Option<std::path::PathBuf>,
}

/// What the effect of a call left behind.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Called {
    output: Value,
    run_id: Option<RunId>,
    ticket: Option<String>,
}

/// Calls an operation and waits for its answer.
pub async fn call_operation(
    context: &dyn RunContext,
    engine: &WeakEngine,
    call: OperationCall,
) -> Result<Value, RunError> {
    call_granted(context, engine, call, None, Surface::Engine).await
}

/// The same with an approval that was given to exactly this call.
pub(crate) async fn call_granted(
    context: &dyn RunContext,
    engine: &WeakEngine,
    call: OperationCall,
    grant: Option<Grant>,
    surface: Surface,
) -> Result<Value, RunError> {
    let request = CallRequest {
        operation: call.operation.clone(),
        input: call.input.clone(),
        context: CallContext {
            principal: context.principal().clone(),
            surface,
            request_id: format!("{}:{}", context.run_id(), call.name),
            directory: call.directory.clone(),
            terms: Terms {
                grant,
                ..Terms::default()
            },
        },
    };
    let undo_engine = engine.clone();
    let undo_operation = call.operation.clone();
    let called: Called = Step::effect(&call.name, &call.operation)
        .input(&json!({ "operation": call.operation, "input": call.input }))
        .undo(move |called: Called| {
            let (engine, operation) = (undo_engine.upgrade(), undo_operation.clone());
            async move {
                match called.run_id.filter(|_| called.ticket.is_some()) {
                    Some(run_id) => take_back(&engine?, &run_id).await,
                    None => keep_answered(&engine?, &operation),
                }
            }
        })
        .run(context, async |step| {
            let mut request = request.clone();
            request.context.terms.idempotency_key = Some(step.idempotency_key().to_owned());
            let catalogue = engine.upgrade()?.catalogue()?;
            Ok(match catalogue.begin(request).await? {
                Begun::Answered(answer) => Called {
                    output: answer.output,
                    run_id: answer.run_id,
                    ticket: None,
                },
                Begun::Pending(pending) => Called {
                    output: Value::Null,
                    run_id: Some(pending.awaited.run_id),
                    ticket: Some(pending.awaited.ticket),
                },
            })
        })
        .await?;
    let (Some(run_id), Some(ticket)) = (called.run_id, called.ticket) else {
        return Ok(called.output);
    };
    Step::pure(format!("{}: answer", call.name))
        .input(&ticket)
        .run(context, async |_| {
            let catalogue = engine.upgrade()?.catalogue()?;
            loop {
                let awaited = Awaited {
                    run_id: run_id.clone(),
                    ticket: ticket.clone(),
                    timeout: LOOK,
                };
                let pending = Pending::of(&request.operation, awaited);
                let answer = catalogue.wait(pending, request.context.clone()).await;
                match answer {
                    Ok(answer) => return Ok(answer.output),
                    // It goes on, or waits for an approval: so does the caller.
                    Err(problem) if is_open(&engine.upgrade()?, &run_id).await? => {
                        tracing::debug!(%run_id, %problem, "a called run has not ended");
                        engine.upgrade()?.settle_finally(&run_id, LOOK).await?;
                    }
                    Err(problem) => return Err(problem),
                }
            }
        })
        .await
}

async fn is_open(engine: &Engine, run_id: &RunId) -> Result<bool, Problem> {
    let record = engine.store.run(run_id).await?;
    Ok(record.is_some_and(|record| !record.state.is_final() && record.state != RunState::Held))
}

/// An answered call has no run that could be undone: what it changed stays, and is listed.
fn keep_answered(engine: &Engine, operation: &str) -> Result<(), Problem> {
    let catalogue = engine.catalogue()?;
    let effect = catalogue.find(operation).map(|info| info.effect);
    match effect {
        Some(EffectClass::Read) => Ok(()),
        _ => Err(Problem::new(
            &code::ILLEGAL_STATE,
            format!("{operation} has no undo; what it changed stays"),
        )
        .with("operation", operation)),
    }
}

/// Cancels the run that a call started, or rolls it back, and waits until that is done.
async fn take_back(engine: &Engine, run_id: &RunId) -> Result<(), Problem> {
    let gone = || {
        Problem::new(&code::RUN_NOT_FOUND, format!("no run {run_id}"))
            .with("run_id", run_id.as_str())
    };
    loop {
        let record = engine.store.run(run_id).await?.ok_or_else(gone)?;
        match record.state {
            RunState::Completed => engine.request_rollback_of(run_id).await?,
            RunState::Queued | RunState::Running | RunState::Waiting => {
                engine.request_cancel_of(run_id).await?;
            }
            RunState::RolledBack | RunState::Failed | RunState::Cancelled
                if record.residue.is_empty() =>
            {
                return Ok(());
            }
            RunState::Unwinding => {}
            _ => {
                return Err(Problem::new(
                    &code::UNDO_CONFLICT,
                    format!("run {run_id} could not be undone completely"),
                )
                .with("run_id", run_id.as_str())
                .with("residue", json!(record.residue)));
            }
        }
        engine.settle_finally(run_id, LOOK).await?;
    }
}
