//! What is told of a call: its input as a digest for the audit, its answer without secrets.
//!
//! Reading, redacting and hashing a large value takes long, so that is done apart from the threads
//! that serve everybody. Called by the catalogue.

use serde_json::Value;
use windlass_secrets::Redactor;
use windlass_types::{Digest, Problem};

use super::OperationInfo;
use crate::Engine;

/// How large a value may be to be worked on at once: a millisecond's work.
const AT_ONCE: usize = 64 * 1024;

/// Does `work` on a value: at once on a small one, apart from the server's threads on a large one.
pub(super) async fn apart<T: Send + 'static>(
    value: &Value,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    if fits(value, &mut { AT_ONCE }) {
        return Ok(work());
    }
    blocking(work).await
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(Problem::internal("work on a large value", error)),
        },
    }
}

/// Whether the value has no more bytes than are left, counted until it is known.
fn fits(value: &Value, left: &mut usize) -> bool {
    let own = match value {
        Value::String(text) => text.len() + 8,
        _ => 8,
    };
    if own > *left {
        return false;
    }
    *left -= own;
    match value {
        Value::Array(items) => items.iter().all(|item| fits(item, left)),
        Value::Object(members) => members.iter().all(|(name, value)| {
            let is_left = name.len() <= *left;
            *left = left.saturating_sub(name.len());
            is_left && fits(value, left)
        }),
        _ => true,
    }
}

/// The input's digest without its secrets: a short one could be guessed from its hash.
pub(super) fn input_hash(redactor: &Redactor, info: &OperationInfo, input: &Value) -> Digest {
    Digest::of_json(&told_input(redactor, info, input))
}

/// Of an input that nobody looked at.
pub(super) fn unread() -> Digest {
    Digest::of_json(&Value::Null)
}

/// Whether the input holds what redaction would hide.
pub(super) fn holds_secret(redactor: &Redactor, info: &OperationInfo, input: &Value) -> bool {
    told_input(redactor, info, input) != *input
}

/// The input without its secrets.
fn told_input(redactor: &Redactor, info: &OperationInfo, input: &Value) -> Value {
    let mut told = input.clone();
    if let Value::Object(fields) = &mut told {
        for field in &info.secret_inputs {
            fields.remove(field);
        }
    }
    redactor.redact_value(told)
}

/// Redacts what is told: everything but the content and the fields the operation exists to
/// disclose.
pub(super) async fn output(
    engine: &Engine,
    info: &OperationInfo,
    mut output: Value,
) -> Result<Value, Problem> {
    if info.is_content {
        return Ok(output);
    }
    let disclosed: Vec<(String, Value)> = match &mut output {
        Value::Object(map) => info
            .discloses
            .iter()
            .filter_map(|field| map.remove_entry(field))
            .collect(),
        _ => Vec::new(),
    };
    let mut output = if fits(&output, &mut { AT_ONCE }) {
        engine.redactor.redact_value(output)
    } else {
        let redactor = engine.redactor.clone();
        blocking(move || redactor.redact_value(output)).await?
    };
    if let Value::Object(map) = &mut output {
        map.extend(disclosed);
    }
    Ok(output)
}
