//! Steps: the unit that is done once.
//!
//! A *pure* step computes; it is journaled when it is done (one flush), and done again if the
//! process dies before that. An *effect* step touches the world: its intent is journaled before
//! and its outcome after, and it receives an idempotency key that is the same on every try.

use std::{future::Future, time::Duration};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use windlass_ports::BoxFuture;
use windlass_types::Problem;

use super::{RunContext, RunError};

/// How a step relates to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepMode {
    /// Computes only.
    Pure,
    /// Touches the world.
    Effect,
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

/// One try of a step.
#[derive(Clone, Debug)]
pub struct StepAttempt {
    /// The same on every try of this step of this run: pass it to whatever can recognise it.
    pub idempotency_key: String,
    /// Which try this is, from 1. A number above 1 means that the effect may have happened.
    pub attempt: u32,
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
}

type WorkFn = Box<dyn FnMut(StepAttempt) -> BoxFuture<'static, Result<Value, Problem>> + Send>;
type UndoFn = Box<dyn FnMut(Value) -> BoxFuture<'static, Result<(), Problem>> + Send>;

/// What a step does and how it is taken back.
pub struct StepWork {
    /// Does it.
    pub work: WorkFn,
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

    fn new(name: String, mode: StepMode, effect: Option<String>) -> Self {
        let request = StepRequest {
            name,
            input: Value::Null,
            mode,
            retry: RetryPolicy::NEVER,
            effect,
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

    /// Does it.
    pub async fn run<T, F, Fut>(self, context: &dyn RunContext, mut work: F) -> Result<T, RunError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        F: FnMut(StepAttempt) -> Fut + Send + 'static,
        Fut: Future<Output = Result<T, Problem>> + Send + 'static,
    {
        if let Some(problem) = self.broken_input {
            return Err(problem.into());
        }
        let work: WorkFn = Box::new(move |attempt| {
            let result = work(attempt);
            Box::pin(async move {
                serde_json::to_value(result.await?)
                    .map_err(|error| Problem::internal("step output", error))
            })
        });
        let output = context
            .perform(
                self.request,
                StepWork {
                    work,
                    undo: self.undo,
                },
            )
            .await?;
        serde_json::from_value(output)
            .map_err(|error| Problem::internal("recorded step output", error).into())
    }
}
