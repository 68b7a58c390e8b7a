//! Each event of a journal as at most one line, the same for every mode.
//!
//! Pure: events in, lines out. A domain with words of its own implements [`EventLines`]. Not here:
//! colour, symbols and NDJSON (`render`).

use std::{collections::HashMap, time::Duration};

use serde_json::Value;
use windlass_types::{
    Body, Event, LogLevel, Passing, PassingNotice, Problem, RunId, Timestamp,
    journal::{ChildOutcome, SignalReceived, UnwindReason},
};

use super::asked::without_approvers;
use crate::output::{Paint, bytes, duration, shorten};

const LONGEST_DATA: usize = 160;

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// Something succeeded.
    Done,
    /// Something ended badly.
    Failed,
    /// Something began or is in progress.
    Begun,
    /// It waits for a person.
    Paused,
    /// Something was undone.
    Undone,
    /// A computation without effect, or a remark.
    Note,
    /// A remark that wants attention.
    Caution,
    /// Shown only while it lasts.
    Passing,
}

/// One line about one event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) kind: LineKind,
    pub(crate) text: String,
    pub(crate) took: Option<Duration>,
    pub(crate) phase: String,
    pub(crate) percent: Option<u8>,
    pub(crate) at: Timestamp,
    /// Who said it, where it was not the run itself.
    pub(crate) source: Option<String>,
}

impl Line {
    /// A line of that kind; everything else is unknown.
    pub(crate) fn new(kind: LineKind, text: String, phase: &str, at: Timestamp) -> Self {
        Self {
            kind,
            text,
            took: None,
            phase: phase.to_owned(),
            percent: None,
            at,
            source: None,
        }
    }
}

/// The line of what a step says in passing.
pub(crate) fn passing_line(notice: &PassingNotice) -> Line {
    let line = |kind, text: &str| Line::new(kind, text.to_owned(), &notice.step, notice.time);
    match &notice.what {
        Passing::Progress {
            done,
            total,
            message,
        } => {
            let text = match total {
                Some(total) => format!("{message} ({done} of {total})"),
                None => message.clone(),
            };
            line(LineKind::Passing, &text)
        }
        Passing::Text { text, .. } => {
            // As much as a line shows: the newest words.
            let skipped = text.chars().count().saturating_sub(LONGEST_DATA);
            let words: String = text.chars().skip(skipped).collect();
            line(LineKind::Passing, words.trim())
        }
        Passing::Again { message } => line(LineKind::Caution, message),
        Passing::Log { level, message } => match level {
            LogLevel::Info => line(LineKind::Note, message),
            LogLevel::Warning | LogLevel::Error => line(LineKind::Caution, message),
        },
    }
}

/// Makes lines of the events of one run.
pub(crate) trait EventLines {
    /// The line of one event.
    fn line(&mut self, event: &Event) -> Option<Line>;

    /// The child runs that were started since this was last asked.
    fn take_children(&mut self) -> Vec<RunId> {
        Vec::new()
    }

    /// Whether a summary stands in for the moving line. It needs every event from the first on.
    fn has_summary(&self) -> bool {
        false
    }

    /// Where the run stands, in a few lines of at most this many columns.
    fn summary(&self, _paint: Paint, _columns: usize, _now: Timestamp) -> String {
        String::new()
    }
}

/// Remembers what began, so that what ends can say how long it took.
#[derive(Debug, Default)]
pub(crate) struct RunLines {
    began: HashMap<String, Timestamp>,
    created_at: Option<Timestamp>,
    unwinding: bool,
    children: Vec<RunId>,
}

impl EventLines for RunLines {
    fn take_children(&mut self) -> Vec<RunId> {
        std::mem::take(&mut self.children)
    }

