//! Answers: items that are added, grow and are done, between the start and the end of a response.

use std::collections::HashMap;

use serde_json::Value;
use windlass_ports::{FinishReason, ModelError, Thinking, Usage};

use crate::{
    draft::{Draft, Ear, End},
    reply::{Accumulator, Fault, count, text},
};

/// Reads a response.
#[derive(Default)]
pub(in crate::wire) struct ResponsesReply {
    items: HashMap<u64, Item>,
    is_refused: bool,
    end: Option<End>,
    usage: Option<Usage>,
}

/// An item that is growing, or done.
#[derive(Default)]
struct Item {
    place: Option<usize>,
    /// The content or summary part that the last piece belonged to.
    part: Option<u64>,
    is_done: bool,
}

impl Accumulator for ResponsesReply {
    fn event(&mut self, event: Value, draft: &mut Draft, ear: Ear<'_>) -> Result<(), Fault> {
        match text(&event, "/type") {
            "response.created" | "response.in_progress" | "response.queued" => {
                name_model(&event["response"], draft);
            }
            "response.output_item.added" => {
                self.open(index(&event)?, &event["item"], draft, ear)?;
            }
            "response.output_text.delta" => self.say(&event, "content_index", draft, ear)?,
            "response.refusal.delta" => {
                self.is_refused = true;
                self.say(&event, "content_index", draft, ear)?;
            }
            "response.reasoning_summary_text.delta" => {
                self.say(&event, "summary_index", draft, ear)?;
            }
            "response.reasoning_text.delta" => self.say(&event, "content_index", draft, ear)?,
            "response.function_call_arguments.delta" => {
                let item = self.items.entry(index(&event)?).or_default();
                if let Some(place) = item.place {
                    draft.push(place, text(&event, "/delta"), ear)?;
                }
            }
            "response.output_item.done" => self.done(index(&event)?, &event["item"], draft, ear)?,
            "response.completed" | "response.incomplete" => {
                self.finish(&event["response"], draft, ear)?;
            }
            "response.failed" => {
                return Err(Fault::Reported(event["response"]["error"].clone()));
            }
            "response.cancelled" => {
                return Err(Fault::Other(ModelError::cut(
                    "the server cancelled the answer",
                )));
            }
            "error" => return Err(Fault::Reported(event)),
            // What repeats others, and what is invented later.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: Value, draft: &mut Draft, ear: Ear<'_>) -> Result<(), Fault> {
        if !body.get("output").is_some_and(Value::is_array) {
            return Err(Fault::Malformed("without output".to_owned()));
        }
        self.finish(&body, draft, ear)
    }

    fn is_over(&self) -> bool {
        self.end.is_some()
    }

    fn end(&self, _: &mut Draft) -> Option<End> {
        self.end.clone()
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }
}

impl ResponsesReply {
    fn open(
        &mut self,
        index: u64,
        item: &Value,
        draft: &mut Draft,
        ear: Ear<'_>,
    ) -> Result<Option<usize>, ModelError> {
        let held = self.items.entry(index).or_default();
        if held.place.is_some() {
            return Ok(held.place);
        }
        held.place = match text(item, "/type") {
            "message" => Some(draft.open_text()?),
            "reasoning" => Some(draft.open_thinking(Thinking {
                id: Some(text(item, "/id").to_owned()),
                ..Thinking::default()
            })?),
            "function_call" => {
                Some(draft.open_call(text(item, "/call_id"), text(item, "/name"), ear)?)
            }
            // Calls of tools that the server runs itself are not asked for.
            _ => None,
        };
        Ok(held.place)
    }

    /// A piece of words or of a thought. Parts of a thought's summary are paragraphs.
    fn say(
        &mut self,
        event: &Value,
        part: &str,
        draft: &mut Draft,
        ear: Ear<'_>,
    ) -> Result<(), Fault> {
        let item = self.items.entry(index(event)?).or_default();
        let Some(place) = item.place else {
            return Ok(());
        };
        let part = event[part].as_u64();
        let is_next = item.part.is_some() && item.part != part;
        item.part = part;
        if is_next && draft.thinking(place).is_some() {
            draft.push(place, PARAGRAPH, &mut *ear)?;
        }
        Ok(draft.push(place, text(event, "/delta"), ear)?)
    }

