//! How the tools that have a run do something are described, and what they answer with.

use schemars::JsonSchema;
use serde::Serialize;
use windlass_engine::operation::OperationBuilder;
use windlass_launch_model::ValidationReport;
use windlass_types::RunId;

use super::{run_example, run_input, status::StatusAnswer, telling};
use crate::run::Action;

/// `launch_validate`.
#[derive(Serialize, JsonSchema)]
struct Validated {
    run_id: RunId,
    validation_report: ValidationReport,
}

/// `launch_fix_next`.
#[derive(Serialize, JsonSchema)]
struct FixedOne {
    run_id: RunId,
    fixed_issue_id: String,
    applied_patch_ids: Vec<String>,
    remaining_blockers: u64,
    validation_report: ValidationReport,
}

/// `launch_open_pr`.
#[derive(Serialize, JsonSchema)]
struct OpenedPull {
    run_id: RunId,
    pr_url: String,
    branch: String,
    commit_sha: String,
}

/// The description of a tool.
pub(super) fn define(action: Action) -> OperationBuilder {
    let (title, description) = match action {
        Action::Validate => (
            "Validate a launch",
            "Runs every gate over the site as the run has it and gives the report. ok:true means \
             that the gates ran; whether they passed is validation_report.ok.",
        ),
        Action::FixNext => (
            "Fix the next issue",
            "Picks the next issue that can be fixed, always the same one for the same report, \
             fixes it and validates again. FIX_EXHAUSTED once nothing more can be tried.",
        ),
        Action::Resume => (
            "Resume a launch",
            "Continues to the next state in which a run may wait: a run that waits with issues is fixed until all its gates pass or nothing more can be tried. It never opens a \
             pull request.",
        ),
        Action::OpenPr => (
            "Open the pull request",
            "Commits the patches on a branch of their own and opens the pull request, through the \
             commit service of the run's configuration. Needs READY_FOR_PR and a good report; \
             where policy asks, the plan must have been approved.",
        ),
    };
    let defined = telling(action.as_str(), title, description, run_input());
    let defined = defined.example("A run", run_example());
    let defined = defined.judged_by_plan();
    match action {
        Action::Validate => defined.output::<Validated>(),
        Action::FixNext => defined.output::<FixedOne>(),
        Action::Resume => defined.output::<StatusAnswer>(),
        Action::OpenPr => defined.output::<OpenedPull>(),
    }
}
