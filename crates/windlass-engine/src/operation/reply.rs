//! What an operation gives back: an answer, or something that takes time and how to tell what
//! came of it.
//!
//! An operation does not wait. It names the run that will have the answer; the surface chooses to
//! wait for it, to hand out a task or to poll.

use std::{fmt, time::Duration};

use futures::future::BoxFuture;
use serde_json::Value;
use windlass_policy::WithoutRule;
use windlass_types::{Digest, EffectClass, Problem, RunId, RunRecord, journal::ChangeSubject};

use crate::{access::JobLimit, confirm::ReturnedToken, run::Holds};

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The output, before the envelope.
    pub output: Value,
    /// The run it started or touched; surfaces link to it.
    pub run_id: Option<RunId>,
}

impl Answer {
    /// An answer with no run behind it.
    pub const fn plain(output: Value) -> Self {
        Self {
            output,
            run_id: None,
        }
    }

    /// An answer with a run behind it.
    pub const fn of_run(output: Value, run_id: RunId) -> Self {
        Self {
            output,
            run_id: Some(run_id),
        }
    }
}

/// What a call of an operation gives.
pub enum Reply {
    /// The answer.
    Answer(Answer),
    /// A change that becomes a run, if the gate lets it.
    Propose(Box<ProposedRun>),
    /// A run that is there already has, or will have, the answer.
    Await(Awaited),
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

impl From<ProposedRun> for Reply {
    fn from(proposed: ProposedRun) -> Self {
        Self::Propose(Box::new(proposed))
    }
}

/// What a caller waits for.
#[derive(Clone, Debug)]
pub struct Awaited {
    /// The run.
    pub run_id: RunId,
    /// What `Operation::settled` finds the answer by.
    pub ticket: String,
    /// How long the caller wants to wait.
    pub timeout: Duration,
}

impl Awaited {
    /// The end of a run.
    pub fn run(run_id: RunId, timeout: Duration) -> Self {
        Self {
            ticket: run_id.to_string(),
            run_id,
            timeout,
        }
    }
}

/// When the gate knows enough of a change to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Before the run is created: the plan is known.
    AtStart,
    /// In the run: it makes the plan, and asks with `RunContext::pass_gate`.
    WhenPlanned,
}

/// When the caller has its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerWhen {
    /// As soon as the run exists.
    Created,
    /// When the run has ended or waits for a person; soon, so that a caller who could come back
    /// later is not asked to.
    SettledSoon,
    /// The same, but it may take long.
    Settled,
    /// As soon as the caller's time is over; the answer then says where the run stands.
    Polled,
}

/// Turns the run into the answer, with what only the calling process knows.
pub type Render = Box<dyn FnOnce(RunRecord) -> BoxFuture<'static, Result<Answer, Problem>> + Send>;
/// Called once the run exists.
pub type OnCreated = Box<dyn FnOnce(&RunId) + Send>;
/// Says in the contract's words why there is no run.
pub type Explain = Box<dyn FnOnce(Problem) -> BoxFuture<'static, Problem> + Send>;

/// A run that an operation proposes. Only the gate makes it one.
pub struct ProposedRun {
    /// The code behind it.
    pub kind: String,
    /// A short line for lists.
    pub title: String,
    /// What the code receives.
    pub input: Value,
    /// What it is about: what policy judges and an approver is shown.
    pub subject: ChangeSubject,
    /// The files below its targets that would change: rules that ask or refuse look at them, too.
    pub files: Vec<String>,
    /// The plan.
    pub plan_digest: Option<Digest>,
    /// What is decided where no rule matches, where that differs from the operation's default.
    pub without_rule: Option<WithoutRule>,
    /// When the gate decides.
    pub timing: Timing,
    /// The token that confirmed the plan.
    pub token: Option<ReturnedToken>,
    /// Repeating a call with the same key starts no second run.
    pub idempotency_key: Option<String>,
    /// What that key is bound to; without, the input of the run.
    pub bound_to: Option<Value>,
    /// The id, where a contract prescribes its form; as random as any other.
    pub run_id: Option<RunId>,
    /// What the run has for itself until it ends.
    pub holds: Holds,
    /// Set where it counts among the jobs that a key's tier limits.
    pub job_limit: Option<JobLimit>,
    /// When the caller has its answer.
    pub answer_when: AnswerWhen,
    /// How long the caller wants to wait.
    pub timeout: Duration,
    /// Called once the run exists, before anything waits for it.
    pub on_created: Option<OnCreated>,
    /// Turns the run into the answer; without, `Operation::settled` does.
    pub render: Option<Render>,
    /// Says why there is no run; without, the engine does.
    pub explain: Option<Explain>,
}

impl ProposedRun {
    /// A run of that kind, confirmed by the call, answered when it has settled.
    pub fn new(operation: &str, effect: EffectClass, kind: &str, input: Value) -> Self {
        Self {
            kind: kind.to_owned(),
            title: operation.to_owned(),
            input,
            subject: ChangeSubject {
                operation: operation.to_owned(),
                targets: Vec::new(),
                effect,
                lines: Vec::new(),
                yes: true,
            },
            files: Vec::new(),
            plan_digest: None,
            without_rule: None,
            timing: Timing::AtStart,
            token: None,
            idempotency_key: None,
            bound_to: None,
            run_id: None,
            holds: Holds::default(),
            job_limit: None,
            answer_when: AnswerWhen::Settled,
            timeout: Duration::from_secs(3600),
            on_created: None,
            render: None,
            explain: None,
        }
    }
}

impl fmt::Debug for ProposedRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ProposedRun")
            .field("kind", &self.kind)
            .field("subject", &self.subject)
            .finish_non_exhaustive()
    }
}

/// What became of a call.
pub enum Begun {
    /// It is answered.
    Answered(Answer),
    /// A run has, or will have, the answer.
    Pending(Pending),
}

/// A call whose answer a run will have.
pub struct Pending {
    /// The operation that was called.
    pub operation: String,
    /// What is waited for.
    pub awaited: Awaited,
    /// When the caller has its answer.
    pub answer_when: AnswerWhen,
    pub(crate) render: Option<Render>,
}

impl Pending {
    /// A call whose answer `Operation::settled` finds.
    pub fn of(operation: &str, awaited: Awaited) -> Self {
        Self {
            operation: operation.to_owned(),
            awaited,
            answer_when: AnswerWhen::Settled,
            render: None,
        }
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Pending")
            .field("operation", &self.operation)
            .field("awaited", &self.awaited)
            .finish_non_exhaustive()
    }
}
