//! Creating a run: the first event of a journal, with its conditions, in one commit.

use windlass_ports::{CommitError, Expect, Quota, entropy::random};
use windlass_text::visible;
use windlass_types::{
    Digest, Problem, RunId, SpanId, Timestamp, TokenId, TraceId, code,
    event::SpanIds,
    journal::{ApprovalGate, ChangeSubject, OnHeld, ParentRef, RunCreated},
};

use crate::{Engine, engine::commit_problem, operation::CallContext};

/// A run to be created. Only the gate creates runs for callers; see `confirm::gate`.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// The code behind it.
    pub kind: String,
    /// A short line for lists.
    pub title: String,
    /// Who asks.
    pub context: CallContext,
    /// What the code receives.
    pub input: serde_json::Value,
    /// The confirmed plan.
    pub plan_digest: Option<Digest>,
    /// The token to redeem.
    pub confirm_token: Option<TokenId>,
    /// Policy's question and its answer.
    pub approval: Option<ApprovalGate>,
    /// What the gate admitted.
    pub subject: Option<ChangeSubject>,
    /// Repeating a call with the same key starts no second run.
    pub idempotency_key: Option<String>,
    /// What that key is bound to; without, the input.
    pub bound_to: Option<serde_json::Value>,
    /// The id, where a contract prescribes its form; as random as any other.
    pub run_id: Option<RunId>,
    /// What the run has for itself until it ends.
    pub holds: Holds,
}

/// What a run has for itself: one unfinished run per name, decided by the store in the commit
/// that creates the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    /// The names, such as `database:eu-west-1/shop-prod`.
    pub names: Vec<String>,
    /// What happens where another run has one of them.
    pub on_held: OnHeld,
}

/// Why there is no run.
pub(crate) enum NotCreated {
    /// There are as many already as there may be.
    OverQuota {
        /// What is used up.
        quota: Quota,
        /// When the oldest run it counts was created.
        oldest: Timestamp,
    },
    /// Anything else.
    Failed(Problem),
}

impl NotCreated {
    /// What a caller is told who is not limited by a tier.
    pub(crate) fn into_problem(self) -> Problem {
        match self {
            Self::Failed(problem) => problem,
            Self::OverQuota { quota, oldest } => {
                commit_problem(CommitError::OverQuota { quota, oldest })
            }
        }
    }
}

impl From<Problem> for NotCreated {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}

impl Engine {
    /// Creates a run, or finds the one that the same idempotency key created from the same
    /// input. Durable when it returns; executed by whichever driver takes it up first.
    pub(crate) async fn create_run(&self, new: NewRun) -> Result<RunId, NotCreated> {
        self.create_expecting(new, Expect::New).await
    }

    /// Creates a run without asking the gate: for tests and benchmarks of the engine itself. The
    /// tidy check refuses it everywhere else.
    #[doc(hidden)]
    pub async fn create_ungated(&self, new: NewRun) -> Result<RunId, Problem> {
        self.create_run(new).await.map_err(NotCreated::into_problem)
    }

    /// The same if these quotas leave room for one more run of its principal and kind.
    pub(crate) async fn create_within(
        &self,
        new: NewRun,
        quotas: Vec<Quota>,
    ) -> Result<RunId, NotCreated> {
        self.create_expecting(new, Expect::NewWithin(quotas)).await
    }

    async fn create_expecting(&self, new: NewRun, expect: Expect) -> Result<RunId, NotCreated> {
        if self.kinds().get(&new.kind).is_none() {
            return Err(Problem::internal(
                "run kind",
                format!("no code is registered for {:?}", new.kind),
            )
            .into());
        }
        let run_id = match new.run_id {
            Some(run_id) => run_id,
            None => RunId::from_random(random(&*self.entropy)),
        };
        let config_hash = config_hash(&new.kind, new.bound_to.as_ref().unwrap_or(&new.input));
        let trace = new.context.terms.trace;
        let created = RunCreated {
            kind: new.kind,
            principal: new.context.principal,
            surface: new.context.surface,
            parent: None,
            trace_id: trace.map_or_else(
                || TraceId::from_bytes(random(&*self.entropy)),
                |trace| trace.trace_id,
            ),
            idempotency_key: new.idempotency_key,
            config_hash,
            input: new.input,
            plan_digest: new.plan_digest,
            confirm_token: new.confirm_token,
            approval: new.approval,
            title: new.title,
            subject: new.subject,
            holds: new.holds.names,
            on_held: new.holds.on_held,
        };
        let parent = trace.map(|trace| trace.span_id);
        self.commit_created(run_id, created, expect, parent).await
    }

    /// Creates a child run; the same parent and key find the same child.
    pub(crate) async fn create_child(
        &self,
        run_id: RunId,
        created: RunCreated,
        parent: ParentRef,
    ) -> Result<RunId, CommitError> {
        let created = RunCreated {
            parent: Some(parent),
            ..shown(created)
        };
        let spans = SpanIds {
            span_id: self.new_span(),
            parent_span_id: None,
        };
        match self
            .append(&run_id, Expect::New, vec![created.into()], spans, None)
            .await
        {
            // The parent died between creating the child and journaling that it did.
            Err(CommitError::Unexpected { state: Some(_), .. }) | Ok(_) => Ok(run_id),
            Err(error) => Err(error),
        }
    }

    async fn commit_created(
        &self,
        run_id: RunId,
        created: RunCreated,
        expect: Expect,
        parent_span_id: Option<SpanId>,
    ) -> Result<RunId, NotCreated> {
        let created = shown(created);
        let config_hash = created.config_hash;
        let spans = SpanIds {
            span_id: self.new_span(),
            parent_span_id,
        };
        match self
            .append(&run_id, expect, vec![created.into()], spans, None)
            .await
        {
            Ok(_) => Ok(run_id),
            Err(CommitError::IdempotencyTaken {
                run_id,
                config_hash: taken,
            }) if taken == config_hash => {
                self.own_runs().note(&run_id);
                Ok(run_id)
            }
            Err(CommitError::Unexpected { .. }) => {
                Err(Problem::new(&code::BUSY, "the run id is taken; try again").into())
            }
            Err(CommitError::OverQuota { quota, oldest }) => {
                Err(NotCreated::OverQuota { quota, oldest })
            }
            Err(CommitError::Store(error)) => {
                let problem = Problem::from(error);
                // A commit that failed when it was flushed may be stored nevertheless.
                Err(match self.store.run(&run_id).await {
                    Ok(Some(_)) => problem
                        .with("run_id", run_id.as_str())
                        .next(format!("windlass runs show {run_id}")),
                    _ => problem,
                }
                .into())
            }
            Err(error) => Err(commit_problem(error).into()),
        }
    }
}

/// With what an approver is shown written so that nothing in it is hidden.
fn shown(mut created: RunCreated) -> RunCreated {
    created.title = visible(&created.title).into_owned();
    if let Some(subject) = &mut created.subject {
        for text in subject.targets.iter_mut().chain(&mut subject.lines) {
            *text = visible(text).into_owned();
        }
    }
    created
}

/// What an idempotency key is bound to.
pub(crate) fn config_hash(kind: &str, input: &serde_json::Value) -> Digest {
    Digest::of_json(&serde_json::json!({ "kind": kind, "input": input }))
}
