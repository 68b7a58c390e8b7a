//! Answers: candidates of parts, of which only the first candidate is read. Calls come whole.

use serde_json::{Map, Value};
use windlass_ports::{FinishReason, ModelError, Thinking, Usage};

use super::{ALONE, HAS_ID, OF_WORDS, SIGNATURE, THOUGHT};
use crate::{
    draft::{Draft, Ear, End},
    reply::{Accumulator, Fault, count, text},
};

/// Reads the chunks of an answer.
#[derive(Default)]
pub(in crate::wire) struct GeminiReply {
    run: Option<Run>,
    end: Option<End>,
    usage: Option<Usage>,
}

/// What the last part was, so that the next one of its kind may add to it.
#[derive(Clone, Copy)]
enum Run {
    Words(usize),
    Thought(usize),
}

impl Accumulator for GeminiReply {
    fn event(&mut self, event: Value, draft: &mut Draft, ear: Ear<'_>) -> Result<(), Fault> {
        self.take(&event, draft, ear)
    }

    fn whole(&mut self, body: Value, draft: &mut Draft, ear: Ear<'_>) -> Result<(), Fault> {
        self.take(&body, draft, ear)?;
        match self.end {
            Some(_) => Ok(()),
            None => Err(Fault::Malformed(
                "without a candidate that ended".to_owned(),
            )),
        }
    }

    /// The last counts may come after the end, so only the end of the stream is one.
    fn is_over(&self) -> bool {
        false
    }

    fn end(&self, draft: &mut Draft) -> Option<End> {
        let end = self.end.clone()?;
        // The server has no word of its own for this.
        Some(match end.reason {
            FinishReason::Stop if draft.has_calls() => End::regular(FinishReason::ToolCalls),
            _ => end,
        })
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }
}

impl GeminiReply {
    fn take(&mut self, chunk: &Value, draft: &mut Draft, ear: Ear<'_>) -> Result<(), Fault> {
        let model = text(chunk, "/modelVersion");
        if !model.is_empty() {
            model.clone_into(&mut draft.model);
        }
        self.usage = read_usage(&chunk["usageMetadata"]).or(self.usage);
        if !text(chunk, "/promptFeedback/blockReason").is_empty() {
            self.end = Some(End::stopped(FinishReason::Refused));
        }
        let Some(candidate) = chunk.pointer("/candidates/0") else {
            return Ok(());
        };
        let parts = candidate
            .pointer("/content/parts")
            .and_then(Value::as_array);
        for part in parts.map(Vec::as_slice).unwrap_or_default() {
            self.take_part(part, draft, &mut *ear)?;
        }
        self.end = match text(candidate, "/finishReason") {
            "" => return Ok(()),
            "STOP" => Some(End::regular(FinishReason::Stop)),
            "MAX_TOKENS" => Some(End::stopped(FinishReason::Length)),
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "IMAGE_SAFETY" => Some(End::stopped(FinishReason::Refused)),
            word => Some(End::stopped(FinishReason::Other(word.to_ascii_lowercase()))),
        };
        Ok(())
    }

    fn take_part(
        &mut self,
        part: &Value,
        draft: &mut Draft,
        ear: Ear<'_>,
    ) -> Result<(), ModelError> {
        let signature = text(part, &format!("/{SIGNATURE}"));
        if let Some(call) = part.get("functionCall") {
            self.run = None;
            return take_call(call, signature, draft, ear);
        }
        let words = text(part, "/text");
        if part.get("thought").and_then(Value::as_bool) == Some(true) {
            let place = match self.run {
                Some(Run::Thought(place)) if signature.is_empty() => place,
                _ => draft.open_thinking(marked(THOUGHT))?,
            };
            self.run = signature.is_empty().then_some(Run::Thought(place));
            draft.push(place, words, ear)?;
            return draft.sign(place, signature);
        }
        if !words.is_empty() {
            // Words that are signed stay apart from words that are not.
            let place = match self.run {
                Some(Run::Words(place)) if signature.is_empty() => place,
                _ => draft.open_text()?,
            };
            self.run = Some(Run::Words(place));
            draft.push(place, words, ear)?;
        }
        if !signature.is_empty() {
            self.run = None;
            let mark = match words.is_empty() {
                true => ALONE,
                false => OF_WORDS,
            };
            let place = draft.open_thinking(marked(mark))?;
            draft.sign(place, signature)?;
        }
        Ok(())
    }
}

fn take_call(
    call: &Value,
    signature: &str,
    draft: &mut Draft,
    ear: Ear<'_>,
) -> Result<(), ModelError> {
    let id = text(call, "/id");
    let place = draft.open_call(id, text(call, "/name"), &mut *ear)?;
    if let Some(arguments) = call.get("args").filter(|it| !it.is_null()) {
        draft.push(place, &arguments.to_string(), ear)?;
    }
    if let Some(held) = draft.call(place) {
        let mut metadata = Map::new();
        if held.id == id {
            metadata.insert(HAS_ID.to_owned(), true.into());
        }
        if !signature.is_empty() {
            metadata.insert(SIGNATURE.to_owned(), signature.into());
        }
        held.metadata = Some(Value::Object(metadata)).filter(|it| *it != Value::Object(Map::new()));
    }
    draft.close_call(place);
    Ok(())
}

fn marked(id: &str) -> Thinking {
    Thinking {
        id: Some(id.to_owned()),
        ..Thinking::default()
    }
}

fn read_usage(usage: &Value) -> Option<Usage> {
    let read = count(usage, "/promptTokenCount")?;
    let read = read.saturating_add(count(usage, "/toolUsePromptTokenCount").unwrap_or_default());
    let thought = count(usage, "/thoughtsTokenCount");
    let said = count(usage, "/candidatesTokenCount").unwrap_or_default();
    let written = said.saturating_add(thought.unwrap_or_default());
    Some(Usage {
        prompt_tokens: read,
        completion_tokens: written,
        total_tokens: count(usage, "/totalTokenCount")
            .unwrap_or_else(|| read.saturating_add(written)),
        cached_prompt_tokens: count(usage, "/cachedContentTokenCount"),
        cache_write_tokens: None,
        reasoning_tokens: thought,
    })
}