    fn line(&mut self, event: &Event) -> Option<Line> {
        let body = match Body::decode(&event.event_type, &event.payload) {
            Ok(Some(body)) => body,
            // A newer version's event: nothing to say about it here.
            Ok(None) => return None,
            Err(error) => {
                let text = format!("event {} cannot be read: {error}", event.seq);
                return Some(self.plain(LineKind::Failed, text, event.time));
            }
        };
        let at = event.time;
        match body {
            Body::RunCreated(created) => {
                self.created_at = Some(at);
                Some(Line {
                    phase: "queued".to_owned(),
                    ..self.plain(LineKind::Begun, created.title, at)
                })
            }
            Body::RunStarted(started) if started.attempt > 1 => Some(self.plain(
                LineKind::Begun,
                format!("resumed (start {})", started.attempt),
                at,
            )),
            Body::StepStarted(step) => {
                self.began.insert(step.key.clone(), at);
                Some(match step.attempt {
                    1 => self.plain(LineKind::Passing, step.key, at),
                    attempt => {
                        self.plain(LineKind::Begun, format!("{} (try {attempt})", step.key), at)
                    }
                })
            }
            Body::StepCompleted(step) => {
                let kind = if step.effect.is_some() {
                    LineKind::Done
                } else {
                    LineKind::Note
                };
                Some(self.ended(kind, &step.key, step.key.clone(), at))
            }
            Body::StepFailed(step) => {
                let again = step.retry_at.map(|_| ", trying again").unwrap_or_default();
                let text = format!("{}: {}{again}", step.key, step.problem.message());
                Some(self.ended(LineKind::Failed, &step.key, text, at))
            }
            Body::UndoCompleted(undo) => {
                Some(self.plain(LineKind::Undone, format!("undid {}", undo.key), at))
            }
            Body::UndoFailed(undo) => {
                let text = format!("could not undo {}: {}", undo.key, undo.problem.message());
                Some(self.plain(LineKind::Failed, text, at))
            }
            Body::TimerStarted(timer) => {
                self.began.insert(timer.key.clone(), at);
                let text = format!(
                    "{}: sleeping {}",
                    timer.key,
                    duration(timer.fire_at.since(at))
                );
                Some(self.waiting(LineKind::Passing, text, at))
            }
            Body::TimerFired(timer) => {
                Some(self.ended(LineKind::Note, &timer.key, timer.key.clone(), at))
            }
            Body::WaitStarted(wait) => {
                self.began.insert(wait.key.clone(), at);
                let question = wait.prompt.as_deref();
                let question = question.map(|text| without_approvers(text, &wait.terms));
                let text = match question {
                    Some(question) if is_gate(&wait.key) => {
                        format!("waits for {}: {question}", wait.terms.text())
                    }
                    Some(question) => format!("{}: {question}", wait.key),
                    None => format!("{}: waits for {}", wait.key, wait.signal),
                };
                Some(self.waiting(LineKind::Paused, text, at))
            }
            // The signal has said who answered, and what.
            Body::WaitCompleted(wait) if is_gate(&wait.key) && wait.signal_seq.is_some() => None,
            Body::WaitCompleted(wait) => {
                let text = match wait.signal_seq {
                    None if is_gate(&wait.key) => "nobody approved it in time".to_owned(),
                    Some(_) => format!("{}: answered", wait.key),
                    None => format!("{}: no answer in time", wait.key),
                };
                Some(self.ended(LineKind::Note, &wait.key, text, at))
            }
            Body::SignalReceived(signal) => Some(self.signal(&signal, at)),
            Body::ArtifactStored(stored) => {
                let text = format!(
                    "kept {} ({})",
                    stored.artifact.name,
                    bytes(stored.artifact.size)
                );
                Some(self.plain(LineKind::Note, text, at))
            }
            Body::ChildStarted(child) => {
                self.began.insert(child.key.clone(), at);
                self.children.push(child.run_id.clone());
                let text = format!("{}: child run {} ({})", child.key, child.run_id, child.kind);
                Some(self.plain(LineKind::Begun, text, at))
            }
            Body::ChildCompleted(child) => Some(match child.outcome {
                ChildOutcome::Completed { .. } => {
                    self.ended(LineKind::Done, &child.key, child.key.clone(), at)
                }
                ChildOutcome::Failed { problem } => {
                    let text = format!("{}: {}", child.key, problem.message());
                    self.ended(LineKind::Failed, &child.key, text, at)
                }
            }),
            Body::WebhookEnqueued(webhook) => {
                let text = format!(
                    "webhook {} to {}",
                    webhook.delivery.event, webhook.delivery.url
                );
                Some(self.plain(LineKind::Note, text, at))
            }
            Body::Domain(name, event) => Some(self.domain(&name, &event.data, at)),
            other => self.state_change(other, at),
        }
    }
}

