//! What a run's code sees: a narrow trait with nothing of the store in it.
//!
//! Each call either answers from the journal or does the thing and journals it, so the same
//! code runs on this engine or on another durable engine that offers the same calls. Names
//! identify calls; a name used twice is numbered in the order of use.

use std::time::Duration;

use serde_json::Value;
use windlass_ports::BoxFuture;
use windlass_types::{
    ApprovalTerms, ArtifactRef, DeliveryId, Digest, EffectClass, NewArtifact, Principal, Problem,
    RunId, Timestamp, code, journal::ChangeSubject,
};

use super::{
    ApprovalDecision,
    step::{StepRequest, StepWork},
};

/// Why a run's code stops early. Always pass it on with `?`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// Something failed; the engine undoes what was done and records the failure.
    #[error(transparent)]
    Failed(#[from] Problem),
    /// The run was cancelled; the engine undoes what was done.
    #[error("the run was cancelled")]
    Cancelled,
    /// The process stops or lost the right to drive; the run goes on later from its journal.
    #[error("the run is suspended")]
    Suspended,
}

/// A wait for a signal.
#[derive(Clone, Debug)]
pub struct WaitRequest {
    /// The name of this wait.
    pub name: String,
    /// The signal waited for.
    pub signal: String,
    /// Another signal that ends the wait as well: a run that may be approved and told to do
    /// something else meanwhile waits for both.
    pub also: Option<String>,
    /// What an approval answers, where the same question is asked by several waits in turn; by
    /// default each wait asks its own.
    pub question: Option<String>,
    /// What a person is asked.
    pub prompt: Option<String>,
    /// The plan an approval must name.
    pub plan_digest: Option<Digest>,
    /// Who may answer an approval.
    pub terms: ApprovalTerms,
    /// The lines of the plan that an approver is shown.
    pub lines: Vec<String>,
    /// How long to wait at most.
    pub timeout: Option<Duration>,
}

impl WaitRequest {
    /// A wait for a signal, for as long as it takes.
    pub fn new(name: impl Into<String>, signal: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            signal: signal.into(),
            also: None,
            question: None,
            prompt: None,
            plan_digest: None,
            terms: ApprovalTerms::default(),
            lines: Vec::new(),
            timeout: None,
        }
    }
}

/// What came.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// Who sent it.
    pub principal: Principal,
    /// What they said.
    pub payload: Value,
}

impl Signal {
    /// Goes on if this is a yes to an approval. What cannot be understood is not a yes.
    pub fn require_approval(&self) -> Result<(), Problem> {
        let decision = serde_json::from_value::<ApprovalDecision>(self.payload.clone()).ok();
        match decision {
            Some(decision) if decision.approved => Ok(()),
            decision => {
                let reason = decision.and_then(|decision| decision.reason);
                let reason = reason.unwrap_or_else(|| "no reason given".to_owned());
                let message = format!("{} refused the approval: {reason}", self.principal);
                Err(Problem::new(&code::APPROVAL_REJECTED, message))
            }
        }
    }
}

/// A child run.
#[derive(Clone, Debug)]
pub struct ChildRequest {
    /// The name of this call.
    pub name: String,
    /// The operation that the child carries out, for the gate.
    pub operation: String,
    /// What it touches.
    pub targets: Vec<String>,
    /// What it does.
    pub effect: EffectClass,
    /// The kind of the child.
    pub kind: String,
    /// Its input.
    pub input: Value,
    /// A short line for lists.
    pub title: String,
}

/// Something to be put on record.
#[derive(Clone, Debug)]
pub enum Entry {
    /// Something for watchers. Unlike with `emit`, the caller says what tells it apart
    /// from all others of the run, so that the order of calls does not matter.
    Event {
        /// What tells it apart.
        key: String,
        /// The event's name.
        name: String,
        /// Its content.
        data: Value,
    },
    /// Content that a step has stored already, under a name of the run.
    Artifact(ArtifactRef),
}

/// A webhook to send.
#[derive(Clone, Debug)]
pub struct WebhookRequest {
    /// The name of this call.
    pub name: String,
    /// Where to.
    pub url: String,
    /// The event's name.
    pub event: String,
    /// The body; serialised once, and those bytes are signed.
    pub body: Value,
    /// The name of the signing secret in the settings.
    pub secret_name: Option<String>,
}

/// The context of a run.
pub trait RunContext: Send + Sync {
    /// The run.
    fn run_id(&self) -> &RunId;

    /// Who asked for it.
    fn principal(&self) -> &Principal;

    /// What the gate admitted when it was created; absent for child runs and older journals.
    fn subject(&self) -> Option<&ChangeSubject>;

    /// When it was created; the same on every execution, unlike a clock.
    fn created_at(&self) -> Timestamp;

    /// Does a step once, or returns what it gave before. See `Step` for the typed way.
    fn perform<'a>(
        &'a self,
        request: StepRequest,
        work: StepWork<'a>,
    ) -> BoxFuture<'a, Result<Value, RunError>>;

    /// Sleeps; a restart does not begin the sleep again.
    fn sleep<'a>(
        &'a self,
        name: &'a str,
        duration: Duration,
    ) -> BoxFuture<'a, Result<(), RunError>>;

    /// Waits for a signal; `None` when the time ran out.
    fn wait_for<'a>(
        &'a self,
        request: WaitRequest,
    ) -> BoxFuture<'a, Result<Option<Signal>, RunError>>;

    /// Makes something known to watchers.
    fn emit<'a>(&'a self, name: &'a str, data: Value) -> BoxFuture<'a, Result<(), RunError>>;

    /// Keeps bytes under a name of the run.
    fn put_artifact<'a>(
        &'a self,
        artifact: NewArtifact,
    ) -> BoxFuture<'a, Result<ArtifactRef, RunError>>;

    /// Puts several things on record in one commit; what the journal has already is left out.
    fn record<'a>(&'a self, entries: Vec<Entry>) -> BoxFuture<'a, Result<(), RunError>>;

    /// How often the run had been taken up again by the time the call of this name (a step or a
    /// wait, whose name is used once) has ended; so far, while it has not ended. The same
    /// on every execution.
    fn resumptions(&self, call: &str) -> u32;

    /// Resolves when the run has to stop: it was cancelled, or the process ends. For code that
    /// waits for something outside that nobody puts on record.
    fn interrupted<'a>(&'a self) -> BoxFuture<'a, RunError>;

    /// Starts another run and waits for its output. Undone by rolling the child back.
    fn child<'a>(&'a self, request: ChildRequest) -> BoxFuture<'a, Result<Value, RunError>>;

    /// Puts a webhook into the outbox; delivered at least once, whatever happens to the run.
    fn notify<'a>(&'a self, request: WebhookRequest)
    -> BoxFuture<'a, Result<DeliveryId, RunError>>;
}
