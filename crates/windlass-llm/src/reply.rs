//! Answers: a whole completion, or the pieces of a streamed one, become a reply.
//!
//! Lenient where servers differ (missing numbers, calls without ids, content in parts), strict
//! in one point: a stream that did not say it ended is no answer.

use serde::Deserialize;
use serde_json::Value;
use windlass_ports::{FinishReason, ModelError, ModelReply, Part, Thinking, ToolCall, Usage};

use crate::failure::{self, Scrub};

#[derive(Deserialize)]
struct Completion {
    model: Option<String>,
    choices: Option<Vec<Choice>>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<u64>,
    message: Option<Said>,
    delta: Option<Said>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    content: Option<Value>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Deserialize)]
struct Call {
    index: Option<u64>,
    id: Option<String>,
    function: Option<Function>,
}

#[derive(Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<Value>,
}

/// A call as far as it has arrived.
#[derive(Default)]
struct OpenCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// Collects an answer.
pub struct ReplyBuilder {
    scrub: Scrub,
    model: String,
    text: String,
    refusal: String,
    reasoning: String,
    calls: Vec<OpenCall>,
    finish_reason: Option<String>,
    usage: Option<Usage>,
    is_done: bool,
}

impl ReplyBuilder {
    /// A builder for an answer of the model with this name.
    pub fn new(model: &str) -> Self {
        Self::scrubbed(model, Scrub::default())
    }

    pub(crate) fn scrubbed(model: &str, scrub: Scrub) -> Self {
        Self {
            scrub,
            model: model.to_owned(),
            text: String::new(),
            refusal: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            finish_reason: None,
            usage: None,
            is_done: false,
        }
    }

    /// Takes the data of one event of a stream; returns the text it adds.
    pub fn event(&mut self, data: &str) -> Result<String, ModelError> {
        let data = data.trim();
        if data.is_empty() || self.is_done {
            return Ok(String::new());
        }
        if data == "[DONE]" {
            self.is_done = true;
            return Ok(String::new());
        }
        let completion = serde_json::from_str(data)
            .map_err(|error| self.malformed(&format!("an event ({error})"), data))?;
        self.take(completion)
    }

    /// Takes the event that was open when a stream ended; returns the text it adds. One that
    /// cannot be read was cut and is dropped: then the answer has no end, which `finish` reports.
    pub fn last_event(&mut self, data: &str) -> Result<String, ModelError> {
        match self.event(data) {
            Err(ModelError::Malformed(_)) => Ok(String::new()),
            other => other,
        }
    }

    /// The reply of a stream that has ended.
    pub fn finish(self) -> Result<ModelReply, ModelError> {
        if !self.is_done && self.finish_reason.is_none() {
            return Err(ModelError::cut("the stream ended before the answer did"));
        }
        Ok(self.build())
    }

    /// The reply in a whole body.
    pub fn whole(mut self, body: &[u8]) -> Result<ModelReply, ModelError> {
        let completion: Completion = serde_json::from_slice(body).map_err(|error| {
            let what = format!("a body that cannot be read ({error})");
            self.malformed(&what, &String::from_utf8_lossy(body))
        })?;
        let has_choice = completion
            .choices
            .as_ref()
            .is_some_and(|choices| !choices.is_empty());
        if !has_choice && completion.error.is_none() {
            return Err(self.malformed("a body without choices", &String::from_utf8_lossy(body)));
        }
        self.take(completion)?;
        Ok(self.build())
    }

