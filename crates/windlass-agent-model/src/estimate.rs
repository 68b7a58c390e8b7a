//! How many tokens a conversation has, before its provider says. Every constant is here.

use windlass_ports::{Message, Part, ToolSpec};

/// Bytes of a token.
const BYTES_PER_TOKEN: f64 = 3.5;
/// What a provider adds to each message.
const PER_MESSAGE: u64 = 8;
/// What it adds to each part.
const PER_PART: u64 = 3;
/// The names and brackets around a call or a result, in bytes.
const CALL_BYTES: u64 = 30;
/// A picture, whatever its size.
const PER_IMAGE: u64 = 2_000;
/// An estimate that is too low costs a refused request, one that is too high a little room.
const MARGIN: f64 = 1.05;
/// Schemas have many short tokens.
const TOOL_FACTOR: f64 = 1.2;
const PER_TOOL: u64 = 8;
/// A provider's count moves the estimate within these bounds.
const LEAST_FACTOR: f64 = 0.5;
const MOST_FACTOR: f64 = 2.0;

/// An estimate that learns from what the provider counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    factor: f64,
}

impl Default for Estimate {
    fn default() -> Self {
        Self { factor: 1.0 }
    }
}

impl Estimate {
    /// An estimate calibrated by a request: what was expected of it, and what was counted.
    #[must_use]
    pub fn calibrated(expected: u64, counted: u64) -> Self {
        if expected == 0 || counted == 0 {
            return Self::default();
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "counts of tokens are far below 2^52"
        )]
        let factor = counted as f64 / expected as f64;
        Self {
            factor: factor.clamp(LEAST_FACTOR, MOST_FACTOR),
        }
    }

    /// Tokens of messages and tools together.
    pub fn tokens(self, messages: &[Message], tools: u64) -> u64 {
        scaled(
            messages.iter().map(tokens_of).sum::<u64>() + tools,
            self.factor,
        )
    }
}

/// Tokens of a message.
pub fn tokens_of(message: &Message) -> u64 {
    let parts = message.parts.iter().map(part).sum::<u64>();
    scaled(PER_MESSAGE + parts, MARGIN)
}

/// Tokens of the tools on offer.
pub fn tokens_of_tools(tools: &[ToolSpec]) -> u64 {
    let one = |tool: &ToolSpec| {
        let bytes = tool.name.len() + tool.description.len() + tool.input_schema.to_string().len();
        scaled(of_bytes(bytes as u64), TOOL_FACTOR) + PER_TOOL
    };
    tools.iter().map(one).sum()
}

fn part(part: &Part) -> u64 {
    PER_PART
        + match part {
            Part::Text { text } => of_bytes(text.len() as u64),
            Part::Image(_) => PER_IMAGE,
            Part::Document(media) => of_bytes(media.data.len() as u64),
            Part::Thinking(thinking) => {
                let sealed = thinking.sealed.as_ref().map_or(0, String::len);
                of_bytes((thinking.text.len() + sealed) as u64)
            }
            Part::ToolCall(call) => {
                of_bytes((call.name.len() + call.arguments.len()) as u64 + CALL_BYTES)
            }
            Part::ToolResult(result) => {
                of_bytes(CALL_BYTES) + result.parts.iter().map(self::part).sum::<u64>()
            }
        }
}

fn of_bytes(bytes: u64) -> u64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a conversation is far below 2^52 bytes"
    )]
    let tokens = (bytes as f64 / BYTES_PER_TOKEN).ceil();
    whole(tokens)
}

fn scaled(tokens: u64, factor: f64) -> u64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of tokens are far below 2^52"
    )]
    let scaled = (tokens as f64 * factor).ceil();
    whole(scaled)
}

fn whole(tokens: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a sum of lengths is neither negative nor that large"
    )]
    let tokens = tokens as u64;
    tokens
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_sizes_of_things() {
        // 7 bytes are 2 tokens; 3 per part and 8 per message, and a margin.
        assert_eq!(tokens_of(&Message::user("1234567")), 14);
        let tool = ToolSpec {
            name: "view".to_owned(),
            description: "Shows".to_owned(),
            input_schema: json!({}),
        };
        assert_eq!(tokens_of_tools(&[tool]), 13);
    }

    #[test]
    fn a_provider_that_counts_moves_the_estimate() {
        let messages = [Message::user("x".repeat(3_500))];
        let plain = Estimate::default().tokens(&messages, 0);
        let counted = Estimate::calibrated(1_000, 1_200).tokens(&messages, 0);
        assert_eq!(counted, scaled(plain, 1.2));
        assert_eq!(
            Estimate::calibrated(1, 1_000_000),
            Estimate { factor: 2.0 },
            "one odd count does not make everything too large"
        );
        assert_eq!(Estimate::calibrated(0, 7), Estimate::default());
    }
}
