//! Questions to deployed stacks, and secrets.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use windlass_engine::operation::{Answer, CallContext};
use windlass_policy::{Request, Targets, WithoutRule};
use windlass_stack_diagnose::{Answer as Found, Operation as Question, Outside, Settings, answer};
use windlass_types::{Problem, Surface};

use super::Verb;
use super::arguments::plain;
use super::journal::{ConfigNames, Journal};
use crate::desk::Desk;

/// How large an answer may be.
const MCP_LIMIT: usize = 30_000;
const LIMIT: usize = 512_000;

/// Asks.
pub(super) async fn call(
    desk: &Desk,
    context: &CallContext,
    question: Question,
    arguments: Map<String, Value>,
) -> Result<Answer, Problem> {
    let arguments = Value::Object(plain(Verb::Ask(question), &arguments));
    let mut found = answer(&outside(desk, context), question, &arguments).await?;
    if let Value::Object(data) = found.data {
        found.data = Value::Object(fitting(context, data));
    }
    Ok(Answer::plain(Value::Object(output(found))))
}

/// An answer as the output of an operation.
pub(crate) fn output(found: Found) -> Map<String, Value> {
    let mut output = match found.data {
        Value::Object(data) => data,
        other => Map::from_iter([("value".to_owned(), other)]),
    };
    output.insert("message".to_owned(), json!(found.message));
    if let Some(tail) = found.raw_tail {
        output.insert("rawTail".to_owned(), json!(tail));
    }
    if !found.next_actions.is_empty() {
        output.insert("nextActions".to_owned(), json!(found.next_actions));
    }
    output
}

pub(super) fn outside(desk: &Desk, context: &CallContext) -> Outside {
    let outside = &desk.outside;
    let settings = Settings {
        role_arn: outside.role_arn.clone(),
        database_roots: outside.database_roots.clone(),
        allowed_functions: outside.allowed_functions.clone(),
        allowed_redis_commands: outside.allowed_redis_commands.clone(),
        read_only: outside.read_only,
        principal: context.principal.id(),
        policy: verdicts(desk, context),
        working_directory: context.directory.clone().unwrap_or_default(),
        request_token: None,
    };
    outside_with(desk, settings)
}

/// What questions need, with these settings.
pub(crate) fn outside_with(desk: &Desk, settings: Settings) -> Outside {
    let outside = &desk.outside;
    Outside {
        cloud: Arc::clone(&outside.cloud),
        databases: Arc::clone(&outside.databases),
        journal: Arc::new(Journal(desk.engine.clone())),
        projects: Arc::new(ConfigNames),
        sockets: outside.sockets.clone(),
        clock: Arc::clone(&desk.engine.clock),
        entropy: Arc::clone(&desk.engine.entropy),
        redactor: (*desk.engine.redactor).clone(),
        settings,
    }
}

/// What policy says to the caller's changes where no stack is named.
fn verdicts(desk: &Desk, context: &CallContext) -> Value {
    let verdicts = Verb::all()
        .into_iter()
        .filter(|verb| verb.changes())
        .map(|verb| {
            let name = format!("stack.{}", verb.name());
            let view = desk.engine.policy_view(&Request {
                operation: &name,
                principal: &context.principal,
                targets: Targets::Unknown,
                effect: verb.effect(),
                without_rule: WithoutRule::ConfirmedByCall,
            });
            (name, json!(view.verdict))
        });
    Value::Object(verdicts.collect())
}

/// Data that is too large for its reader is left out and named; a narrower question gets it.
fn fitting(context: &CallContext, data: Map<String, Value>) -> Map<String, Value> {
    let limit = match context.surface {
        Surface::Mcp => MCP_LIMIT,
        _ => LIMIT,
    };
    let size = Value::Object(data.clone()).to_string().len();
    if size <= limit {
        return data;
    }
    let keys: Vec<String> = data.keys().cloned().collect();
    Map::from_iter([
        ("truncated".to_owned(), json!(true)),
        (
            "reason".to_owned(),
            json!(format!(
                "the data has {size} bytes, more than {limit}; ask for less (limit, filter)"
            )),
        ),
        ("keys".to_owned(), json!(keys)),
        ("size".to_owned(), json!(size)),
        ("artifact".to_owned(), Value::Null),
    ])
}
