//! The runs of stacks: one kind per operation that takes long or changes something.

mod after;
mod change;
mod claim;
mod credentials;
mod delete;
mod deploy;
mod failure;
mod follow;
mod gate;
mod preview;
mod recreate;
mod report;
mod rollback;
mod script;
pub(crate) mod secret;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use windlass_engine::WeakEngine;
use windlass_engine::run::{RunContext, RunError, RunKind, Sweep};
use windlass_ports::BoxFuture;
use windlass_types::{Digest, Problem, RunId};

pub(crate) use change::{about, confirmed_plan, unconfirmed};
pub(crate) use credentials::CREDENTIALS;
pub(crate) use report::{LOG, PROGRESS};

use crate::desk::{Desk, blocking};
use crate::outside::StackOutside;
use crate::place::Place;

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Preview,
    Deploy,
    Rollback,
    Delete,
    Script,
    SecretCreate,
    SecretDelete,
}

impl Kind {
    /// Those about a stack.
    pub const CHANGES: [Self; 5] = [
        Self::Preview,
        Self::Deploy,
        Self::Rollback,
        Self::Delete,
        Self::Script,
    ];

    pub const ALL: [Self; 7] = [
        Self::Preview,
        Self::Deploy,
        Self::Rollback,
        Self::Delete,
        Self::Script,
        Self::SecretCreate,
        Self::SecretDelete,
    ];

    /// The name journals use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Preview => "stack.preview",
            Self::Deploy => "stack.deploy",
            Self::Rollback => "stack.rollback",
            Self::Delete => "stack.delete",
            Self::Script => "stack.script",
            Self::SecretCreate => "stack.secret_create",
            Self::SecretDelete => "stack.secret_delete",
        }
    }

    /// Whether a stack bears only one of them at a time.
    pub const fn is_exclusive(self) -> bool {
        matches!(self, Self::Deploy | Self::Rollback | Self::Delete)
    }

    /// The operation of the contract that starts it.
    pub const fn operation(self) -> &'static str {
        match self {
            Self::Preview => "preview_changes",
            Self::Deploy => "deploy",
            Self::Rollback => "rollback",
            Self::Delete => "delete",
            Self::Script => "script_run",
            Self::SecretCreate => "secret_create",
            Self::SecretDelete => "secret_delete",
        }
    }
}

/// What a run receives. No secret is ever part of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Job {
    /// The stack, as far as the call knew it.
    pub stack: String,
    pub place: Place,
    pub arguments: Map<String, Value>,
    /// Whether the caller said an explicit yes.
    pub confirm: bool,
    /// The plan that was confirmed by its token.
    pub confirmed: Option<Confirmed>,
    /// What the process that was called knows the value of a secret by; it is random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
}

/// A plan that was shown and confirmed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Confirmed {
    pub plan_digest: Digest,
    /// The run that made the plan; the plan is among its artifacts.
    pub run_id: RunId,
}

impl Job {
    pub fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Value::as_str)
    }

    pub fn says(&self, name: &str) -> bool {
        self.arguments.get(name).and_then(Value::as_bool) == Some(true)
    }

    pub fn texts(&self, name: &str) -> Vec<String> {
        self.arguments
            .get(name)
            .map(crate::package::texts)
            .unwrap_or_default()
    }
}

/// All kinds.
pub(crate) fn kinds(outside: &Arc<StackOutside>, engine: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
    Kind::ALL
        .into_iter()
        .map(|kind| {
            Arc::new(StackRun {
                outside: Arc::clone(outside),
                engine: engine.clone(),
                kind,
            }) as Arc<dyn RunKind>
        })
        .collect()
}

struct StackRun {
    outside: Arc<StackOutside>,
    engine: WeakEngine,
    kind: Kind,
}

impl RunKind for StackRun {
    fn name(&self) -> &str {
        self.kind.name()
    }

    fn sweep<'a>(&'a self, sweep: &'a Sweep) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async move {
            // One cache for all kinds.
            if self.kind != Kind::Deploy {
                return Ok(());
            }
            let (cache, now) = (self.outside.cache.clone(), sweep.now);
            blocking(move || {
                windlass_stack_lifecycle::package::trim_packages(&cache, now)
                    .map_err(|error| Problem::internal("cache of packages", error))
            })
            .await
        })
    }

    fn run<'a>(
        &'a self,
        context: &'a dyn RunContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        Box::pin(async move {
            let job: Job = serde_json::from_value(input)
                .map_err(|error| Problem::internal("stack input", error))?;
            let desk = Desk {
                outside: Arc::clone(&self.outside),
                engine: self.engine.upgrade()?,
            };
            let patient = credentials::Patient {
                context,
                access: desk.access(job.place.target()),
            };
            match self.kind {
                Kind::Preview => preview::run(&patient, &desk, &job).await,
                Kind::Deploy => deploy::run(&patient, &desk, &job).await,
                Kind::Rollback => rollback::run(&patient, &desk, &job).await,
                Kind::Delete => delete::run(&patient, &desk, &job).await,
                Kind::Script => script::run(&patient, &desk, &job).await,
                Kind::SecretCreate => secret::create(context, &desk, &job).await,
                Kind::SecretDelete => secret::delete(context, &desk, &job).await,
            }
        })
    }
}

/// The name of the plan among a run's artifacts.
pub(crate) const PLAN: &str = "plan.json";