    /// An item as a whole. What was not told piece by piece is told now.
    fn done(
        &mut self,
        index: u64,
        item: &Value,
        draft: &mut Draft,
        ear: Ear<'_>,
    ) -> Result<(), ModelError> {
        let place = self.open(index, item, draft, &mut *ear)?;
        let held = self.items.entry(index).or_default();
        let (Some(place), false) = (place, std::mem::replace(&mut held.is_done, true)) else {
            return Ok(());
        };
        let has_grown = held.part.is_some();
        match text(item, "/type") {
            "message" => {
                let pieces = item["content"].as_array().map(Vec::as_slice);
                for piece in pieces.unwrap_or_default() {
                    let refusal = text(piece, "/refusal");
                    self.is_refused |= !refusal.is_empty();
                    if !has_grown {
                        draft.push(place, text(piece, "/text"), &mut *ear)?;
                        draft.push(place, refusal, &mut *ear)?;
                    }
                }
            }
            "reasoning" => {
                if !has_grown {
                    let paragraphs = item["summary"].as_array().map(Vec::as_slice);
                    for (number, paragraph) in paragraphs.unwrap_or_default().iter().enumerate() {
                        if number > 0 {
                            draft.push(place, PARAGRAPH, &mut *ear)?;
                        }
                        draft.push(place, text(paragraph, "/text"), &mut *ear)?;
                    }
                }
                let sealed = text(item, "/encrypted_content");
                if let (Some(thinking), false) = (draft.thinking(place), sealed.is_empty()) {
                    thinking.sealed = Some(sealed.to_owned());
                }
            }
            "function_call" => {
                // The whole is what counts; the pieces only came first.
                if let Some(call) = draft.call(place) {
                    call.arguments.clear();
                }
                draft.push(place, text(item, "/arguments"), ear)?;
                // A response that was stopped contains calls that are not complete.
                if matches!(text(item, "/status"), "" | "completed") {
                    draft.close_call(place);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, response: &Value, draft: &mut Draft, ear: Ear<'_>) -> Result<(), Fault> {
        if text(response, "/status") == "failed" {
            return Err(Fault::Reported(response["error"].clone()));
        }
        name_model(response, draft);
        let output = response["output"].as_array().map(Vec::as_slice);
        for (index, item) in (0..).zip(output.unwrap_or_default()) {
            self.done(index, item, draft, &mut *ear)?;
        }
        self.usage = read_usage(&response["usage"]).or(self.usage);
        let why = text(response, "/incomplete_details/reason");
        self.end = Some(match (text(response, "/status"), why) {
            _ if self.is_refused => End::stopped(FinishReason::Refused),
            ("completed", _) if draft.has_calls() => End::regular(FinishReason::ToolCalls),
            ("completed", _) => End::regular(FinishReason::Stop),
            (_, "max_output_tokens") => End::stopped(FinishReason::Length),
            (_, "content_filter") => End::stopped(FinishReason::Refused),
            (status, "") => End::stopped(FinishReason::Other(status.to_owned())),
            (_, why) => End::stopped(FinishReason::Other(why.to_owned())),
        });
        Ok(())
    }
}

const PARAGRAPH: &str = "\n\n";

fn name_model(response: &Value, draft: &mut Draft) {
    let model = text(response, "/model");
    if !model.is_empty() {
        model.clone_into(&mut draft.model);
    }
}

fn index(event: &Value) -> Result<u64, Fault> {
    count(event, "/output_index").ok_or_else(|| Fault::Malformed("without an index".to_owned()))
}

fn read_usage(usage: &Value) -> Option<Usage> {
    let read = count(usage, "/input_tokens")?;
    let written = count(usage, "/output_tokens")?;
    Some(Usage {
        prompt_tokens: read,
        completion_tokens: written,
        total_tokens: count(usage, "/total_tokens").unwrap_or_else(|| read.saturating_add(written)),
        cached_prompt_tokens: count(usage, "/input_tokens_details/cached_tokens"),
        cache_write_tokens: None,
        reasoning_tokens: count(usage, "/output_tokens_details/reasoning_tokens"),
    })
}
