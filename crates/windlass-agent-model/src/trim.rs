//! Cutting old text until the conversation fits.
//!
//! Lazy: nothing is cut before the estimate is above the threshold. Then more is cut than needed,
//! so that the boundary rests for many turns and the bytes before it stay the same: providers
//! keep what they have read of an unchanged beginning.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_ports::{Message, Part, Role};

use crate::{TRIMMED, estimate::Estimate, merge::merge};

/// The part of the window that may be filled.
const FILLED: f64 = 0.8;
/// How far below the threshold a cut goes.
const AFTER_CUT: f64 = 0.75;
/// The newest answers keep their text while anything else can be cut.
const KEPT_ANSWERS: usize = 5;
/// Arguments longer than this are cut in the second stage.
const LONG_ARGUMENT: usize = 1024;
/// Messages of the user longer than this are cut in the second stage.
const LONG_QUESTION: usize = 4 * 1024;
/// What remains of them.
const KEPT_OF_QUESTION: usize = 512;

/// What a model reads and writes at most, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The whole conversation.
    pub context: u64,
    /// Kept free for the answer.
    pub reserved_output: u64,
}

impl Window {
    /// The most that a request may have.
    pub fn threshold(self) -> u64 {
        let filled = share(self.context, FILLED);
        filled.min(self.context.saturating_sub(self.reserved_output))
    }
}

/// How far the conversation is cut. Kept with the session: it only advances, and the same state
/// cuts the same bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrimState {
    /// Messages of the merged conversation before this place are cut.
    pub trimmed_up_to_message_index: usize,
    /// 0: nothing; 1: text of answers and results; 2: long arguments and questions, too.
    pub trim_stage: u8,
}

/// A conversation that fits, or the best that could be done.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduced {
    /// The messages to send.
    pub messages: Vec<Message>,
    /// The state to keep.
    pub state: TrimState,
    /// Its size before anything more was cut, in tokens.
    pub before: u64,
    /// Its size now.
    pub tokens: u64,
    /// Whether it is within the threshold.
    pub fits: bool,
}

/// Merges and cuts. `tools` is the size of the tools on offer. With `force`, cuts at least once
/// more although the estimate says it fits: a provider that counted knows better.
pub fn reduce(
    messages: Vec<Message>,
    tools: u64,
    window: Window,
    estimate: Estimate,
    state: TrimState,
    force: bool,
) -> Reduced {
    let whole = merge(messages);
    let kept = apply(&whole, state);
    let before = estimate.tokens(&kept, tools);
    let threshold = window.threshold();
    if before <= threshold && !force {
        return Reduced {
            messages: kept,
            state,
            before,
            tokens: before,
            fits: true,
        };
    }
    let goal = match force {
        true => share(before.min(threshold), AFTER_CUT),
        false => share(threshold, AFTER_CUT),
    };
    let mut best = state;
    for stage in state.trim_stage.max(1)..=2 {
        // The last place that may be cut without and with the newest answers.
        for end in [protected_from(&whole), whole.len()] {
            let from = match stage > best.trim_stage {
                true => 0,
                false => best.trimmed_up_to_message_index,
            };
            let Some(found) = advance(&whole, from, end, stage, best, goal, tools, estimate) else {
                continue;
            };
            best = found;
            let cut = apply(&whole, best);
            let tokens = estimate.tokens(&cut, tools);
            if tokens <= goal {
                return Reduced {
                    messages: cut,
                    state: best,
                    before,
                    tokens,
                    fits: true,
                };
            }
        }
    }
    let messages = apply(&whole, best);
    let tokens = estimate.tokens(&messages, tools);
    Reduced {
        messages,
        state: best,
        before,
        tokens,
        fits: tokens <= threshold,
    }
}

/// The first place up to which cutting reaches the goal, else the end; `None` where nothing is
/// gained. One pass: the sizes of single messages are added up.
#[expect(
    clippy::too_many_arguments,
    reason = "one private step of `reduce`, named for reading"
)]
fn advance(
    whole: &[Message],
    from: usize,
    end: usize,
    stage: u8,
    state: TrimState,
    goal: u64,
    tools: u64,
    estimate: Estimate,
) -> Option<TrimState> {
    let reached = state.trimmed_up_to_message_index;
    let place = |index: usize| TrimState {
        trimmed_up_to_message_index: index.max(reached),
        trim_stage: stage,
    };
    let size = |message: &Message| estimate.tokens(std::slice::from_ref(message), 0);
    let present = apply(whole, state);
    let mut tokens = estimate.tokens(&present, tools);
    let start = tokens;
    let untouched = Untouched::of(whole);
    let mut index = from;
    while index < end && (tokens > goal || index < reached) {
        let cut = cut(index, &whole[index], stage, untouched);
        tokens = tokens.saturating_sub(size(&present[index])) + size(&cut);
        index += 1;
    }
    (tokens < start).then(|| place(index))
}

