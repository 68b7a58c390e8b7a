//! Rounds: what a call asks of its client, and the state it carries until the client is back.
//!
//! A legacy client is asked by requests of ours, a modern one by another round of its own call.
//! The state between rounds is a token of the engine's sealer, bound to the caller and the call,
//! and works for ten minutes. Not here: what is asked and what an answer means.

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer,
    model::{InputRequest, InputRequests, InputResponses},
    service::{RequestContext, ServiceError},
};
use serde_json::{Value, json};
use windlass_engine::confirm::Claims;
use windlass_ports::entropy::random;
use windlass_types::{Digest, TokenId};

use super::{Caller, Server};

/// How long a client may take for a round.
const STATE_LIFETIME: Duration = Duration::from_secs(600);
/// Sets these tokens apart from confirm tokens, which name an operation here.
const PURPOSE: &str = "mcp.round ";

/// What a later round must repeat: the tool and its arguments.
pub fn call_digest(tool: &str, arguments: &Value) -> Digest {
    Digest::of_json(&json!([tool, arguments]))
}

/// The state of a call that waits for answers to `asked` about `subject`.
pub fn seal(
    server: &Server,
    caller: &Caller,
    subject: &str,
    asked: Digest,
) -> Result<String, ErrorData> {
    let engine = server.engine();
    let claims = Claims {
        id: TokenId::from_random(random(&*engine.entropy)),
        principal: caller.principal().id(),
        operation: format!("{PURPOSE}{subject}"),
        plan_digest: asked,
        expires_at: engine.now().after(STATE_LIFETIME),
    };
    engine
        .sealer
        .seal(&claims)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Opens the state of an earlier round: what it is about.
pub fn open(
    server: &Server,
    caller: &Caller,
    state: &str,
    asked: Digest,
) -> Result<String, ErrorData> {
    let engine = server.engine();
    let claims = engine
        .sealer
        .open(state, engine.now())
        .map_err(|_| refused("it is altered, foreign or too old"))?;
    let subject = claims
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
    Ok(subject.to_owned())
}

/// The error of a state that is not accepted.
pub fn refused(reason: &str) -> ErrorData {
    ErrorData::invalid_params(format!("requestState refused: {reason}"), None)
}

/// Asks a legacy client, one request after the other, and waits for its answers.
pub async fn ask(
    context: &RequestContext<RoleServer>,
    questions: InputRequests,
) -> Result<InputResponses, ServiceError> {
    let mut answers = InputResponses::new();
    for (key, question) in questions {
        let answer = match question {
            InputRequest::Elicitation(request) => {
                let answer = context.peer.create_elicitation(request.params).await?;
                json!({ "action": answer.action, "content": answer.content })
            }
            InputRequest::CreateMessage(request) => {
                plain(context.peer.create_message(request.params).await?)
            }
            InputRequest::ListRoots(_) => plain(context.peer.list_roots().await?),
            // A kind of question that a later version has; nothing here asks it.
            _ => Value::Null,
        };
        answers.insert(key, answer);
    }
    Ok(answers)
}

fn plain(answer: impl serde::Serialize) -> Value {
    serde_json::to_value(answer).unwrap_or(Value::Null)
}
