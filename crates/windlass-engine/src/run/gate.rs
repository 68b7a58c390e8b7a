//! The gate, asked by a run whose plan is made while it runs.
//!
//! What the gate said is kept in the journal as a step's result, so that a run which is resumed
//! after the policy changed goes on as it was decided.

use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_policy::{Targets, WithoutRule};
use windlass_types::{ApprovalTerms, Digest, Principal, Problem, code, journal::ChangeSubject};

use super::{RunContext, RunError, SIGNAL_APPROVAL, Step, WaitRequest};
use crate::{
    WeakEngine,
    confirm::{Passage, Question},
};

/// A change that a run is about to make.
#[derive(Clone, Debug)]
pub struct GateRequest {
    /// The name of this call.
    pub name: String,
    /// What the change is about.
    pub subject: ChangeSubject,
    /// Who asks for it; the run's principal when absent.
    pub principal: Option<Principal>,
    /// The plan.
    pub plan_digest: Digest,
    /// What is decided where no rule matches.
    pub without_rule: WithoutRule,
}

/// What the gate said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum GateOutcome {
    /// Go on.
    Open {
        /// The rule that decided.
        rule: String,
    },
    /// Wait for one of these.
    Wanted {
        /// Who has to approve.
        #[serde(flatten)]
        terms: ApprovalTerms,
        /// The rule that asked.
        rule: String,
    },
}

/// Asks the gate; a refusal fails the run.
pub async fn ask_gate(
    context: &dyn RunContext,
    engine: &WeakEngine,
    request: &GateRequest,
) -> Result<GateOutcome, RunError> {
    let principal = request.principal.as_ref().unwrap_or(context.principal());
    let subject = &request.subject;
    Step::pure(&request.name)
        .input(&json!({ "subject": request.subject, "plan_digest": request.plan_digest }))
        .run(context, async |_| {
            let judged = engine.upgrade()?.judge(&Question {
                operation: &subject.operation,
                principal,
                targets: Targets::Known(&subject.targets),
                effect: subject.effect,
                without_rule: request.without_rule,
                yes: subject.yes,
            })?;
            let rule = judged.rule;
            Ok(match judged.passage {
                Passage::Free | Passage::OwnYes => GateOutcome::Open { rule },
                Passage::Wanted { terms } => GateOutcome::Wanted { terms, rule },
            })
        })
        .await
}

/// Asks the gate and waits for the approval it wants.
pub async fn pass_gate(
    context: &dyn RunContext,
    engine: &WeakEngine,
    request: GateRequest,
) -> Result<(), RunError> {
    let GateOutcome::Wanted { terms, .. } = ask_gate(context, engine, &request).await? else {
        return Ok(());
    };
    let subject = request.subject;
    let wait = WaitRequest {
        prompt: Some(format!(
            "{} on {} (approvers: {})",
            subject.operation,
            subject.targets.join(", "),
            terms.approvers.join(", ")
        )),
        plan_digest: Some(request.plan_digest),
        terms,
        lines: subject.lines,
        ..WaitRequest::new(format!("{}: approval", request.name), SIGNAL_APPROVAL)
    };
    match context.wait_for(wait).await? {
        Some(signal) => Ok(signal.require_approval()?),
        None => Err(Problem::new(&code::TIMEOUT, "nobody answered the approval in time").into()),
    }
}
