//! `launch_get_status`: where a run stands.

use std::{collections::BTreeMap, sync::Arc};

use schemars::JsonSchema;
use serde::Serialize;
use windlass_engine::operation::Operation;
use windlass_launch_model::{LaunchState, Section, SectionState, Severity};
use windlass_types::{Digest, Problem, RunId};

use super::{Desk, reading, run_example, run_input, traced::traced};
use crate::{
    arguments::Arguments,
    view::{Failure, LaunchView, OpenedPr},
};

/// An answer that holds a status.
#[derive(Serialize, JsonSchema)]
pub(super) struct StatusAnswer {
    run_id: RunId,
    status: RunStatus,
}

impl StatusAnswer {
    pub(super) fn of(view: &LaunchView) -> Result<serde_json::Value, Problem> {
        let answer = Self {
            run_id: view.run_id.clone(),
            status: RunStatus::of(view),
        };
        serde_json::to_value(answer).map_err(|error| Problem::internal("status", error))
    }
}

/// Where a run stands.
#[derive(Serialize, JsonSchema)]
struct RunStatus {
    run_id: RunId,
    state: LaunchState,
    section_states: BTreeMap<Section, SectionState>,
    /// In the order they are fixed in.
    open_issues: Vec<OpenIssue>,
    /// By name.
    artifacts: Vec<NamedArtifact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
    config_hash: Digest,
    fix_attempts: FixAttempts,
    /// Whether it waits to be told what to do.
    parked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pr: Option<OpenedPr>,
    /// Whether it was taken back after it was done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    rolled_back: bool,
}

#[derive(Serialize, JsonSchema)]
struct OpenIssue {
    issue_id: String,
    severity: Severity,
    gate: String,
    title: String,
}

#[derive(Serialize, JsonSchema)]
struct NamedArtifact {
    name: String,
    sha256: Digest,
}

#[derive(Serialize, JsonSchema)]
struct FixAttempts {
    used: u32,
    max: u32,
}

impl RunStatus {
    fn of(view: &LaunchView) -> Self {
        Self {
            run_id: view.run_id.clone(),
            state: view.state,
            section_states: view.section_states.clone(),
            open_issues: view
                .issues_in_order()
                .into_iter()
                .map(|issue| OpenIssue {
                    issue_id: issue.issue_id.clone(),
                    severity: issue.severity,
                    gate: issue.gate.clone(),
                    title: issue.title.clone(),
                })
                .collect(),
            artifacts: view
                .artifacts
                .iter()
                .map(|(name, artifact)| NamedArtifact {
                    name: name.clone(),
                    sha256: artifact.sha256,
                })
                .collect(),
            failure: view.failure.clone(),
            config_hash: view.config_hash,
            fix_attempts: FixAttempts {
                used: view.fix_attempts,
                max: view.max_fix_attempts,
            },
            parked: view.parked,
            pr: view.pr.clone(),
            rolled_back: view.rolled_back,
        }
    }
}

pub(super) fn operation(desk: &Desk) -> Arc<dyn Operation> {
    let desk = desk.clone();
    reading(
        "get_status",
        "Show a launch",
        "The status of a run: its state, its sections, open issues in the order they are fixed in, \
         and its artifacts with their digests. Works in every state.",
        run_input(),
    )
    .example("A run", run_example())
    .judged_by_plan()
    .output::<StatusAnswer>()
    .handle_json(move |context, input| {
        let desk = desk.clone();
        async move {
            let run_id = Arguments::read(input, &["run_id"])?.run_id()?;
            let answer = async { StatusAnswer::of(&desk.judged_view(&context, &run_id).await?) };
            let tool = "launch_get_status";
            let answer = traced(&desk, &context, tool, &run_id, answer).await?;
            Ok((answer, Some(run_id)))
        }
    })
}
