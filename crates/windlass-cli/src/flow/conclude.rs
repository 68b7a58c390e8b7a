//! How a followed run ended, as the outcome of the command that followed it.

use serde_json::{Value, json};
use windlass_engine::run::RunView;
use windlass_types::{Problem, RunState, code};

use super::{
    asked::{addressed, question},
    settle::asks_a_person,
};
use crate::session::{Report, Session};

/// The ending a command asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The run completes.
    Completed,
    /// The run ends after an approver said no.
    Rejected,
    /// The run stops and undoes.
    Cancelled,
}

impl Wanted {
    fn is_met_by(self, run: &RunView) -> bool {
        match self {
            Self::Completed => run.state == RunState::Completed,
            Self::Rejected => matches!(run.state, RunState::Failed | RunState::Cancelled),
            Self::Cancelled => run.state == RunState::Cancelled,
        }
    }
}

/// Reports the run when it ended as wanted, and says why when it did not.
pub(crate) fn conclude(
    session: &Session,
    run: &RunView,
    wanted: Wanted,
) -> Result<Report, Problem> {
    let next_actions = run.next_actions();
    if wanted.is_met_by(run) {
        let message = format!("run {} {}", run.run_id, words(run.state));
        session.printer.data(&message);
        for action in addressed(session.principal(), &run.terms, &next_actions) {
            session.printer.hint(&action);
        }
        return Ok(Report::new(
            message,
            json!({ "run": run, "next_actions": next_actions }),
        ));
    }
    Err(shortfall(run))
}

/// Why a run that came to rest did not end as wanted, and what to do about it.
pub(crate) fn shortfall(run: &RunView) -> Problem {
    let run_id = &run.run_id;
    let problem = match (run.state, &run.problem) {
        (RunState::Failed | RunState::Held, Some(problem)) => {
            let message = format!("run {run_id} {}: {}", words(run.state), problem.message());
            let failed = Problem::new(problem.code(), message);
            match problem.details().is_empty() {
                true => failed,
                false => failed.with("cause", Value::Object(problem.details().clone())),
            }
        }
        (RunState::Cancelled, _) => {
            Problem::new(&code::CANCELLED, format!("run {run_id} was cancelled"))
        }
        _ if asks_a_person(run) => {
            let question = run.waiting_on.iter().find_map(question);
            let question = question.unwrap_or_else(|| "an answer is required".to_owned());
            let terms = &run.terms;
            let wanted = match terms.progress(run.approved_by.len()) {
                Some(given) => format!("{} ({given})", terms.text()),
                None => terms.text(),
            };
            let problem = Problem::new(
                &code::APPROVAL_REQUIRED,
                format!("run {run_id} waits for {wanted}: {question}"),
            );
            match terms.is_empty() {
                true => problem,
                false => problem.with_approval(terms),
            }
        }
        (state, _) => Problem::new(
            &code::ILLEGAL_STATE,
            format!("run {run_id} {}", words(state)),
        ),
    };
    let problem = problem
        .with("run_id", run_id.as_str())
        .with("state", run.state.as_str());
    let problem = if run.residue.is_empty() {
        problem
    } else {
        problem.with("residue", json!(run.residue))
    };
    run.next_actions().into_iter().fold(problem, Problem::next)
}

/// Where a run stands, as the end of a sentence about it: `has failed`.
pub(crate) const fn standing(state: RunState) -> &'static str {
    match state {
        RunState::Completed => "has completed",
        RunState::Failed => "has failed",
        other => words(other),
    }
}

const fn words(state: RunState) -> &'static str {
    match state {
        RunState::Queued => "is queued",
        RunState::Running => "is running",
        RunState::Waiting => "is waiting",
        RunState::Unwinding => "is undoing its effects",
        RunState::Held => "is held",
        RunState::Completed => "completed",
        RunState::Failed => "failed",
        RunState::Cancelled => "was cancelled",
        RunState::RolledBack => "was rolled back",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(state: &str, extra: Value) -> RunView {
        let mut view = json!({
            "run_id": "run_1", "kind": "demo", "state": state, "title": "demo", "principal": "local:ada",
            "surface": "cli", "trace_id": "00000000000000000000000000000001", "attempts": 1,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "last_seq": 3,
        });
        view.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        serde_json::from_value(view).unwrap()
    }

    #[test]
    fn endings_become_exit_codes() {
        let failed = json!({ "problem": { "code": "STEP_FAILED", "message": "disk full" }, "residue": ["b"] });
        let asks = json!({ "waiting_on": [{ "what": "approval", "prompt": "Continue?" }] });
        let cases = [
            run("failed", failed),
            run("cancelled", json!({})),
            run("waiting", asks),
            run("rolled_back", json!({})),
            run(
                "held",
                json!({ "problem": { "code": "NONDETERMINISTIC", "message": "other code" } }),
            ),
        ];
        let shown: Vec<String> = cases
            .iter()
            .map(|run| {
                let problem = shortfall(run);
                format!("{} {}", problem.code().exit_code, problem)
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        1 STEP_FAILED: run run_1 failed: disk full
        1 CANCELLED: run run_1 was cancelled
        4 APPROVAL_REQUIRED: run run_1 waits for an approval: Continue?
        5 ILLEGAL_STATE: run run_1 was rolled back
        70 NONDETERMINISTIC: run run_1 is held: other code
        ");
    }

    #[test]
    fn each_command_has_its_own_exit_code() {
        let cases = [
            (Wanted::Completed, "completed", true),
            (Wanted::Completed, "failed", false),
            (Wanted::Rejected, "failed", true),
            (Wanted::Rejected, "completed", false),
            (Wanted::Cancelled, "cancelled", true),
            (Wanted::Cancelled, "completed", false),
        ];
        for (wanted, state, expected) in cases {
            assert_eq!(
                wanted.is_met_by(&run(state, json!({}))),
                expected,
                "{wanted:?} {state}"
            );
        }
    }
}