/// Where the newest answers begin.
fn protected_from(whole: &[Message]) -> usize {
    let answers = whole.iter().enumerate().rev();
    let mut answers = answers.filter(|(_, message)| message.role == Role::Assistant);
    answers.nth(KEPT_ANSWERS - 1).map_or(0, |(at, _)| at)
}

/// The messages that are never cut: the rules and the first and last question.
#[derive(Clone, Copy)]
struct Untouched {
    first_question: Option<usize>,
    last_question: Option<usize>,
}

impl Untouched {
    fn of(whole: &[Message]) -> Self {
        let is_question = |message: &Message| message.role == Role::User;
        Self {
            first_question: whole.iter().position(is_question),
            last_question: whole.iter().rposition(is_question),
        }
    }
}

fn apply(whole: &[Message], state: TrimState) -> Vec<Message> {
    let untouched = Untouched::of(whole);
    let cut_one = |(at, message): (usize, &Message)| match at < state.trimmed_up_to_message_index {
        true => cut(at, message, state.trim_stage, untouched),
        false => message.clone(),
    };
    whole.iter().enumerate().map(cut_one).collect()
}

fn cut(at: usize, message: &Message, stage: u8, untouched: Untouched) -> Message {
    let parts = match message.role {
        Role::System => return message.clone(),
        // The last question is never before the boundary for long: a later one follows, and then
        // this one would change. So only its length is looked at, not whether it is the last.
        Role::User if stage < 2 || untouched.first_question == Some(at) => return message.clone(),
        Role::User if untouched.last_question == Some(at) => return message.clone(),
        Role::User => message.parts.iter().map(question).collect(),
        Role::Assistant => answer(&message.parts, stage),
        Role::Tool => message.parts.iter().map(result).collect(),
    };
    Message {
        role: message.role,
        parts,
    }
}

/// Calls stay: results refer to them.
fn answer(parts: &[Part], stage: u8) -> Vec<Part> {
    let mut kept = Vec::new();
    let has_words = parts
        .iter()
        .any(|part| matches!(part, Part::Text { .. } | Part::Thinking(_)));
    if has_words {
        kept.push(Part::text(TRIMMED));
    }
    for part in parts {
        match part {
            Part::ToolCall(call) if stage >= 2 => {
                let mut call = call.clone();
                if let Some(shorter) = shorter_arguments(&call.arguments) {
                    call.arguments = shorter;
                }
                kept.push(Part::ToolCall(call));
            }
            Part::ToolCall(_) => kept.push(part.clone()),
            _ => {}
        }
    }
    kept
}

fn result(part: &Part) -> Part {
    match part {
        Part::ToolResult(result) => {
            let mut result = result.clone();
            result.parts = vec![Part::text(TRIMMED)];
            Part::ToolResult(result)
        }
        other => other.clone(),
    }
}

fn question(part: &Part) -> Part {
    match part {
        Part::Text { text } if text.len() > LONG_QUESTION => {
            let end = text.floor_char_boundary(KEPT_OF_QUESTION);
            Part::text(format!("{}\n{TRIMMED}", &text[..end]))
        }
        Part::Image(_) | Part::Document(_) => Part::text(TRIMMED),
        other => other.clone(),
    }
}

/// Arguments with long texts replaced, still JSON; `None` where nothing is long, or nothing is
/// JSON.
fn shorter_arguments(arguments: &str) -> Option<String> {
    if arguments.len() <= LONG_ARGUMENT {
        return None;
    }
    let mut value: Value = serde_json::from_str(arguments).ok()?;
    shorten(&mut value).then(|| value.to_string())
}

fn shorten(value: &mut Value) -> bool {
    match value {
        Value::String(text) if text.len() > LONG_ARGUMENT => {
            TRIMMED.clone_into(text);
            true
        }
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |any, item| shorten(item) | any),
        Value::Object(fields) => fields
            .values_mut()
            .fold(false, |any, field| shorten(field) | any),
        _ => false,
    }
}

fn share(tokens: u64, share: f64) -> u64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of tokens are far below 2^52"
    )]
    let share = tokens as f64 * share;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count is neither negative nor larger"
    )]
    let whole = share as u64;
    whole
}

#[cfg(test)]
#[path = "trim_tests.rs"]
mod tests;
