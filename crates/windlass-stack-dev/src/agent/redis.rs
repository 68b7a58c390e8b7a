//! Redis paths: a local server, in which everything is allowed.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Map, Value, json};
use windlass_ports::database::{Access, RedisAsk, RedisReply, RedisRequest};
use windlass_stack_diagnose::guard::redis::words;
use windlass_types::{Problem, code};

use super::sql::{database, problem};
use super::{App, Parameters, answered, arguments, limit, required, text};
use crate::database::Dialect;
use crate::envelope::Envelope;
use crate::stack::Stack;

pub(crate) async fn ask(
    State(stack): State<App>,
    Path((resource, verb)): Path<(String, String)>,
    Query(query): Query<Parameters>,
    body: Bytes,
) -> Response {
    match arguments(query, &body) {
        Ok(arguments) => answered(run(&stack, &resource, &verb, &arguments).await),
        Err(response) => response.into_response(),
    }
}

async fn run(
    stack: &Stack,
    resource: &str,
    verb: &str,
    arguments: &Map<String, Value>,
) -> Result<Envelope, Problem> {
    let local = database(stack, Dialect::Redis, resource)?;
    let request = RedisRequest {
        address: local.address(),
        access: Access::LocalUnrestricted,
        ask: question(verb, arguments)?,
        byte_limit: 4 << 20,
        timeout: Duration::from_secs(10),
    };
    let reply = stack
        .outside
        .databases
        .redis(&request)
        .await
        .map_err(|failure| problem(&failure))?;
    let data = match reply {
        RedisReply::Value(value) if verb == "info" => {
            json!({ "resource": resource, "info": value })
        }
        RedisReply::Value(value) => json!({ "resource": resource, "result": value }),
        RedisReply::Keys { keys, truncated } => {
            let pattern = text(arguments, "pattern").unwrap_or("*");
            json!({ "resource": resource, "count": keys.len(), "keys": keys, "truncated": truncated, "pattern": pattern })
        }
    };
    Ok(Envelope::ok("answered", data))
}

fn question(verb: &str, arguments: &Map<String, Value>) -> Result<RedisAsk, Problem> {
    let command = |parts: &[&str]| {
        RedisAsk::Command(parts.iter().map(|part| part.as_bytes().to_vec()).collect())
    };
    Ok(match verb {
        "keys" => RedisAsk::Keys {
            pattern: text(arguments, "pattern").unwrap_or("*").to_owned(),
            limit: limit(arguments, 100),
        },
        "get" => match text(arguments, "field") {
            Some(field) => command(&["HGET", required(arguments, "key")?, field]),
            None => command(&["GET", required(arguments, "key")?]),
        },
        "ttl" => command(&["TTL", required(arguments, "key")?]),
        "type" => command(&["TYPE", required(arguments, "key")?]),
        "info" => match text(arguments, "section") {
            Some(section) => command(&["INFO", section]),
            None => command(&["INFO"]),
        },
        "command" => match arguments.get("command") {
            Some(Value::Array(parts)) => {
                let parts: Option<Vec<&str>> = parts.iter().map(Value::as_str).collect();
                command(&parts.ok_or_else(|| {
                    Problem::invalid("command", "texts", "every part of command must be a text")
                })?)
            }
            _ => {
                let line = required(arguments, "command")?;
                let parts = words(line).map_err(|refusal| {
                    Problem::invalid("command", "a command line", refusal.message)
                })?;
                RedisAsk::Command(parts)
            }
        },
        other => {
            return Err(Problem::new(
                &code::NOT_FOUND,
                format!("there is no {other} here: command, keys, get, ttl, info, type"),
            ));
        }
    })
}
