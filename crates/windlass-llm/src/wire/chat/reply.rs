//! Answers: a whole completion, or the pieces of a streamed one.
//!
//! Lenient where servers differ: missing numbers, calls without ids or with repeated ones,
//! content in parts.

use serde::Deserialize;
use serde_json::Value;
use windlass_ports::{FinishReason, ModelError, Thinking, Usage};

use crate::{
    draft::{Draft, Ear, End},
    reply::{Accumulator, Fault},
};

#[derive(Deserialize)]
struct Completion {
    model: Option<String>,
    choices: Option<Vec<Choice>>,
    usage: Option<Value>,
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
struct OpenCall {
    index: Option<u64>,
    /// The id as the server gave it, which may be empty or another call's.
    id: String,
    place: usize,
}

/// What the last piece belonged to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    Text(usize),
    Thought(usize),
}

/// Reads a completion.
#[derive(Default)]
pub(in crate::wire) struct ChatReply {
    run: Option<Run>,
    calls: Vec<OpenCall>,
    is_refused: bool,
    finish_reason: Option<String>,
    usage: Option<Usage>,
    is_done: bool,
}

impl Accumulator for ChatReply {
    fn event(&mut self, event: Value, draft: &mut Draft, ear: Ear<'_>) -> Result<(), Fault> {
        let completion = read(event)?;
        self.take(completion, draft, ear)
    }

    fn whole(&mut self, body: Value, draft: &mut Draft, ear: Ear<'_>) -> Result<(), Fault> {
        let completion = read(body)?;
        if completion.choices.as_ref().is_none_or(Vec::is_empty) {
            return Err(Fault::Malformed("without choices".to_owned()));
        }
        self.is_done = true;
        self.take(completion, draft, ear)
    }

    fn done(&mut self) {
        self.is_done = true;
    }

    fn is_over(&self) -> bool {
        self.is_done
    }

    fn end(&self, draft: &mut Draft) -> Option<End> {
        if !self.is_done && self.finish_reason.is_none() {
            return None;
        }
        // Calls have no end of their own here: that of the message is theirs.
        draft.close_calls();
        Some(match self.finish_reason.as_deref() {
            _ if self.is_refused => End::stopped(FinishReason::Refused),
            Some("function_call") => End::regular(FinishReason::ToolCalls),
            Some("content_filter") => End::stopped(FinishReason::Refused),
            Some("length") => End::stopped(FinishReason::Length),
            Some(word) => End::regular(FinishReason::from(word.to_owned())),
            None => End::regular(FinishReason::Other("unstated".to_owned())),
        })
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }
}

impl ChatReply {
    fn take(
        &mut self,
        completion: Completion,
        draft: &mut Draft,
        ear: Ear<'_>,
    ) -> Result<(), Fault> {
        if let Some(model) = completion.model.filter(|model| !model.is_empty()) {
            draft.model = model;
        }
        if let Some(usage) = completion.usage.as_ref().and_then(read_usage) {
            self.usage = Some(usage);
        }
        let choices = completion.choices.unwrap_or_default();
        let first = choices
            .into_iter()
            .find(|choice| choice.index.is_none_or(|index| index == 0));
        let Some(choice) = first else {
            return Ok(());
        };
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish_reason = Some(reason);
        }
        let Some(said) = choice.message.or(choice.delta) else {
            return Ok(());
        };
        let thought = said.reasoning_content.or(said.reasoning);
        self.think(&thought.unwrap_or_default(), draft, ear)?;
        self.say(
            &said.content.map_or_else(String::new, content_text),
            draft,
            ear,
        )?;
        if let Some(refusal) = said.refusal.filter(|refusal| !refusal.is_empty()) {
            self.is_refused = true;
            self.say(&refusal, draft, ear)?;
        }
        for call in said.tool_calls.unwrap_or_default() {
            self.take_call(call, draft, ear)?;
        }
        Ok(())
    }

    fn say(&mut self, piece: &str, draft: &mut Draft, ear: Ear<'_>) -> Result<(), ModelError> {
        if piece.is_empty() {
            return Ok(());
        }
        let place = match self.run {
            Some(Run::Text(place)) => place,
            _ => draft.open_text()?,
        };
        self.run = Some(Run::Text(place));
        draft.push(place, piece, ear)
    }

    fn think(&mut self, piece: &str, draft: &mut Draft, ear: Ear<'_>) -> Result<(), ModelError> {
        if piece.is_empty() {
            return Ok(());
        }
        let place = match self.run {
            Some(Run::Thought(place)) => place,
            _ => draft.open_thinking(Thinking::default())?,
        };
        self.run = Some(Run::Thought(place));
        draft.push(place, piece, ear)
    }

    /// A piece of a call belongs to the call with its index, else to the one with its id, else
    /// to the last one unless it brings a name, which begins a call.
    fn take_call(
        &mut self,
        piece: Call,
        draft: &mut Draft,
        ear: Ear<'_>,
    ) -> Result<(), ModelError> {
        let id = piece.id.unwrap_or_default();
        let function = piece.function.unwrap_or(Function {
            name: None,
            arguments: None,
        });
        let name = function.name.unwrap_or_default();
        let found = match piece.index {
            Some(index) => self.calls.iter().find(|call| call.index == Some(index)),
            None if !id.is_empty() => self.calls.iter().find(|call| call.id == id),
            None if !name.is_empty() => None,
            None => self.calls.last(),
        };
        let place = match found {
            Some(call) => {
                draft.name_call(call.place, &name, ear);
                call.place
            }
            None => {
                let place = draft.open_call(&id, &name, ear)?;
                self.calls.push(OpenCall {
                    index: piece.index,
                    id,
                    place,
                });
                place
            }
        };
        let arguments = match function.arguments {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
        };
        draft.push(place, &arguments, ear)
    }
}

fn read(json: Value) -> Result<Completion, Fault> {
    serde_json::from_value(json)
        .map_err(|error| Fault::Malformed(format!("that cannot be read ({error})")))
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
