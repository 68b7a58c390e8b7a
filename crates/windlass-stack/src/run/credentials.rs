//! Credentials that run out on the way: the run waits for new ones, then does the step again.
//!
//! A step that fails for want of valid credentials changed nothing more than its calls before
//! that, and every call here may be made again: it carries the run's id or finds what it did. So
//! the step is repeated under a name of its own, once the wait is over. Not every answer says that
//! credentials have expired (one to `HEAD` has no room for it), so anyone who fails asks AWS who it
//! is. Following an operation of CloudFormation is no step and waits by itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use windlass_engine::run::{
    ChildRequest, Entry, RunContext, RunError, Signal, StepRequest, StepWork, UndoFn, WaitRequest,
    WebhookRequest, WorkFn,
};
use windlass_ports::BoxFuture;
use windlass_stack_lifecycle::Access;
use windlass_types::{
    ArtifactRef, DeliveryId, NewArtifact, Principal, Problem, RunId, Timestamp, code,
    journal::ChangeSubject,
};

use super::report;
use crate::fault;

/// What a wait for credentials is called.
pub(crate) const CREDENTIALS: &str = "stack.credentials";
/// How long a run waits for renewed credentials before it tries them again, at first
/// and at most.
const FIRST_WAIT: Duration = Duration::from_secs(20);
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// How often a step is tried before the run gives up: about a day. Counted, not timed, so that
/// anyone who replays the run comes to the same end.
const MOST_TRIES: u32 = 300;

/// Waits until new credentials may be there; longer each ten times.
pub(super) async fn wait(
    context: &dyn RunContext,
    message: &str,
    tries: u32,
) -> Result<(), RunError> {
    report::warn(context, "aws", message).await?;
    let timeout = FIRST_WAIT.saturating_mul(1 + tries / 10).min(LONGEST_WAIT);
    let request = WaitRequest {
        prompt: Some(message.to_owned()),
        timeout: Some(timeout),
        ..WaitRequest::new(CREDENTIALS, CREDENTIALS)
    };
    context.wait_for(request).await.map(drop)
}

/// A run's context in which a step outlasts its credentials.
pub(super) struct Patient<'a> {
    pub context: &'a dyn RunContext,
    pub access: Access,
}

fn is_expired(problem: &Problem) -> bool {
    *problem.code() == code::UNAUTHORIZED
        && problem.details().get("reason").and_then(Value::as_str) == Some("credentials_expired")
}

/// The same step under a name of its own.
fn again(request: &StepRequest, tries: u32) -> StepRequest {
    StepRequest {
        name: match tries {
            0 => request.name.clone(),
            tries => format!("{}~{tries}", request.name),
        },
        input: request.input.clone(),
        mode: request.mode,
        retry: request.retry,
        effect: request.effect.clone(),
        reports_full_disk: request.reports_full_disk,
    }
}

/// Whether expired credentials can be behind it. What is wrong with a config, a program or a
/// confirmation is told without asking AWS anything.
fn may_be_expired(problem: &Problem) -> bool {
    let reason = problem.details().get("reason").and_then(Value::as_str);
    [&code::UNAUTHORIZED, &code::UPSTREAM_ERROR].contains(&problem.code())
        || reason == Some("asset_store_unusable")
}

/// The problem, or that of expired credentials where those are behind it.
async fn explained(access: &Access, problem: Problem) -> Problem {
    if is_expired(&problem) || !may_be_expired(&problem) {
        return problem;
    }
    match access.cloud.caller(&access.target).await {
        Err(failure) if failure.is_expired() => fault::problem(failure.into()),
        _ => problem,
    }
}

/// Work that is there for the next try too.
struct SharedWork<'a> {
    work: Arc<Mutex<WorkFn<'a>>>,
    undo: Option<Arc<Mutex<UndoFn>>>,
    access: &'a Access,
}

impl<'a> SharedWork<'a> {
    fn new(work: StepWork<'a>, access: &'a Access) -> Self {
        Self {
            work: Arc::new(Mutex::new(work.work)),
            undo: work.undo.map(|undo| Arc::new(Mutex::new(undo))),
            access,
        }
    }

    fn of_one_try(&self) -> StepWork<'a> {
        let (doing, access) = (Arc::clone(&self.work), self.access);
        let undoing = self.undo.clone();
        StepWork {
            work: Box::new(move |step| {
                let done = locked(&doing)(step);
                Box::pin(async move {
                    match done.await {
                        Ok(output) => Ok(output),
                        Err(problem) => Err(explained(access, problem).await),
                    }
                })
            }),
            undo: undoing.map(|undo| -> UndoFn { Box::new(move |output| locked(&undo)(output)) }),
        }
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunContext for Patient<'_> {
    fn perform<'a>(
        &'a self,
        request: StepRequest,
        work: StepWork<'a>,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        Box::pin(async move {
            let work = SharedWork::new(work, &self.access);
            let mut tries = 0;
            loop {
                let done = self
                    .context
                    .perform(again(&request, tries), work.of_one_try())
                    .await;
                match done {
                    Err(RunError::Failed(problem))
                        if is_expired(&problem) && tries < MOST_TRIES =>
                    {
                        wait(self.context, problem.message(), tries).await?;
                        tries += 1;
                    }
                    done => return done,
                }
            }
        })
    }

    fn run_id(&self) -> &RunId {
        self.context.run_id()
    }

    fn principal(&self) -> &Principal {
        self.context.principal()
    }

    fn subject(&self) -> Option<&ChangeSubject> {
        self.context.subject()
    }

    fn created_at(&self) -> Timestamp {
        self.context.created_at()
    }

    fn sleep<'a>(
        &'a self,
        name: &'a str,
        duration: Duration,
    ) -> BoxFuture<'a, Result<(), RunError>> {
        self.context.sleep(name, duration)
    }

    fn wait_for<'a>(
        &'a self,
        request: WaitRequest,
    ) -> BoxFuture<'a, Result<Option<Signal>, RunError>> {
        self.context.wait_for(request)
    }

    fn emit<'a>(&'a self, name: &'a str, data: Value) -> BoxFuture<'a, Result<(), RunError>> {
        self.context.emit(name, data)
    }

    fn put_artifact<'a>(
        &'a self,
        artifact: NewArtifact,
    ) -> BoxFuture<'a, Result<ArtifactRef, RunError>> {
        self.context.put_artifact(artifact)
    }

    fn record<'a>(&'a self, entries: Vec<Entry>) -> BoxFuture<'a, Result<(), RunError>> {
        self.context.record(entries)
    }

    fn resumptions(&self, call: &str) -> u32 {
        self.context.resumptions(call)
    }

    fn interrupted<'a>(&'a self) -> BoxFuture<'a, RunError> {
        self.context.interrupted()
    }

    fn child<'a>(&'a self, request: ChildRequest) -> BoxFuture<'a, Result<Value, RunError>> {
        self.context.child(request)
    }

    fn notify<'a>(
        &'a self,
        request: WebhookRequest,
    ) -> BoxFuture<'a, Result<DeliveryId, RunError>> {
        self.context.notify(request)
    }
}
