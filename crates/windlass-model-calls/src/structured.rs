//! Ask until the answer is a value that passes, within a bound.
//!
//! Every round sends the original conversation, the last answer and what is wrong with it, so
//! a long repair does not grow the prompt round by round.

use serde::de::DeserializeOwned;
use serde_json::Value;
use windlass_ports::{
    FinishReason, LanguageModel, Message, ModelAddress, ModelError, ModelReply, ModelRequest,
    OutputSchema, Usage,
};
use windlass_types::Digest;

use crate::json_in;

/// Repairs that pay off; a model that has not understood by then will not.
pub const DEFAULT_REPAIRS: u32 = 2;
/// More complaints at once confuse a model and a reader alike.
const MAX_PROBLEMS: usize = 20;
const MAX_PROBLEM_LENGTH: usize = 300;

/// A call that was made, for records and bills.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCall {
    /// What was asked, as one hash.
    pub prompt_hash: Digest,
    /// What was asked.
    pub request: ModelRequest,
    /// What came back.
    pub outcome: Result<ModelReply, ModelError>,
}

impl ModelCall {
    /// What it cost, where that is known.
    pub fn usage(&self) -> Option<Usage> {
        self.outcome.as_ref().ok()?.usage
    }
}

/// A value that passed, and the calls it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Structured<T> {
    /// The value.
    pub value: T,
    /// The calls, in order; the last one brought the value.
    pub calls: Vec<ModelCall>,
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StructuredFault {
    /// The schema itself cannot be used; nothing was asked.
    #[error("the schema of the answer cannot be used: {0}")]
    Schema(String),
    /// There was no answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model, or a filter in front of it, declines.
    #[error("the model declines to answer{}", said(.0))]
    Declined(String),
    /// The last answer was cut at its longest.
    #[error("the model's answer was cut at its length limit; allow more with max_tokens")]
    Truncated,
    /// The last answer was empty.
    #[error("the model's answer is empty")]
    Empty,
    /// The last answer holds no JSON.
    #[error("the model's answer is not JSON: {0}")]
    NotJson(String),
    /// The last answer is JSON that does not pass.
    #[error("the model's answer does not pass: {}", .0.join("; "))]
    Invalid(Vec<String>),
}

impl StructuredFault {
    /// One word for records and error details.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Schema(_) => "invalid_schema",
            Self::Model(error) => error.reason(),
            Self::Declined(_) => "refused",
            Self::Truncated => "truncated",
            Self::Empty => "empty_reply",
            Self::NotJson(_) => "not_json",
            Self::Invalid(_) => "schema_mismatch",
        }
    }

    /// What the model is told, when telling it may help.
    fn complaints(&self) -> Option<Vec<String>> {
        match self {
            Self::Schema(_) | Self::Model(_) | Self::Declined(_) => None,
            Self::Truncated => Some(vec![
                "it was cut at the length limit; write a shorter one".to_owned(),
            ]),
            Self::Empty => Some(vec!["it is empty".to_owned()]),
            Self::NotJson(error) => Some(vec![format!("it is not valid JSON: {error}")]),
            Self::Invalid(problems) => Some(problems.clone()),
        }
    }
}

/// No value, and the calls that were made for it.
#[derive(Debug, thiserror::Error)]
#[error("model `{model}` at {server}: {fault}")]
pub struct StructuredError {
    /// The model that was asked.
    pub model: String,
    /// Where.
    pub server: String,
    /// Why there is no value.
    #[source]
    pub fault: StructuredFault,
    /// The calls, in order; they cost, too.
    pub calls: Vec<ModelCall>,
}

