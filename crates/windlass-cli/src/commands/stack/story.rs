//! What a run of a stack says about itself, as lines: `stack.progress` and `stack.log`, and what
//! stops it. Its steps and artifacts stay in the journal.

use serde_json::Value;
use windlass_text::without_escapes;
use windlass_types::{Body, Event, Timestamp};

use crate::flow::{Line, Tell, Weight};

/// Who reads the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// A person, on a screen where one line can move.
    Screen,
    /// A person, or a file that a person reads later.
    Lines,
    /// A program.
    Stream,
}

/// Tells one run.
#[derive(Debug)]
pub(super) struct Story {
    voice: Voice,
    phase: String,
}

impl Story {
    pub(super) fn new(voice: Voice) -> Self {
        Self {
            voice,
            phase: "initializing".to_owned(),
        }
    }

    fn progress(&mut self, data: &Value, at: Timestamp) -> Line {
        let phase = text(data, "phase");
        let entered = !phase.is_empty() && phase != self.phase;
        if entered {
            self.phase = phase.to_ascii_lowercase();
        }
        let message = without_escapes(text(data, "message"));
        let weight = match self.voice {
            Voice::Stream => Weight::Passing,
            _ if message.contains("_FAILED") => Weight::Failed,
            _ if message.ends_with("_COMPLETE") => Weight::Done,
            // A file shows every line; on a screen what passes passes.
            Voice::Lines => Weight::Begun,
            Voice::Screen if entered => Weight::Begun,
            Voice::Screen => Weight::Passing,
        };
        let percent = data.get("pct").and_then(Value::as_u64);
        Line {
            percent: percent.and_then(|percent| u8::try_from(percent.min(100)).ok()),
            ..self.line(weight, message, moment(data, at))
        }
    }

    fn log(&self, data: &Value, at: Timestamp) -> Line {
        let weight = match text(data, "level") {
            "error" => Weight::Failed,
            "warn" => Weight::Caution,
            _ => Weight::Note,
        };
        let message = without_escapes(text(data, "message"));
        let source = text(data, "source");
        Line {
            source: (!source.is_empty()).then(|| source.to_owned()),
            ..self.line(weight, message, moment(data, at))
        }
    }

    fn line(&self, weight: Weight, text: String, at: Timestamp) -> Line {
        Line {
            weight,
            text,
            took: None,
            phase: self.phase.clone(),
            percent: None,
            at,
            source: None,
        }
    }
}

impl Tell for Story {
    fn tell(&mut self, event: &Event) -> Option<Line> {
        let at = event.time;
        match Body::decode(&event.event_type, &event.payload).ok()?? {
            Body::Domain(name, said) => match name.as_str() {
                "stack.progress" => Some(self.progress(&said.data, at)),
                "stack.log" => Some(self.log(&said.data, at)),
                _ => None,
            },
            Body::RunStarted(started) if started.attempt > 1 => {
                let text = format!("resumed (start {})", started.attempt);
                Some(self.line(Weight::Note, text, at))
            }
            Body::WaitStarted(wait) => {
                let question = wait.prompt?;
                Some(self.line(Weight::Caution, question, at))
            }
            Body::RunHeld(held) => {
                let text = format!("held: {}", held.problem.message());
                Some(self.line(Weight::Caution, text, at))
            }
            _ => None,
        }
    }
}

fn text<'a>(data: &'a Value, key: &str) -> &'a str {
    data.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The time of the thing, where it has one.
fn moment(data: &Value, at: Timestamp) -> Timestamp {
    text(data, "ts").parse().unwrap_or(at)
}

#[cfg(test)]
#[path = "story_tests.rs"]
mod tests;
