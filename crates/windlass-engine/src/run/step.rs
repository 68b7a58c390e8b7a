//! Steps: the unit that is done once.
//!
//! A *pure* step computes; it is journaled when it is done (one flush), and done again if the
//! process dies before that. An *effect* step touches the world: its intent is journaled before
//! and its outcome after, and it receives an idempotency key that is the same on every try. A
//! *paid* step is slow or costs money and changes nothing: journaled like an effect, so that a
//! result that is known is never paid for again, but there is nothing to undo.

use std::{future::Future, time::Duration};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use windlass_ports::BoxFuture;
use windlass_types::Problem;

use super::{RunContext, RunError, StepContext};

/// How a step relates to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepMode {
    /// Computes only.
    Pure,
    /// Touches the world.
    Effect,
    /// Costs money or time and leaves nothing behind.
    Paid,
}

/// When a failed step is tried again. Only failures whose code is retryable are.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// How many tries at most.
    pub max_attempts: u32,
    /// The pause after the first failure; doubled each time.
    pub first_pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
}

impl RetryPolicy {
    /// One try.
    pub const NEVER: Self = Self {
        max_attempts: 1,
        first_pause: Duration::ZERO,
        longest_pause: Duration::ZERO,
    };

    /// The pause after the `attempt`-th failure.
    pub fn pause(&self, attempt: u32) -> Duration {
        let factor = 2u32.saturating_pow(attempt.saturating_sub(1));
        self.first_pause
            .saturating_mul(factor)
            .min(self.longest_pause)
    }
}

/// A step, as the context takes it.
pub struct StepRequest {
    /// The name.
    pub name: String,
    /// The input; a different input on replay holds the run.
    pub input: Value,
    /// How it relates to the world.
    pub mode: StepMode,
    /// When it is tried again.
    pub retry: RetryPolicy,
    /// What it changes, for plans of taking it back.
    pub effect: Option<String>,
    /// Whether it fails on a full disk at once instead of waiting for space.
    pub reports_full_disk: bool,
}

/// Does a step; borrows what the run's code owns.
pub type WorkFn<'a> =
    Box<dyn FnMut(StepContext<'a>) -> BoxFuture<'a, Result<Value, Problem>> + Send + 'a>;
/// Takes a step back; begins when the run's code has ended, so there is nothing left to borrow.
pub type UndoFn = Box<dyn FnMut(Value) -> BoxFuture<'static, Result<(), Problem>> + Send>;

/// What a step does and how it is taken back.
pub struct StepWork<'a> {
    /// Does it.
    pub work: WorkFn<'a>,
    /// Takes it back, given what it returned. Doing so twice must be harmless.
    pub undo: Option<UndoFn>,
}

/// A step, the typed way.
pub struct Step {
    request: StepRequest,
    undo: Option<UndoFn>,
    broken_input: Option<Problem>,
}

impl Step {
    /// A computation.
    pub fn pure(name: impl Into<String>) -> Self {
        Self::new(name.into(), StepMode::Pure, None)
    }

    /// A change to `target`.
    pub fn effect(name: impl Into<String>, target: impl Into<String>) -> Self {
        Self::new(name.into(), StepMode::Effect, Some(target.into()))
    }

    /// Something slow or expensive that changes nothing, such as a call of a model.
    pub fn paid(name: impl Into<String>) -> Self {
        Self::new(name.into(), StepMode::Paid, None)
    }

    fn new(name: String, mode: StepMode, effect: Option<String>) -> Self {
        let request = StepRequest {
            name,
            input: Value::Null,
            mode,
            retry: RetryPolicy::NEVER,
            effect,
            reports_full_disk: false,
        };
        Self {
            request,
            undo: None,
            broken_input: None,
        }
    }

    /// What the step works on.
    #[must_use]
    pub fn input<T: Serialize + ?Sized>(mut self, input: &T) -> Self {
        match serde_json::to_value(input) {
            Ok(value) => self.request.input = value,
            Err(error) => self.broken_input = Some(Problem::internal("step input", error)),
        }
        self
    }

    /// When it is tried again.
    #[must_use]
    pub const fn retry(mut self, retry: RetryPolicy) -> Self {
        self.request.retry = retry;
        self
    }

    /// It fails on a full disk at once: its caller has to hear the cause.
    #[must_use]
    pub const fn report_full_disk(mut self) -> Self {
        self.request.reports_full_disk = true;
        self
    }

    /// How it is taken back, given what it returned.
    #[must_use]
    pub fn undo<T, F, Fut>(mut self, mut undo: F) -> Self
    where
        T: DeserializeOwned + Send + 'static,
        F: FnMut(T) -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), Problem>> + Send + 'static,
    {
        self.undo = Some(Box::new(move |output| {
            match serde_json::from_value::<T>(output) {
                Ok(output) => Box::pin(undo(output)),
                Err(error) => {
                    let problem = Problem::internal("recorded step output", error);
                    Box::pin(async move { Err(problem) })
                }
            }
        }));
        self
    }

    /// Does it. The work borrows: `async |step| …` needs no clones of what the code owns.
    pub async fn run<'a, T, F, Fut>(
        self,
        context: &'a dyn RunContext,
        mut work: F,
    ) -> Result<T, RunError>
    where
        T: Serialize + DeserializeOwned,
        F: FnMut(StepContext<'a>) -> Fut + Send + 'a,
        Fut: Future<Output = Result<T, Problem>> + Send + 'a,
    {
        if let Some(problem) = self.broken_input {
            return Err(problem.into());
        }
        let work: WorkFn<'a> = Box::new(move |step| {
            let result = work(step);
            Box::pin(async move {
                serde_json::to_value(result.await?)
                    .map_err(|error| Problem::internal("step output", error))
            })
        });
        let undo = self.undo;
        let output = context
            .perform(self.request, StepWork { work, undo })
            .await?;
        serde_json::from_value(output)
            .map_err(|error| Problem::internal("recorded step output", error).into())
    }
}