/// Asks for a value. The answer must fit `schema`, read as `T` and pass `validate`, which names
/// each problem so that the model can fix it; at most `max_repairs` more calls are made for that.
pub async fn structured<T: DeserializeOwned>(
    model: &dyn LanguageModel,
    address: &ModelAddress,
    request: &ModelRequest,
    schema: &OutputSchema,
    validate: impl Fn(&T) -> Result<(), Vec<String>>,
    max_repairs: u32,
) -> Result<Structured<T>, StructuredError> {
    let mut calls = Vec::new();
    let fail = |fault, calls| StructuredError {
        model: address.model.clone(),
        server: address.shown(),
        fault,
        calls,
    };
    let validator = match jsonschema::draft202012::new(&schema.schema) {
        Ok(validator) => validator,
        Err(error) => return Err(fail(StructuredFault::Schema(error.to_string()), calls)),
    };
    let question = ModelRequest {
        schema: Some(schema.clone()),
        ..request.clone()
    };
    let mut next = question.clone();
    let mut repairs_left = max_repairs;
    loop {
        let outcome = model.complete(address, &next, None).await;
        calls.push(ModelCall {
            prompt_hash: next.prompt_hash(&address.model),
            request: next,
            outcome: outcome.clone(),
        });
        let reply = match outcome {
            Ok(reply) => reply,
            Err(error) => return Err(fail(error.into(), calls)),
        };
        let fault = match judge(&reply, &validator, &validate) {
            Ok(value) => return Ok(Structured { value, calls }),
            Err(fault) => fault,
        };
        let Some(complaints) = fault.complaints().filter(|_| repairs_left > 0) else {
            return Err(fail(fault, calls));
        };
        repairs_left -= 1;
        next = repair(&question, &reply, &complaints);
    }
}

fn judge<T: DeserializeOwned>(
    reply: &ModelReply,
    validator: &jsonschema::Validator,
    validate: &impl Fn(&T) -> Result<(), Vec<String>>,
) -> Result<T, StructuredFault> {
    if reply.finish_reason == FinishReason::Refused {
        return Err(StructuredFault::Declined(reply.text()));
    }
    let is_cut = reply.finish_reason == FinishReason::Length;
    let text = reply.text();
    if text.trim().is_empty() {
        return Err(match is_cut {
            true => StructuredFault::Truncated,
            false => StructuredFault::Empty,
        });
    }
    let json = match json_in(&text) {
        Ok(json) => json,
        Err(_) if is_cut => return Err(StructuredFault::Truncated),
        Err(error) => return Err(StructuredFault::NotJson(error)),
    };
    let mismatches: Vec<String> = validator
        .iter_errors(&json)
        .take(MAX_PROBLEMS)
        .map(|error| match error.instance_path().as_str() {
            "" => error.to_string(),
            place => format!("{place}: {error}"),
        })
        .collect();
    if !mismatches.is_empty() {
        return Err(invalid(mismatches));
    }
    let value: T = read(json).map_err(|error| invalid(vec![error]))?;
    validate(&value).map_err(invalid)?;
    Ok(value)
}

fn read<T: DeserializeOwned>(json: Value) -> Result<T, String> {
    serde_json::from_value(json).map_err(|error| error.to_string())
}

fn invalid(mut problems: Vec<String>) -> StructuredFault {
    problems.truncate(MAX_PROBLEMS);
    for problem in &mut problems {
        if let Some((end, _)) = problem.char_indices().nth(MAX_PROBLEM_LENGTH) {
            problem.truncate(end);
            problem.push('…');
        }
    }
    StructuredFault::Invalid(problems)
}

fn repair(question: &ModelRequest, reply: &ModelReply, complaints: &[String]) -> ModelRequest {
    let mut next = question.clone();
    // Servers reject empty turns.
    let text = reply.text();
    if !text.trim().is_empty() {
        next.messages.push(Message::assistant(text));
    }
    next.messages.push(Message::user(format!(
        "Your answer cannot be used:\n- {}\n\nAnswer again with the whole corrected JSON value \
         and nothing else.",
        complaints.join("\n- ")
    )));
    next
}

fn said(text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!(
            ": {}",
            text.chars().take(MAX_PROBLEM_LENGTH).collect::<String>()
        ),
    }
}

#[cfg(test)]
#[path = "structured_tests.rs"]
mod tests;
