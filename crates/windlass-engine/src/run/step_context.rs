//! What a step's work sees: one try of the step and what it can say and keep meanwhile.
//!
//! What is on record (events, artifacts) is committed together with the step's outcome, so a
//! step that dies half-way leaves none of it and a step that is done never repeats it. What
//! passes (progress, text, log lines) goes out at once and is never on record.

use std::{future::Future, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use windlass_ports::BoxFuture;
use windlass_types::{
    ArtifactRef, NewArtifact, Problem,
    passing::{LogLevel, Passing},
};

use super::Signal;

/// One try of a step.
#[derive(Clone, Debug)]
pub struct StepAttempt {
    /// The same on every try of this step of this run: pass it to whatever can recognise it.
    pub idempotency_key: String,
    /// Which try this is, from 1. A number above 1 means that the effect may have happened.
    pub attempt: u32,
}

/// Paid work inside a step, as the engine takes it.
pub struct PaidRequest {
    /// Its name within the step.
    pub name: String,
    /// What it works on; a different input on replay holds the run.
    pub input: Value,
}

/// Does paid work.
pub type PaidFn<'a> =
    Box<dyn FnMut(StepAttempt) -> BoxFuture<'a, Result<Value, Problem>> + Send + 'a>;

/// What an engine does for a step under way. Domains use `StepContext`.
pub trait StepCalls: Send + Sync {
    /// Keeps bytes under a name of the run, with the step's outcome.
    fn store_artifact(&self, artifact: NewArtifact) -> BoxFuture<'_, Result<ArtifactRef, Problem>>;

    /// Puts an event on record with the step's outcome.
    fn emit(&self, name: &str, data: Value) -> Result<(), Problem>;

    /// Tells current watchers.
    fn pass(&self, what: Passing);

    /// Whether the run has to stop.
    fn is_interrupted(&self) -> bool;

    /// Resolves when the run has to stop.
    fn interrupted(&self) -> BoxFuture<'_, ()>;

    /// Takes the signals of a name that nothing has taken yet, oldest first.
    fn take_signals(&self, name: &str) -> Result<Vec<Signal>, Problem>;

    /// Resolves once there is such a signal.
    fn signalled<'b>(&'b self, name: &'b str) -> BoxFuture<'b, ()>;

    /// Does paid work once, or returns what it gave before.
    fn pay<'a>(
        &'a self,
        request: PaidRequest,
        work: PaidFn<'a>,
    ) -> BoxFuture<'a, Result<Value, Problem>>;
}

/// The context of a step's work.
#[derive(Clone)]
pub struct StepContext<'a> {
    attempt: StepAttempt,
    calls: Arc<dyn StepCalls + 'a>,
}

impl<'a> StepContext<'a> {
    /// For engines: the context of one try.
    pub fn new(attempt: StepAttempt, calls: Arc<dyn StepCalls + 'a>) -> Self {
        Self { attempt, calls }
    }

    /// The same on every try of this step of this run: pass it to whatever can recognise it.
    pub fn idempotency_key(&self) -> &str {
        &self.attempt.idempotency_key
    }

    /// Which try this is, from 1. A number above 1 means that the effect may have happened.
    pub const fn attempt(&self) -> u32 {
        self.attempt.attempt
    }

    /// Keeps bytes under a name of the run. On record once the step has ended for good.
    pub async fn store_artifact(&self, artifact: NewArtifact) -> Result<ArtifactRef, Problem> {
        self.calls.store_artifact(artifact).await
    }

    /// Puts an event on record once the step has ended for good.
    pub fn emit(&self, name: &str, data: Value) -> Result<(), Problem> {
        self.calls.emit(name, data)
    }

    /// Shows a line to current watchers.
    pub fn log(&self, level: LogLevel, message: impl Into<String>) {
        let message = message.into();
        self.calls.pass(Passing::Log { level, message });
    }

    /// Shows current watchers how far the step is.
    pub fn progress(&self, done: u64, total: Option<u64>, message: impl Into<String>) {
        let message = message.into();
        self.calls.pass(Passing::Progress {
            done,
            total,
            message,
        });
    }

    /// Shows a piece of text to current watchers.
    pub fn text(&self, piece: impl Into<String>) {
        let text = piece.into();
        self.calls.pass(Passing::Text { text, stream: None });
    }

    /// The same of another text of the step: its thoughts, the output of a call.
    pub fn text_of(&self, stream: &str, piece: impl Into<String>) {
        let text = piece.into();
        let stream = Some(stream.to_owned());
        self.calls.pass(Passing::Text { text, stream });
    }

    /// Tells current watchers that the step's texts begin again, and why.
    pub fn again(&self, message: impl Into<String>) {
        let message = message.into();
        self.calls.pass(Passing::Again { message });
    }

    /// Whether the run was cancelled or the process stops: long work should come to an end.
    pub fn is_interrupted(&self) -> bool {
        self.calls.is_interrupted()
    }

    /// Resolves when the run was cancelled or the process stops.
    pub async fn interrupted(&self) {
        self.calls.interrupted().await;
    }

    /// Takes the signals of a name that nothing has taken yet, oldest first, for work that is told
    /// something while it is under way. They are on record as taken together with the step's
    /// outcome: what the step learned from them belongs into its output.
    pub fn take_signals(&self, name: &str) -> Result<Vec<Signal>, Problem> {
        self.calls.take_signals(name)
    }

    /// Resolves once there is a signal of that name that nothing has taken yet.
    pub async fn signalled(&self, name: &str) {
        self.calls.signalled(name).await;
    }

    /// Does slow or expensive work inside the step. Its result is on record as soon as it is
    /// known: when the step is done again, after a kill or a failure, it is not paid for again.
    /// A failure is not kept, so another try of the step tries it again.
    pub async fn paid<'b, I, T, F, Fut>(
        &'b self,
        name: impl Into<String>,
        input: &I,
        mut work: F,
    ) -> Result<T, Problem>
    where
        I: Serialize + ?Sized,
        T: Serialize + DeserializeOwned,
        F: FnMut(StepAttempt) -> Fut + Send + 'b,
        Fut: Future<Output = Result<T, Problem>> + Send + 'b,
    {
        let input =
            serde_json::to_value(input).map_err(|error| Problem::internal("step input", error))?;
        let request = PaidRequest {
            name: name.into(),
            input,
        };
        let work: PaidFn<'b> = Box::new(move |attempt| {
            let result = work(attempt);
            Box::pin(async move {
                serde_json::to_value(result.await?)
                    .map_err(|error| Problem::internal("step output", error))
            })
        });
        let output = self.calls.pay(request, work).await?;
        serde_json::from_value(output)
            .map_err(|error| Problem::internal("recorded step output", error))
    }
}
