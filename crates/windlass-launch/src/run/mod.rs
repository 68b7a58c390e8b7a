//! The run that takes a product and a site to a pull request.
//!
//! One file per stage, in the order of the states. Each stage is work items whose results are
//! artifacts; the next stage reads those back, so that going on after a crash is the same as
//! going on at once. A run that has nothing left to do by itself parks and waits to be told.

mod clone;
mod draft;
mod fix;
mod folder;
mod link;
mod model;
mod park;
mod plan;
mod pull_request;
mod read;
mod record;
mod site;
mod store;
mod telemetry;
mod validate;

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_engine::{
    WeakEngine,
    run::{ExportedFile, RunContext, RunError, RunKind, Sweep},
};
use windlass_launch_model::{
    Issue, LaunchState, Section, SectionState, ValidationReport, config::Accepted,
};
use windlass_launch_pages::gates::RefusedRewrite;
use windlass_ports::BoxFuture;
use windlass_types::{ApprovalTerms, ArtifactRef, Digest, Event, Problem, RunRecord};

use crate::{
    fault,
    outside::LaunchOutside,
    view::{self, OpenedPr},
};
use folder::{Folders, RunFolder};

pub(crate) use park::{Action, Asked};

/// The kind of run.
pub const KIND: &str = "launch";

/// What a run receives.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LaunchInput {
    /// The configuration with static defaults.
    pub(crate) config: Value,
    /// Its hash.
    pub(crate) config_hash: Digest,
}

/// The code behind launches.
pub(crate) struct LaunchRun {
    outside: Arc<LaunchOutside>,
    engine: WeakEngine,
    folders: Folders,
}

impl LaunchRun {
    pub(crate) fn new(outside: Arc<LaunchOutside>, engine: WeakEngine) -> Self {
        Self {
            folders: Folders::new(outside.folder.clone()),
            outside,
            engine,
        }
    }
}

impl RunKind for LaunchRun {
    fn name(&self) -> &str {
        KIND
    }

    fn sweep<'a>(&'a self, sweep: &'a Sweep) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(self.folders.sweep(sweep))
    }

    fn run<'a>(
        &'a self,
        context: &'a dyn RunContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        Box::pin(async move {
            let input: LaunchInput = serde_json::from_value(input)
                .map_err(|error| Problem::internal("launch input", error))?;
            let accepted =
                Accepted::restore(input.config).map_err(|errors| fault::schema(&errors))?;
            let mut launch = Launch {
                context,
                tools: Tools {
                    outside: Arc::clone(&self.outside),
                    engine: self.engine.clone(),
                    folder: self.folders.of(context.run_id()),
                    accepted: Arc::new(accepted),
                },
                state: LaunchState::Created,
                transitions: 0,
                taken_up: 0,
                sections: BTreeMap::new(),
                artifacts: BTreeMap::new(),
                open: BTreeMap::new(),
                report: None,
                validations: 0,
                begun_validations: 0,
                fixes: Vec::new(),
                worked_ms: 0,
                model_calls: 0,
                model_tokens: 0,
                refused_rewrites: Vec::new(),
                approved: None,
                terms: None,
                pr_attempts: 0,
                committed: None,
                pr: None,
                queue: Vec::new(),
                outbox: telemetry::Outbox::default(),
            };
            match launch.drive().await {
                Err(RunError::Failed(problem)) => Err(launch.fail(problem).await),
                Err(RunError::Cancelled) => {
                    launch.tell_of_cancelling();
                    Err(RunError::Cancelled)
                }
                outcome => outcome,
            }
        })
    }
    fn export_files(&self, record: &RunRecord, events: &[Event]) -> Vec<ExportedFile> {
        view::files(record, events)
    }
}

/// What the work of a run is done with; cheap to clone into a step.
#[derive(Clone)]
pub(crate) struct Tools {
    pub(crate) outside: Arc<LaunchOutside>,
    pub(crate) engine: WeakEngine,
    pub(crate) folder: RunFolder,
    pub(crate) accepted: Arc<Accepted>,
}

/// A run under way. Everything here follows from the journal.
pub(crate) struct Launch<'a> {
    context: &'a dyn RunContext,
    tools: Tools,
    state: LaunchState,
    /// How many changes of state there were.
    transitions: u32,
    /// How many interruptions have been dealt with.
    taken_up: u32,
    sections: BTreeMap<Section, SectionState>,
    artifacts: BTreeMap<String, ArtifactRef>,
    open: BTreeMap<String, Issue>,
    report: Option<ValidationReport>,
    validations: u32,
    /// Those that ended without a report count too.
    begun_validations: u32,
    fixes: Vec<fix::Attempt>,
    worked_ms: u64,
    model_calls: u64,
    model_tokens: u64,
    /// What models proposed and was not taken.
    refused_rewrites: Vec<RefusedRewrite>,
    /// The approved plan.
    approved: Option<Digest>,
    terms: Option<ApprovalTerms>,
    /// How often the commit service was asked.
    pr_attempts: u32,
    committed: Option<String>,
    pr: Option<OpenedPr>,
    /// What goes on record with the next commit.
    queue: Vec<windlass_engine::run::Entry>,
    /// What the telemetry service has.
    outbox: telemetry::Outbox,
}

impl Launch<'_> {
    async fn drive(&mut self) -> Result<Value, RunError> {
        self.open_folder().await?;
        let inputs = self.clone_inputs().await?;
        self.read_inputs(&inputs).await?;
        self.plan(&inputs).await?;
        self.draft(&inputs).await?;
        self.link(&inputs).await?;
        self.first_validation(&inputs).await?;
        self.park(&inputs).await?;
        match &self.pr {
            Some(pr) => Ok(json!({
                "pr_url": pr.pr_url,
                "branch": pr.branch,
                "commit_sha": pr.commit_sha,
            })),
            None => Err(Problem::internal("launch", "the run ended without a pull request").into()),
        }
    }
}
