//! Asking the person at the client for an approval a run waits for.
//!
//! A legacy client is asked by a request of ours, a modern one by another round of its own
//! call. The state it carries between rounds is a token of the engine's sealer, bound to the
//! caller, the call and the run, and works for ten minutes; the approval it leads to can be
//! given once. The answer counts as the person's at the client, not as the caller's; whether
//! that person may approve is policy's decision, here and in the engine.

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolResponse, ElicitRequest, ElicitRequestParams, InputRequest, InputRequiredResult,
        InputResponses,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use windlass_engine::{confirm::Claims, run::RunView};
use windlass_policy::may_approve;
use windlass_ports::entropy::random;
use windlass_types::{Digest, Problem, RunId, RunState, TokenId};

use super::{Caller, Server};

/// The one question a call may ask.
pub const APPROVAL: &str = "approval";
/// How long a client may take for a round.
const STATE_LIFETIME: Duration = Duration::from_secs(600);
/// Sets these tokens apart from confirm tokens, which name an operation here.
const PURPOSE: &str = "mcp.approval ";

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

/// The question, when the run waits for an approval that the person at the client may give and
/// can be asked for.
pub fn question(server: &Server, caller: &Caller, run: &RunView) -> Option<ElicitRequestParams> {
    if !caller.can_ask() {
        return None;
    }
    form(server, caller, run)
}

/// The question as a form, whether or not the client can show it.
pub fn form(server: &Server, caller: &Caller, run: &RunView) -> Option<ElicitRequestParams> {
    let waits = run.waiting_on.iter().find(|on| on.what == APPROVAL);
    let gated = run.state == RunState::Queued && !run.approvers.is_empty();
    if waits.is_none() && !gated {
        return None;
    }
    let engine = server.engine();
    // A run's code may ask without naming anybody; policy names whom then.
    let approvers = if run.approvers.is_empty() {
        engine.policy.approvers()
    } else {
        &run.approvers
    };
    if !may_approve(&caller.person, approvers) || run.approved_by.contains(&caller.person.id()) {
        return None;
    }
    let prompt = waits
        .and_then(|on| on.prompt.clone())
        .unwrap_or_else(|| format!("Approve {}?", run.title));
    let plan = waits.and_then(|on| on.plan_digest).or(run.plan_digest);
    let plan = plan
        .map(|digest| format!("\nPlan {digest}"))
        .unwrap_or_default();
    let mut change = String::new();
    for line in &run.plan_lines {
        change.push_str("\n  ");
        change.push_str(line);
    }
    let form = json!({
        "mode": "form",
        "message": format!("{prompt}{change}\nRun {} ({}){plan}", run.run_id, run.kind),
        "requestedSchema": {
            "type": "object",
            "properties": {
                "approve": { "type": "boolean", "title": "Approve", "description": "Yes lets the run go on; no undoes it." },
                "reason": { "type": "string", "title": "Reason", "description": "Kept in the run's journal." },
            },
            "required": ["approve"],
        },
    });
    serde_json::from_value(form)
        .inspect_err(|error| tracing::error!(%error, "the approval form is not valid"))
        .ok()
}

/// Asks a legacy client and waits for its user.
pub async fn elicit(
    context: &RequestContext<RoleServer>,
    question: ElicitRequestParams,
) -> Decision {
    match context.peer.create_elicitation(question).await {
        Ok(answer) => read(&json!({ "action": answer.action, "content": answer.content })),
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
    run: &RunView,
    question: ElicitRequestParams,
    asked: Digest,
) -> Result<CallToolResponse, ErrorData> {
    let engine = server.engine();
    let claims = Claims {
        id: TokenId::from_random(random(&*engine.entropy)),
        principal: caller.principal().id(),
        operation: format!("{PURPOSE}{}", run.run_id),
        plan_digest: asked,
        expires_at: engine.now().after(STATE_LIFETIME),
    };
    let state = engine
        .sealer
        .seal(&claims)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let question = InputRequest::Elicitation(ElicitRequest::new(question));
    Ok(
        InputRequiredResult::new(Some([(APPROVAL.to_owned(), question)].into()), Some(state))
            .into(),
    )
}

/// Opens the state of an earlier round: the run it is about.
pub fn open(
    server: &Server,
    caller: &Caller,
    state: &str,
    asked: Digest,
) -> Result<RunId, ErrorData> {
    let engine = server.engine();
    let refused =
        |reason: &str| ErrorData::invalid_params(format!("requestState refused: {reason}"), None);
    let claims = engine
        .sealer
        .open(state, engine.now())
        .map_err(|_| refused("it is altered, foreign or too old"))?;
    let run_id = claims
        .operation
        .strip_prefix(PURPOSE)
        .ok_or_else(|| refused("it was made for something else"))?;
    if claims.principal != caller.principal().id() {
        return Err(refused("it was made for another caller"));
    }
    if claims.plan_digest != asked {
        return Err(refused(
            "it was made for another call; repeat the same tool and arguments",
        ));
    }
    run_id.parse().map_err(|_| refused("it names no run"))
}

/// What the answers of a round say about the approval.
pub fn decision(answers: Option<&InputResponses>) -> Decision {
    answers
        .and_then(|answers| answers.get(APPROVAL))
        .map_or(Decision::Open, read)
}

/// Reads an elicitation's answer. Only a clear yes approves; dismissing the form decides nothing.
pub fn read(answer: &Value) -> Decision {
    let field = |name: &str| answer.get("content").and_then(|content| content.get(name));
    let reason = field("reason").and_then(Value::as_str).map(str::to_owned);
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") => match field("approve").and_then(Value::as_bool) {
            Some(true) => Decision::Approved { reason },
            Some(false) => Decision::Rejected { reason },
            None => Decision::Open,
        },
        Some("decline") => Decision::Rejected { reason },
        _ => Decision::Open,
    }
}

/// Delivers the decision to the run, through the catalogue.
pub async fn deliver(
    server: &Server,
    caller: &Caller,
    run_id: &RunId,
    decision: Decision,
) -> Result<(), Problem> {
    let (operation, reason) = match decision {
        Decision::Approved { reason } => ("runs.approve", reason),
        Decision::Rejected { reason } => ("runs.reject", reason),
        Decision::Open => return Ok(()),
    };
    let mut input = json!({ "run_id": run_id });
    if let Some(reason) = reason {
        input["reason"] = json!(reason);
    }
    server
        .operate_for_person(caller, operation, input)
        .await
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_answer_decides() {
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
            (
                json!({ "action": "decline" }),
                Decision::Rejected { reason: None },
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
}
