//! Asking the person at the client for an approval a run waits for.
//!
//! The form shows the change as the command line does, what it touches, its effect and who may
//! answer. The answer counts as the person's at the client, not as the caller's; whether that
//! person may approve is policy's decision, here and in the engine. It is asked once per call.
//! Only a form that was filled in decides: a client that declines by itself, because no person sits
//! at it, must not refuse a change in its user's name.

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolResponse, ElicitRequest, ElicitRequestParams, InputRequest, InputRequests,
        InputRequiredResult, InputResponses,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use windlass_engine::run::Asked;
use windlass_types::{Digest, EffectClass, Problem, RunId, RunRecord, run::has_approved};

use super::{Caller, Server, rounds};

/// The one question a call may ask.
pub const APPROVAL: &str = "approval";
/// Sets the state of an approval apart from that of other rounds.
const SUBJECT: &str = "approval ";
/// Lines of a change that a form shows, and how long each may be.
const MOST_LINES: usize = 40;
const LONGEST_LINE: usize = 200;

/// What the person said.
#[derive(Debug, PartialEq, Eq)]
pub enum Decision {
    Approved {
        reason: Option<String>,
    },
    Rejected {
        reason: Option<String>,
    },
    /// Nothing that counts as an answer.
    Open,
}

/// What an answer is about: the run, and the plan that the form showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub run_id: RunId,
    pub plan: Option<Digest>,
}

impl Subject {
    fn text(&self) -> String {
        match self.plan {
            Some(plan) => format!("{SUBJECT}{} {plan}", self.run_id),
            None => format!("{SUBJECT}{}", self.run_id),
        }
    }

    /// Reads the state of a round; `None` for that of another question.
    pub fn read(text: &str) -> Option<Self> {
        let mut words = text.strip_prefix(SUBJECT)?.split(' ');
        let run_id = words.next()?.parse().ok()?;
        let plan = words.next().map(str::parse).transpose().ok()?;
        Some(Self { run_id, plan })
    }
}

/// A question, ready to be put.
pub struct Question {
    pub form: ElicitRequestParams,
    pub subject: Subject,
}

/// The question, when the run waits for an approval that the person at the client may give and
/// can be asked for.
pub fn question(server: &Server, caller: &Caller, run: &RunRecord) -> Option<Question> {
    if !caller.can_ask() {
        return None;
    }
    form(server, caller, run)
}

/// The question as a form, whether or not the client can show it.
pub fn form(server: &Server, caller: &Caller, run: &RunRecord) -> Option<Question> {
    let engine = server.engine();
    let asked = Asked::of(run, engine.policy.approvers())?;
    let person = &caller.person;
    if !asked.may_be_answered_by(person) || has_approved(run.approved_by(), &person.id()) {
        return None;
    }
    let form = json!({
        "mode": "form",
        "message": engine.redactor.redact(&message(&asked, &run.run_id)),
        "requestedSchema": {
            "type": "object",
            "properties": {
                "approve": {
                    "type": "boolean",
                    "title": "Approve",
                    "description": "Yes makes the change. No refuses it: the run undoes what it did and ends.",
                },
                "reason": { "type": "string", "title": "Reason", "description": "Kept in the run's journal." },
            },
            "required": ["approve"],
        },
    });
    let form = serde_json::from_value(form)
        .inspect_err(|error| tracing::error!(%error, "the approval form is not valid"))
        .ok()?;
    let subject = Subject {
        run_id: run.run_id.clone(),
        plan: asked.plan_digest,
    };
    Some(Question { form, subject })
}

/// What the form says.
fn message(asked: &Asked, run_id: &RunId) -> String {
    let mut lines = vec![format!("Approve {}?", one_line(&asked.headline))];
    lines.extend(asked.question.as_deref().map(one_line));
    if !asked.lines.is_empty() {
        lines.push("Change:".to_owned());
    }
    let shown = asked.lines.iter().take(MOST_LINES);
    lines.extend(shown.map(|line| format!("  {}", one_line(line))));
    let hidden = asked.lines.len().saturating_sub(MOST_LINES);
    if hidden > 0 {
        lines.push(format!(
            "  … and {hidden} more; see all with: windlass runs show {run_id}"
        ));
    }
    match asked.targets.as_slice() {
        [] => {}
        [one] => lines.push(format!("Target: {}", one_line(one))),
        [first, others @ ..] => lines.push(format!(
            "Targets: {} and {} more",
            one_line(first),
            others.len()
        )),
    }
    if let Some(effect) = asked.effect {
        let meaning = match effect {
            EffectClass::Read => "reads only",
            EffectClass::Write => "creates or changes",
            EffectClass::Destructive => "may delete or overwrite",
        };
        lines.push(format!("Effect: {} ({meaning})", effect.as_str()));
    }
    lines.push(format!("Needs {}", one_line(&asked.wanted())));
    lines.push(format!("Run: {run_id}"));
    lines.join("\n")
}

/// One bounded line in which nothing is hidden.
fn one_line(text: &str) -> String {
    let spaced: String = text
        .chars()
        .take(LONGEST_LINE + 1)
        .map(|letter| match letter {
            '\n' | '\r' | '\t' => ' ',
            other => other,
        })
        .collect();
    let shown = match spaced.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", &spaced[..end]),
        None => spaced,
    };
    windlass_text::visible(&shown).into_owned()
}

/// Asks a legacy client and waits for its user.
pub async fn elicit(context: &RequestContext<RoleServer>, form: ElicitRequestParams) -> Decision {
    match rounds::ask(context, requests(form)).await {
        Ok(answers) => decision(Some(&answers)),
        Err(error) => {
            tracing::debug!(%error, "the client did not answer an approval");
            Decision::Open
        }
    }
}

