//! The failures of launches, each with what the contract wants in its details.

use serde_json::{Value, json};
use windlass_launch_model::{Issue, LaunchState, SchemaErrors};
use windlass_launch_pages::gates::MissingTool;
use windlass_ports::{GitError, ServiceFault};
use windlass_types::{Problem, RunId, code};

/// The detail that holds the run-level code, finer than the registered one.
pub(crate) const FAILURE_CODE: &str = "failure_code";

/// No such run, for this caller.
pub(crate) fn run_not_found(given: &str) -> Problem {
    // A hostile id is not repeated at length.
    let shown: String = given
        .chars()
        .filter(|character| !character.is_control())
        .take(64)
        .collect();
    Problem::new(&code::RUN_NOT_FOUND, format!("no launch run {shown:?}"))
        .next("windlass launch list")
}

/// A request field that does not fit.
pub(crate) fn invalid(pointer: &str, reason: &str, message: impl Into<String>) -> Problem {
    Problem::new(&code::INVALID_INPUT, message)
        .with("field", pointer)
        .with("reason", reason)
}

/// A configuration that does not fit its schema.
pub(crate) fn schema(errors: &SchemaErrors) -> Problem {
    let first = errors.errors().first();
    let message = first.map_or_else(
        || "the run_config does not fit its schema".to_owned(),
        |error| {
            let place = if error.pointer.is_empty() {
                "run_config".to_owned()
            } else {
                format!("run_config{}", error.pointer)
            };
            let more = errors.errors().len() - 1;
            let more = match more {
                0 => String::new(),
                count => format!(" (and {count} more)"),
            };
            format!("{place}: {}{more}", error.message)
        },
    );
    Problem::new(&code::SCHEMA_VALIDATION_FAILED, message)
        .with("errors", errors.to_value())
        .next("windlass launch start --help")
}

/// The run is in a state in which a tool cannot do its work.
pub(crate) fn illegal_state(
    run_id: &RunId,
    state: LaunchState,
    required: &[LaunchState],
    reason: &str,
    message: impl Into<String>,
) -> Problem {
    let required: Vec<_> = required.iter().map(|state| state.as_str()).collect();
    Problem::new(&code::ILLEGAL_STATE, message)
        .with("run_id", run_id.as_str())
        .with("state", state.as_str())
        .with("required_states", json!(required))
        .with("reason", reason)
        .next(format!("windlass launch status {run_id}"))
}

/// The run was cancelled.
pub(crate) fn cancelled(run_id: &RunId, at: &str) -> Problem {
    Problem::new(&code::CANCELLED, format!("run {run_id} was cancelled"))
        .with("run_id", run_id.as_str())
        .with("cancelled_at", at)
}

/// The site's branch changed files of the pull request since the run read it.
pub(crate) fn site_moved(run_id: &RunId, message: &str, files: &[String]) -> Problem {
    let problem = illegal_state(
        run_id,
        LaunchState::ReadyForPr,
        &[],
        "site_moved",
        format!("{message}: start the launch again, so that it works on the present site"),
    );
    problem.with("both_changed", json!(files))
}

/// The site already says everything the run would write.
pub(crate) fn up_to_date() -> Problem {
    Problem::new(
        &code::CANCELLED,
        "the site is up to date: there is nothing to change",
    )
    .with(FAILURE_CODE, "NOTHING_TO_COMMIT")
}

/// A gate has no tool to work with.
pub(crate) fn toolchain_missing(missing: &MissingTool) -> Problem {
    Problem::new(
        &code::TOOLCHAIN_MISSING,
        format!(
            "{} needs {}, which is not installed: {}",
            missing.gate, missing.tool, missing.install_hint
        ),
    )
    .with("tool", missing.tool.as_str())
    .with("gate", missing.gate.as_str())
    .with("required_version", json!(missing.required_version))
    .with("found_version", json!(missing.found_version))
    .with("install_hint", missing.install_hint.as_str())
}

/// Why nothing more is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exhausted {
    MaxAttempts,
    NoFixableIssue,
    NoDiff,
    Budget,
}

