//! Answers: blocks that begin, grow and end, between the start and the stop of a message.

use std::collections::HashMap;

use serde_json::Value;
use windlass_ports::{FinishReason, ModelError, Thinking, Usage};

use crate::{
    draft::{Draft, Ear, End},
    reply::{Accumulator, Fault, count, text},
};

/// Reads a message.
#[derive(Default)]
pub(in crate::wire) struct MessagesReply {
    /// The places of the blocks that are open.
    open: HashMap<u64, usize>,
    /// Arguments that came with the start of a block, in case nothing follows.
    given: HashMap<usize, String>,
    stop_reason: Option<String>,
    cost: Cost,
    is_over: bool,
}

#[derive(Default)]
struct Cost {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
}

impl Cost {
    /// Later counts are totals and replace earlier ones.
    fn take(&mut self, usage: &Value) {
        let put = |held: &mut Option<u64>, path: &str| *held = count(usage, path).or(*held);
        put(&mut self.input, "/input_tokens");
        put(&mut self.output, "/output_tokens");
        put(&mut self.cache_read, "/cache_read_input_tokens");
        put(&mut self.cache_write, "/cache_creation_input_tokens");
    }
}

impl Accumulator for MessagesReply {
    fn event(&mut self, event: Value, draft: &mut Draft, ear: Ear<'_>) -> Result<(), Fault> {
        match text(&event, "/type") {
            "message_start" => self.start(&event["message"], draft),
            "content_block_start" => {
                let block = &event["content_block"];
                if let Some(place) = self.open_block(block, draft, ear)? {
                    self.open.insert(index(&event)?, place);
                }
            }
            "content_block_delta" => {
                // Blocks of a kind that nobody asked for are not kept.
                if let Some(place) = self.open.get(&index(&event)?) {
                    grow(*place, &event["delta"], draft, ear)?;
                }
            }
            "content_block_stop" => {
                if let Some(place) = self.open.remove(&index(&event)?) {
                    self.close(place, draft, ear)?;
                }
            }
            "message_delta" => {
                let reason = text(&event, "/delta/stop_reason");
                if !reason.is_empty() {
                    self.stop_reason = Some(reason.to_owned());
                }
                self.cost.take(&event["usage"]);
            }
            "message_stop" => self.is_over = true,
            // `ping`, and what is invented later.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: Value, draft: &mut Draft, ear: Ear<'_>) -> Result<(), Fault> {
        let Some(blocks) = body.get("content").and_then(Value::as_array) else {
            return Err(Fault::Malformed("without content".to_owned()));
        };
        self.start(&body, draft);
        for block in blocks {
            if let Some(place) = self.open_block(block, draft, ear)? {
                self.close(place, draft, ear)?;
            }
        }
        self.stop_reason = Some(text(&body, "/stop_reason").to_owned());
        self.is_over = true;
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn end(&self, _: &mut Draft) -> Option<End> {
        if !self.is_over {
            return None;
        }
        Some(match self.stop_reason.as_deref().unwrap_or_default() {
            "end_turn" | "stop_sequence" => End::regular(FinishReason::Stop),
            "tool_use" => End::regular(FinishReason::ToolCalls),
            "max_tokens" => End::stopped(FinishReason::Length),
            "refusal" => End::stopped(FinishReason::Refused),
            "" => End::stopped(FinishReason::Other("unstated".to_owned())),
            // `pause_turn` and `model_context_window_exceeded` among others.
            word => End::stopped(FinishReason::Other(word.to_owned())),
        })
    }

    fn usage(&self) -> Option<Usage> {
        let Cost {
            input: Some(input),
            output: Some(output),
            cache_read,
            cache_write,
        } = self.cost
        else {
            return None;
        };
        // What a cache had or was given is not in the first count.
        let read = input
            .saturating_add(cache_read.unwrap_or_default())
            .saturating_add(cache_write.unwrap_or_default());
        Some(Usage {
            prompt_tokens: read,
            completion_tokens: output,
            total_tokens: read.saturating_add(output),
            cached_prompt_tokens: cache_read,
            cache_write_tokens: cache_write,
            reasoning_tokens: None,
        })
    }
}

impl MessagesReply {
    fn start(&mut self, message: &Value, draft: &mut Draft) {
        let model = text(message, "/model");
        if !model.is_empty() {
            model.clone_into(&mut draft.model);
        }
        self.cost.take(&message["usage"]);
    }

    fn open_block(
        &mut self,
        block: &Value,
        draft: &mut Draft,
        ear: Ear<'_>,
    ) -> Result<Option<usize>, Fault> {
        Ok(Some(match text(block, "/type") {
            "text" => {
                let place = draft.open_text()?;
                draft.push(place, text(block, "/text"), ear)?;
                place
            }
            "thinking" => {
                let place = draft.open_thinking(Thinking::default())?;
                draft.push(place, text(block, "/thinking"), ear)?;
                draft.sign(place, text(block, "/signature"))?;
                place
            }
            "redacted_thinking" => draft.open_thinking(Thinking {
                sealed: Some(text(block, "/data").to_owned()),
                ..Thinking::default()
            })?,
            "tool_use" => {
                let place = draft.open_call(text(block, "/id"), text(block, "/name"), ear)?;
                if let Some(input) = block.get("input").filter(|input| input.is_object()) {
                    self.given.insert(place, input.to_string());
                }
                place
            }
            _ => return Ok(None),
        }))
    }

    fn close(&mut self, place: usize, draft: &mut Draft, ear: Ear<'_>) -> Result<(), ModelError> {
        let given = self.given.remove(&place).unwrap_or_default();
        let is_empty = draft
            .call(place)
            .is_some_and(|call| call.arguments.is_empty());
        if is_empty {
            draft.push(place, &given, ear)?;
        }
        draft.close_call(place);
        Ok(())
    }
}

fn grow(place: usize, delta: &Value, draft: &mut Draft, ear: Ear<'_>) -> Result<(), ModelError> {
    match text(delta, "/type") {
        "text_delta" => draft.push(place, text(delta, "/text"), ear),
        "thinking_delta" => draft.push(place, text(delta, "/thinking"), ear),
        "input_json_delta" => draft.push(place, text(delta, "/partial_json"), ear),
        "signature_delta" => draft.sign(place, text(delta, "/signature")),
        _ => Ok(()),
    }
}

fn index(event: &Value) -> Result<u64, Fault> {
    count(event, "/index").ok_or_else(|| Fault::Malformed("without an index".to_owned()))
}