/// Asks a modern client: the result of this round.
pub fn ask(
    server: &Server,
    caller: &Caller,
    question: Question,
    asked: Digest,
) -> Result<CallToolResponse, ErrorData> {
    let state = rounds::seal(server, caller, &question.subject.text(), asked)?;
    Ok(InputRequiredResult::new(Some(requests(question.form)), Some(state)).into())
}

/// The form as the one question of a round.
pub fn requests(form: ElicitRequestParams) -> InputRequests {
    let question = InputRequest::Elicitation(ElicitRequest::new(form));
    [(APPROVAL.to_owned(), question)].into()
}

/// What the answers of a round say about the approval.
pub fn decision(answers: Option<&InputResponses>) -> Decision {
    answers
        .and_then(|answers| answers.get(APPROVAL))
        .map_or(Decision::Open, read)
}

/// Reads an elicitation's answer. Only a form that was filled in decides: declining and
/// dismissing it are what clients without a person do by themselves.
pub fn read(answer: &Value) -> Decision {
    if answer.get("action").and_then(Value::as_str) != Some("accept") {
        return Decision::Open;
    }
    let field = |name: &str| answer.get("content").and_then(|content| content.get(name));
    let reason = field("reason").and_then(Value::as_str).map(str::to_owned);
    match field("approve").and_then(Value::as_bool) {
        Some(true) => Decision::Approved { reason },
        Some(false) => Decision::Rejected { reason },
        None => Decision::Open,
    }
}

/// Delivers the decision to the run, through the catalogue. An answer that comes twice, or late,
/// changes nothing and is no failure: the run has its answer.
pub async fn deliver(
    server: &Server,
    caller: &Caller,
    subject: &Subject,
    decision: Decision,
) -> Result<(), Problem> {
    let (operation, reason) = match decision {
        Decision::Approved { reason } => ("runs.approve", reason),
        Decision::Rejected { reason } => ("runs.reject", reason),
        Decision::Open => return Ok(()),
    };
    if !is_open(server, caller, &subject.run_id).await {
        return Ok(());
    }
    let mut input = json!({ "run_id": subject.run_id });
    if let Some(plan) = subject.plan {
        input["plan_digest"] = json!(plan);
    }
    if let Some(reason) = reason {
        input["reason"] = json!(reason);
    }
    match server.operate_for_person(caller, operation, input).await {
        Ok(_) => Ok(()),
        // Another approver answered in the meantime.
        Err(_) if !is_open(server, caller, &subject.run_id).await => Ok(()),
        Err(problem) => Err(problem),
    }
}

/// Whether the run still waits for this person's answer. A run that cannot be read is asked, so
/// that the failure is told.
async fn is_open(server: &Server, caller: &Caller, run_id: &RunId) -> bool {
    let run = server.engine().visible_run(&caller.person, run_id).await;
    run.map_or(true, |run| form(server, caller, &run).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_form_that_was_filled_in_decides() {
        let cases = [
            (
                json!({ "action": "accept", "content": { "approve": true } }),
                Decision::Approved { reason: None },
            ),
            (
                json!({ "action": "accept", "content": { "approve": false, "reason": "no" } }),
                Decision::Rejected {
                    reason: Some("no".to_owned()),
                },
            ),
            (json!({ "action": "decline" }), Decision::Open),
            (
                json!({ "action": "decline", "content": { "approve": false } }),
                Decision::Open,
            ),
            (json!({ "action": "cancel" }), Decision::Open),
            (json!({ "action": "accept" }), Decision::Open),
            (
                json!({ "action": "accept", "content": { "approve": "true" } }),
                Decision::Open,
            ),
            (json!({ "content": { "approve": true } }), Decision::Open),
            (json!(12345), Decision::Open),
            (json!(null), Decision::Open),
        ];
        for (answer, want) in cases {
            assert_eq!(read(&answer), want, "{answer}");
        }
    }

    #[test]
    fn a_subject_is_read_back_and_another_is_not() {
        let run_id: RunId = "run_1".parse().unwrap();
        for plan in [None, Some(Digest::of_json(&json!("plan")))] {
            let subject = Subject {
                run_id: run_id.clone(),
                plan,
            };
            assert_eq!(Subject::read(&subject.text()), Some(subject));
        }
        for text in ["", "approval ", "approval run_1 nonsense", "other run_1"] {
            assert_eq!(Subject::read(text), None, "{text}");
        }
    }

    #[test]
    fn the_form_shows_the_change_bounded_and_nothing_hidden() {
        let mut lines: Vec<String> = (0..50).map(|n| format!("+ {n}.txt")).collect();
        lines[0] = format!("+ \u{202e}evil\n{}", "x".repeat(500));
        let asked = Asked {
            headline: "demo.apply on /srv/x".to_owned(),
            question: None,
            lines,
            targets: vec!["/srv/x".to_owned()],
            effect: Some(EffectClass::Destructive),
            terms: windlass_types::ApprovalTerms::by(["local:ada", "scope:approve"]),
            given: 0,
            plan_digest: None,
        };
        let text = message(&asked, &"run_1".parse().unwrap());
        let shown: Vec<&str> = text.lines().collect();
        assert_eq!(shown.len(), 2 + MOST_LINES + 5, "{text}");
        assert!(text.len() < 4000, "{}", text.len());
        assert!(!text.contains('\u{202e}'), "{text}");
        let around = [&shown[..2], &shown[3..4], &shown[MOST_LINES + 2..]].concat();
        insta::assert_snapshot!(around.join("\n"), @r"
        Approve demo.apply on /srv/x?
        Change:
          + 1.txt
          … and 10 more; see all with: windlass runs show run_1
        Target: /srv/x
        Effect: destructive (may delete or overwrite)
        Needs an approval by local:ada or scope:approve
        Run: run_1
        ");
    }
}