impl Exhausted {
    const fn as_str(self) -> &'static str {
        match self {
            Self::MaxAttempts => "max_attempts",
            Self::NoFixableIssue => "no_fixable_issue",
            Self::NoDiff => "no_diff",
            Self::Budget => "budget",
        }
    }

    const fn says(self) -> &'static str {
        match self {
            Self::MaxAttempts => "every permitted fix attempt was made",
            Self::NoFixableIssue => "none of the open issues can be fixed by the run",
            Self::NoDiff => "the fix would change nothing",
            Self::Budget => "the budget of patches is spent",
        }
    }
}

/// Nothing more is fixed.
pub(crate) fn fix_exhausted(reason: Exhausted, open: &[Issue]) -> Problem {
    let shown: Vec<Value> = open.iter().map(issue_line).collect();
    Problem::new(
        &code::FIX_EXHAUSTED,
        format!("{}; {} issues are open", reason.says(), open.len()),
    )
    .with("reason", reason.as_str())
    .with("open_issues", shown)
}

/// An issue as statuses list it.
pub(crate) fn issue_line(issue: &Issue) -> Value {
    json!({
        "issue_id": issue.issue_id,
        "severity": issue.severity,
        "gate": issue.gate,
        "title": issue.title,
    })
}

/// A write that is not allowed.
pub(crate) fn path_not_allowed(path: &str, resolved: &str, patch_id: &str) -> Problem {
    Problem::new(
        &code::ALLOWED_PATHS_VIOLATION,
        format!("{path:?} lies outside allowed_paths; nothing was written"),
    )
    .with("path", path)
    .with("resolved_path", resolved)
    .with("patch_id", patch_id)
}

/// A budget is spent.
pub(crate) fn over_budget(name: &str, limit: u64, actual: u64) -> Problem {
    Problem::new(
        &code::STEP_FAILED,
        format!("the budget {name} allows {limit} and {actual} were needed; raise budgets.{name}"),
    )
    .with(
        FAILURE_CODE,
        format!("BUDGET_EXCEEDED_{}", name.to_ascii_uppercase()),
    )
    .with("limit", limit)
    .with("actual", actual)
}

/// A repository that cannot be had.
pub(crate) fn repository(what: &str, url: &str, error: &GitError) -> Problem {
    let url = windlass_ports::git::hide_credentials(url);
    let failure = match error {
        GitError::Missing { .. } => "REF_NOT_FOUND",
        GitError::Refused(_) => "POLICY_PATH_ESCAPE",
        _ => "REPO_UNREACHABLE",
    };
    Problem::new(
        &code::STEP_FAILED,
        format!(
            "the {what} repository {url} cannot be read: {}",
            said(error)
        ),
    )
    .with(FAILURE_CODE, failure)
    .with("repository", what)
}

/// What git said, without where on this machine it said it.
fn said(error: &GitError) -> String {
    match error {
        GitError::Failed { stderr, .. } if !stderr.trim().is_empty() => {
            let lines = stderr.lines().map(str::trim);
            let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).take(3).collect();
            lines.join("; ")
        }
        GitError::Failed { .. } => "git failed and did not say why".to_owned(),
        GitError::TimedOut { seconds, .. } => format!("git did not end within {seconds} s"),
        GitError::Missing { what, name, .. } => format!("it has no {what} `{name}`"),
        other => other.to_string(),
    }
}

/// A commit service that did not do what was asked.
pub(crate) fn service(run_id: &RunId, fault: &ServiceFault) -> Problem {
    if let Some(path) = &fault.path_not_allowed {
        return path_not_allowed(path, path, "").with("run_id", run_id.as_str());
    }
    let problem = Problem::new(&code::COMMIT_SERVICE_ERROR, fault.message.clone())
        .with("run_id", run_id.as_str())
        .with("adapter", fault.adapter)
        .with("stage", fault.stage.as_str())
        .with("http_status", json!(fault.http_status))
        .with("service_code", json!(fault.service_code))
        .with("retryable", fault.retryable);
    match fault.retry_after {
        Some(wait) => problem.with(
            "retry_after_ms",
            u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
        ),
        None => problem,
    }
}
