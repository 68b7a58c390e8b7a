//! What a run of a stack says about itself, as lines: `stack.progress` and `stack.log`, and what
//! stops it. Its steps and artifacts stay in the journal.

use serde_json::Value;
use windlass_text::without_escapes;
use windlass_types::{Body, Event, Timestamp};

use crate::flow::{EventLines, Line, LineKind, percent_of};

/// Who reads the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// A person, on a screen where one line can move.
    Screen,
    /// A person, or a file that a person reads later.
    Lines,
    /// A program.
    Stream,
}

/// Makes lines of the events of one run.
#[derive(Debug)]
pub(super) struct StackLines {
    reader: Reader,
    phase: String,
}

impl StackLines {
    pub(super) fn new(reader: Reader) -> Self {
        Self {
            reader,
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
        let kind = match self.reader {
            Reader::Stream => LineKind::Passing,
            _ if message.contains("_FAILED") => LineKind::Failed,
            _ if message.ends_with("_COMPLETE") => LineKind::Done,
            // A file shows every line; on a screen what passes passes.
            Reader::Lines => LineKind::Begun,
            Reader::Screen if entered => LineKind::Begun,
            Reader::Screen => LineKind::Passing,
        };
        Line {
            percent: percent_of(data),
            ..self.plain(kind, message, moment(data, at))
        }
    }

    fn log(&self, data: &Value, at: Timestamp) -> Line {
        let kind = match text(data, "level") {
            "error" => LineKind::Failed,
            "warn" => LineKind::Caution,
            _ => LineKind::Note,
        };
        let message = without_escapes(text(data, "message"));
        let source = text(data, "source");
        Line {
            source: (!source.is_empty()).then(|| source.to_owned()),
            ..self.plain(kind, message, moment(data, at))
        }
    }

    fn plain(&self, kind: LineKind, text: String, at: Timestamp) -> Line {
        Line::new(kind, text, &self.phase, at)
    }
}

impl EventLines for StackLines {
    fn line(&mut self, event: &Event) -> Option<Line> {
        let at = event.time;
        match Body::decode(&event.event_type, &event.payload).ok()?? {
            Body::Domain(name, said) => match name.as_str() {
                "stack.progress" => Some(self.progress(&said.data, at)),
                "stack.log" => Some(self.log(&said.data, at)),
                _ => None,
            },
            Body::RunStarted(started) if started.attempt > 1 => {
                let text = format!("resumed (start {})", started.attempt);
                Some(self.plain(LineKind::Note, text, at))
            }
            Body::WaitStarted(wait) => {
                let question = wait.prompt?;
                Some(self.plain(LineKind::Caution, question, at))
            }
            Body::RunHeld(held) => {
                let text = format!("held: {}", held.problem.message());
                Some(self.plain(LineKind::Caution, text, at))
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
#[path = "event_lines_tests.rs"]
mod tests;
