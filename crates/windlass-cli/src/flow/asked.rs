//! What a run that waits for an approval asks, for people, and who may answer it.

use windlass_engine::operation::approval_pending;
use windlass_policy::may_approve;
use windlass_types::{
    APPROVAL, ApprovalTerms, Digest, EffectClass, Principal, Problem, RunId, RunRecord, WaitingOn,
    journal::ChangeSubject,
};

use super::follow::Channel;
use crate::{
    output::{Tone, counted, one_line},
    session::Session,
};

/// A longer plan is cut where it accompanies something else.
const MOST_LINES: usize = 200;
/// How many targets are named in one line.
const MOST_TARGETS: usize = 5;

/// The approval that a run waits for.
#[derive(Debug)]
pub(crate) struct Asked {
    /// What is done to what.
    headline: String,
    /// What the run asks in words of its own.
    question: Option<String>,
    lines: Vec<String>,
    effect: Option<EffectClass>,
    pub(crate) approvers: Vec<String>,
    given: usize,
    /// The plan that an answer is about.
    pub(crate) plan_digest: Option<Digest>,
}

impl Asked {
    /// What a run asks; `None` when it waits for no approval.
    pub(crate) fn of(session: &Session, record: &RunRecord) -> Option<Self> {
        Self::by_default(record, session.engine().policy.approvers())
    }

    fn by_default(record: &RunRecord, default_approvers: &[String]) -> Option<Self> {
        let wanted = record.wanted_approvers()?;
        let approvers = match wanted.is_empty() {
            true => default_approvers,
            false => wanted,
        };
        let mut waits = record.waiting_on.iter().map(|(_, on)| on);
        let on = waits.find(|on| on.what == APPROVAL && !on.answered);
        let subject = record.subject.as_ref();
        let headline = subject.map_or_else(|| record.title.clone(), headline);
        let lines = match (on, subject) {
            (Some(on), _) if !on.lines.is_empty() => &on.lines,
            (_, Some(subject)) => &subject.lines,
            _ => &Vec::new(),
        };
        let says_more = |question: &String| *question != record.title && *question != headline;
        Some(Self {
            question: on.and_then(question).filter(says_more),
            lines: lines.clone(),
            effect: subject.map(|subject| subject.effect),
            approvers: approvers.to_vec(),
            given: record.approved_by().len(),
            plan_digest: match on {
                Some(on) => on.plan_digest,
                None => record.plan_digest,
            },
            headline,
        })
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

    /// Who may answer: `an approval by local:ada or key:ops`.
    pub(crate) fn wanted(&self) -> String {
        let terms = ApprovalTerms::of(&self.approvers);
        match terms.progress(self.given) {
            Some(given) => format!("{} ({given})", terms.text()),
            None => terms.text(),
        }
    }

    /// Whether this principal may answer.
    pub(crate) fn may_be_answered_by(&self, principal: &Principal) -> bool {
        may_approve(principal, &self.approvers)
    }
}

fn headline(subject: &ChangeSubject) -> String {
    let mut text = subject.operation.clone();
    let targets = subject.targets.iter().map(String::as_str);
    let targets: Vec<&str> = targets.filter(|target| !target.is_empty()).collect();
    if !targets.is_empty() {
        let named = targets.len().min(MOST_TARGETS);
        text.push_str(&format!(" on {}", targets[..named].join(", ")));
        if targets.len() > named {
            text.push_str(&format!(" and {} more", targets.len() - named));
        }
    }
    text
}

/// `an approval by local:ada or key:ops`.
pub(crate) fn approval_by(approvers: &[String]) -> String {
    ApprovalTerms::of(approvers).text()
}

/// What a wait asks, without the names of the approvers, which are shown apart.
pub(crate) fn question(on: &WaitingOn) -> Option<String> {
    on.prompt
        .as_deref()
        .map(|prompt| without_approvers(prompt, &on.approvers))
}

/// A prompt without the names of the approvers.
pub(super) fn without_approvers(prompt: &str, approvers: &[String]) -> String {
    let names = ApprovalTerms::of(approvers).approvers.join(", ");
    let names = format!(" (approvers: {names})");
    prompt.strip_suffix(&names).unwrap_or(prompt).to_owned()
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
    approvers: &[String],
    actions: &[String],
) -> Vec<String> {
    if approvers.is_empty() || may_approve(principal, approvers) {
        return actions.to_vec();
    }
    let who = ApprovalTerms::of(approvers).approvers.join(" or ");
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
    let approvers = problem.details().get("approvers");
    let approvers = approvers.and_then(|value| serde_json::from_value(value.clone()).ok());
    let Some(approvers) = approvers else {
        return problem;
    };
    let approvers: Vec<String> = approvers;
    let actions = addressed(principal, &approvers, problem.next_actions());
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
