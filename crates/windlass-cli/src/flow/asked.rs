//! What a run that waits for an approval asks, for people, and who may answer it.

use std::ops::Deref;

use serde_json::Value;
use windlass_engine::operation::approval_pending;
pub(crate) use windlass_engine::run::{question, without_approvers};
use windlass_policy::may_approve;
use windlass_types::{ApprovalTerms, EffectClass, Principal, Problem, RunId, RunRecord};

use super::follow::Channel;
use crate::{
    output::{Tone, counted, one_line},
    session::Session,
};

/// A longer plan is cut where it accompanies something else.
const MOST_LINES: usize = 200;

/// The approval that a run waits for, as the command line shows it.
#[derive(Debug)]
pub(crate) struct Asked(windlass_engine::run::Asked);

impl Deref for Asked {
    type Target = windlass_engine::run::Asked;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Asked {
    /// What a run asks; `None` when it waits for no approval.
    pub(crate) fn of(session: &Session, record: &RunRecord) -> Option<Self> {
        Self::by_default(record, session.engine().policy.approvers())
    }

    fn by_default(record: &RunRecord, default_approvers: &[String]) -> Option<Self> {
        windlass_engine::run::Asked::of(record, default_approvers).map(Self)
    }

    /// Shows what is asked: whole where that is what was wanted, cut where it accompanies a
    /// question.
    pub(crate) fn show(&self, session: &Session, channel: Channel) {
        let printer = &session.printer;
        let (paint, most) = match channel {
            Channel::Data => (printer.paint(), usize::MAX),
            Channel::Notice => (printer.notice_paint(), MOST_LINES),
        };
        for (tone, line) in self.shown(most) {
            let line = paint.text(tone, &one_line(&session.redact(&line)));
            match channel {
                Channel::Data => printer.data(&line),
                Channel::Notice => printer.notice(&line),
            }
        }
    }

    fn shown(&self, most: usize) -> Vec<(Tone, String)> {
        let tone = match self.effect {
            Some(EffectClass::Destructive) => Tone::Bad,
            Some(EffectClass::Read | EffectClass::Write) | None => Tone::Plain,
        };
        let effect = match self.effect {
            Some(effect) => format!(" ({})", effect.as_str()),
            None => String::new(),
        };
        let mut shown = vec![(tone, format!("asks to approve: {}{effect}", self.headline))];
        let plan = self.lines.iter().take(most);
        shown.extend(plan.map(|line| (Tone::Plain, format!("  {line}"))));
        let hidden = self.lines.len().saturating_sub(most);
        if hidden > 0 {
            shown.push((
                Tone::Dim,
                format!("  … and {} more", counted(hidden, "line")),
            ));
        }
        if let Some(question) = &self.question {
            shown.push((Tone::Strong, format!("  {question}")));
        }
        shown
    }
}

/// The failure of a command whose run waits for an approval; `None` when it does not.
pub(crate) async fn approval_wanted(
    session: &Session,
    run_id: &RunId,
) -> Result<Option<Problem>, Problem> {
    let record = session
        .engine()
        .visible_run(session.principal(), run_id)
        .await?;
    let Some(pending) = approval_pending(&record) else {
        return Ok(None);
    };
    let problem = with_next(&pending, [format!("windlass runs show {run_id}")]);
    Ok(Some(problem.map_text(&mut |text| session.redact(text))))
}

/// Says that a run waits for an approval and how to look at it; whether it does. For callers that
/// have started the run or were told about it by its own operation.
pub(crate) async fn says_it_waits(session: &Session, run_id: &RunId) -> Result<bool, Problem> {
    let Some(record) = session.engine().store.run(run_id).await? else {
        return Ok(false);
    };
    let Some(asked) = Asked::of(session, &record) else {
        return Ok(false);
    };
    let printer = &session.printer;
    printer.notice(&format!("It waits for {}.", asked.wanted()));
    printer.hint(&format!("windlass runs show {run_id}"));
    Ok(true)
}

/// Next steps for this principal: what another person has to do says who that is.
pub(crate) fn addressed(
    principal: &Principal,
    terms: &ApprovalTerms,
    actions: &[String],
) -> Vec<String> {
    if terms.is_empty() || may_approve(principal, terms) {
        return actions.to_vec();
    }
    let who = terms.approvers.join(" or ");
    let actions = actions.iter();
    actions
        .filter(|action| !action.starts_with("windlass runs reject "))
        .map(
            |action| match action.starts_with("windlass runs approve ") {
                true => format!("{who} has to approve it: {action}"),
                false => action.clone(),
            },
        )
        .collect()
}

/// A failure as its caller is told it: see [`addressed`].
pub(crate) fn addressed_problem(principal: &Principal, problem: Problem) -> Problem {
    let details = problem.details();
    if !details.contains_key("approvers") {
        return problem;
    }
    let Ok(terms) = serde_json::from_value(Value::Object(details.clone())) else {
        return problem;
    };
    let actions = addressed(principal, &terms, problem.next_actions());
    with_next(&problem, actions)
}

fn with_next(problem: &Problem, actions: impl IntoIterator<Item = String>) -> Problem {
    let mut other = Problem::new(problem.code(), problem.message());
    for (key, value) in problem.details() {
        other = other.with(key, value.clone());
    }
    actions.into_iter().fold(other, Problem::next)
}

#[cfg(test)]
#[path = "asked_tests.rs"]
mod tests;