impl RunLines {
    fn state_change(&mut self, body: Body, at: Timestamp) -> Option<Line> {
        let took = self.created_at.map(|created| at.since(created));
        let end = |line: Line| {
            Some(Line {
                took,
                phase: "ended".to_owned(),
                ..line
            })
        };
        match body {
            Body::RunUnwinding(unwinding) => {
                self.unwinding = true;
                let text = match (unwinding.reason, unwinding.problem) {
                    (UnwindReason::Failed, Some(problem)) => {
                        format!("undoing, because {}", problem.message())
                    }
                    (UnwindReason::Failed, None) => "undoing after a failure".to_owned(),
                    (UnwindReason::Cancelled, _) => {
                        "undoing, because the run was cancelled".to_owned()
                    }
                    (UnwindReason::Rollback, _) => "rolling back".to_owned(),
                };
                Some(self.plain(LineKind::Undone, text, at))
            }
            Body::RunCompleted(_) => {
                let line = self.plain(LineKind::Done, "completed".to_owned(), at);
                end(Line {
                    percent: Some(100),
                    ..line
                })
            }
            Body::RunFailed(failed) => end(self.plain(
                LineKind::Failed,
                ending("failed", Some(&failed.problem), &failed.residue),
                at,
            )),
            Body::RunCancelled(cancelled) => end(self.plain(
                LineKind::Failed,
                ending("cancelled", None, &cancelled.residue),
                at,
            )),
            Body::RunRolledBack(back) => end(self.plain(
                LineKind::Undone,
                ending("rolled back", None, &back.residue),
                at,
            )),
            Body::RunHeld(held) => Some(self.waiting(
                LineKind::Paused,
                format!("held: {}", held.problem.message()),
                at,
            )),
            _ => None,
        }
    }

    fn signal(&self, signal: &SignalReceived, at: Timestamp) -> Line {
        let reason = match signal.payload.get("reason").and_then(Value::as_str) {
            Some(reason) => format!(": {reason}"),
            None => String::new(),
        };
        let (kind, what) = match signal.signal.as_str() {
            "approval" if signal.payload.get("approved") == Some(&Value::Bool(true)) => {
                (LineKind::Done, "approved")
            }
            "approval" => (LineKind::Failed, "rejected"),
            "cancel" => (LineKind::Failed, "cancel requested"),
            "rollback" => (LineKind::Undone, "rollback requested"),
            other => (LineKind::Begun, other),
        };
        self.plain(kind, format!("{what} by {}{reason}", signal.principal), at)
    }

    fn domain(&self, name: &str, data: &Value, at: Timestamp) -> Line {
        let text = |key: &str| data.get(key).and_then(Value::as_str);
        let kind = if name == "progress" || name.ends_with(".progress") {
            LineKind::Passing
        } else {
            LineKind::Note
        };
        let message = match text("message") {
            Some(message) => message.to_owned(),
            None => format!("{name}: {}", shorten(&data.to_string(), LONGEST_DATA)),
        };
        let line = self.plain(kind, message, at);
        Line {
            percent: percent_of(data),
            phase: text("phase").map_or(line.phase, str::to_owned),
            ..line
        }
    }

    fn ended(&mut self, kind: LineKind, key: &str, text: String, at: Timestamp) -> Line {
        let took = self.began.remove(key).map(|began| at.since(began));
        Line {
            took,
            ..self.plain(kind, text, at)
        }
    }

    fn waiting(&self, kind: LineKind, text: String, at: Timestamp) -> Line {
        Line {
            phase: "waiting".to_owned(),
            ..self.plain(kind, text, at)
        }
    }

    fn plain(&self, kind: LineKind, text: String, at: Timestamp) -> Line {
        let phase = if self.unwinding {
            "unwinding"
        } else {
            "applying"
        };
        Line::new(kind, text, phase, at)
    }
}

/// The percentage an event's data names.
pub(crate) fn percent_of(data: &Value) -> Option<u8> {
    let percent = data.get("pct").and_then(Value::as_u64)?;
    u8::try_from(percent.min(100)).ok()
}

/// Whether a wait is one for the approval that policy asks for, before a run or within it.
fn is_gate(key: &str) -> bool {
    key == "approval before start" || key.ends_with(": approval")
}

fn ending(word: &str, problem: Option<&Problem>, residue: &[String]) -> String {
    let mut text = word.to_owned();
    if let Some(problem) = problem {
        text.push_str(&format!(": {}", problem.message()));
    }
    if !residue.is_empty() {
        text.push_str(&format!("; these effects remain: {}", residue.join(", ")));
    }
    text
}

#[cfg(test)]
#[path = "event_lines_tests.rs"]
mod tests;
