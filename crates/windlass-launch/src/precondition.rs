//! In which states each tool may be called: one table, read by every tool.

use windlass_launch_model::LaunchState;
use windlass_types::Problem;

use crate::{
    fault::{self, FAILURE_CODE},
    run::Action,
    view::LaunchView,
};

/// How long to wait before asking a run again that is under way.
const RETRY_AFTER_MS: u64 = 1000;

/// The states from which an action may be asked for.
const fn required(action: Action) -> &'static [LaunchState] {
    use LaunchState::{DraftReady, Fixing, Linking, PrOpened, ReadyForPr, Validating};
    match action {
        Action::Validate => &[Linking, Validating, Fixing, ReadyForPr, PrOpened],
        // Fixing: a call that comes while an attempt is made is answered with that attempt.
        Action::FixNext => &[Validating, Fixing],
        Action::Resume => &[DraftReady, Validating, Fixing, ReadyForPr],
        Action::OpenPr => &[ReadyForPr],
    }
}

/// Whether an action may be asked for now.
pub(crate) fn check(action: Action, view: &LaunchView) -> Result<(), Problem> {
    if view.state == LaunchState::Cancelled {
        let at = view.cancelled_at.or(view.finished_at);
        let at = at.map_or_else(String::new, |at| at.to_string());
        return Err(fault::cancelled(&view.run_id, &at));
    }
    if let (Action::FixNext, Some(again)) = (action, exhausted(view)) {
        return Err(again);
    }
    if let (Action::OpenPr, Some(pr)) = (action, &view.pr) {
        return Err(refuse(
            action,
            view,
            "already_open",
            "the pull request is open already",
        )
        .with("pr_url", pr.pr_url.as_str())
        .with("branch", pr.branch.as_str())
        .with("commit_sha", pr.commit_sha.as_str()));
    }
    if !required(action).contains(&view.state) {
        return Err(refuse(action, view, "state", &not_in(action, view)));
    }
    match (action, view.report_ok) {
        (Action::FixNext, None) => {
            let message = "no validation has ended yet, so that nothing is known to fix";
            Err(refuse(action, view, "no_report", message))
        }
        (Action::FixNext, Some(true)) if !view.is_driving() => Err(refuse(
            action,
            view,
            "report_ok",
            "the last validation found nothing to fix",
        )),
        (Action::OpenPr, Some(false) | None) => Err(refuse(
            action,
            view,
            "report_not_ok",
            "the last validation found something; validate again or resume the run",
        )),
        _ => Ok(()),
    }
}

/// A run that ran out of fixes says so again.
fn exhausted(view: &LaunchView) -> Option<Problem> {
    let failure = view.failure.as_ref()?;
    if view.state != LaunchState::Failed || failure.code != "FIX_EXHAUSTED" {
        return None;
    }
    let mut problem = Problem::new(
        &windlass_types::code::FIX_EXHAUSTED,
        failure.message.clone(),
    );
    for (key, value) in failure.details.as_object().into_iter().flatten() {
        if key != FAILURE_CODE {
            problem = problem.with(key, value.clone());
        }
    }
    Some(problem.with("run_id", view.run_id.as_str()))
}

fn not_in(action: Action, view: &LaunchView) -> String {
    format!(
        "{} cannot be done while the run is {}",
        action.as_str(),
        view.state.as_str()
    )
}

/// A refusal for now or for good: the same call helps later only while the run is under way to
/// a state that is needed.
fn refuse(action: Action, view: &LaunchView, reason: &str, message: &str) -> Problem {
    let needed = required(action);
    let comes = view.is_driving() && needed.iter().any(|state| view.state.can_reach(*state));
    let problem = fault::illegal_state(&view.run_id, view.state, needed, reason, message);
    waiting_helps(problem, comes)
}

/// Says whether the same call can work later, and when to try.
pub(crate) fn waiting_helps(problem: Problem, helps: bool) -> Problem {
    let problem = problem.with("retryable", helps);
    if helps {
        problem.with("retry_after_ms", RETRY_AFTER_MS)
    } else {
        problem
    }
}

/// A refusal to cancel what has ended.
pub(crate) fn cannot_cancel(view: &LaunchView) -> Problem {
    let states: Vec<LaunchState> = LaunchState::ALL
        .into_iter()
        .filter(|state| !state.is_terminal())
        .collect();
    let message = format!("the run is {} and cannot be cancelled", view.state.as_str());
    fault::illegal_state(&view.run_id, view.state, &states, "ended", message)
}