    fn take(&mut self, completion: Completion) -> Result<String, ModelError> {
        if let Some(error) = completion.error.filter(|error| !error.is_null()) {
            return Err(failure::within_answer(&error, &self.scrub));
        }
        if let Some(model) = completion.model.filter(|model| !model.is_empty()) {
            self.model = model;
        }
        if let Some(usage) = completion.usage.as_ref().and_then(read_usage) {
            self.usage = Some(usage);
        }
        let choices = completion.choices.unwrap_or_default();
        let first = choices
            .into_iter()
            .find(|choice| choice.index.is_none_or(|index| index == 0));
        let Some(choice) = first else {
            return Ok(String::new());
        };
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish_reason = Some(reason);
        }
        let Some(said) = choice.message.or(choice.delta) else {
            return Ok(String::new());
        };
        self.refusal.push_str(&said.refusal.unwrap_or_default());
        let thought = said.reasoning_content.or(said.reasoning);
        self.reasoning.push_str(&thought.unwrap_or_default());
        for call in said.tool_calls.unwrap_or_default() {
            self.take_call(call);
        }
        let piece = said.content.map_or_else(String::new, content_text);
        self.text.push_str(&piece);
        Ok(piece)
    }

    /// A piece of a call belongs to the call with its index, else to the one with its id, else
    /// to the last one unless it brings a name, which begins a call.
    fn take_call(&mut self, piece: Call) {
        let id = piece.id.unwrap_or_default();
        let function = piece.function.unwrap_or(Function {
            name: None,
            arguments: None,
        });
        let name = function.name.unwrap_or_default();
        let place = match piece.index {
            Some(index) => self.calls.iter().position(|call| call.index == Some(index)),
            None if !id.is_empty() => self.calls.iter().position(|call| call.id == id),
            None if !name.is_empty() => None,
            None => self.calls.len().checked_sub(1),
        };
        let place = place.unwrap_or_else(|| {
            self.calls.push(OpenCall {
                index: piece.index,
                ..OpenCall::default()
            });
            self.calls.len() - 1
        });
        let call = &mut self.calls[place];
        if call.id.is_empty() {
            call.id = id;
        }
        // Some servers repeat the name with every piece.
        if call.name.is_empty() {
            call.name = name;
        }
        match function.arguments {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => call.arguments.push_str(&text),
            Some(other) => call.arguments.push_str(&other.to_string()),
        }
    }

    fn build(self) -> ModelReply {
        let mut tool_calls: Vec<ToolCall> = Vec::new();
        for (place, call) in self.calls.into_iter().enumerate() {
            let is_taken = tool_calls.iter().any(|earlier| earlier.id == call.id);
            let id = match call.id.is_empty() || is_taken {
                true => format!("call_{place}"),
                false => call.id,
            };
            tool_calls.push(ToolCall::new(id, call.name, call.arguments));
        }
        let finish_reason = match self.finish_reason.as_deref() {
            _ if !self.refusal.is_empty() => FinishReason::Refused,
            Some("function_call") => FinishReason::ToolCalls,
            Some("content_filter") => FinishReason::Refused,
            Some(word) => FinishReason::from(word.to_owned()),
            None => FinishReason::Other("unstated".to_owned()),
        };
        let text = match self.text.is_empty() {
            true => self.refusal,
            false => self.text,
        };
        let thought = Some(self.reasoning).filter(|thought| !thought.is_empty());
        let thought = thought.map(|text| {
            Part::Thinking(Thinking {
                text,
                ..Thinking::default()
            })
        });
        let text = Some(text).filter(|text| !text.is_empty()).map(Part::text);
        let calls = tool_calls.into_iter().map(Part::ToolCall);
        ModelReply {
            parts: thought.into_iter().chain(text).chain(calls).collect(),
            finish_reason,
            usage: self.usage,
            model: self.model,
        }
    }

    fn malformed(&self, what: &str, found: &str) -> ModelError {
        ModelError::Malformed(match self.scrub.clean(found) {
            nothing if nothing.is_empty() => "nothing".to_owned(),
            found => format!("{what}: {found}"),
        })
    }
}

/// Text, or a list of parts of which some are text.
fn content_text(content: Value) -> String {
    match content {
        Value::String(text) => text,
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect(),
        _ => String::new(),
    }
}

/// Both counts, or nothing: half a bill is not one.
fn read_usage(usage: &Value) -> Option<Usage> {
    let count = |path: &str| usage.pointer(path).and_then(Value::as_u64);
    let prompt_tokens = count("/prompt_tokens")?;
    let completion_tokens = count("/completion_tokens")?;
    Some(Usage {
        prompt_tokens,
        completion_tokens,
        total_tokens: count("/total_tokens")
            .unwrap_or_else(|| prompt_tokens.saturating_add(completion_tokens)),
        cached_prompt_tokens: count("/prompt_tokens_details/cached_tokens"),
        cache_write_tokens: None,
        reasoning_tokens: count("/completion_tokens_details/reasoning_tokens"),
    })
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
