//! A journal as a story: each event becomes at most one line, the same for every mode.
//!
//! Pure: events in, lines out. Colour, symbols and NDJSON are `render`'s business.

use std::{collections::HashMap, time::Duration};

use serde_json::Value;
use windlass_types::{
    Body, Event, Problem, RunId, Timestamp,
    journal::{ChildOutcome, SignalReceived, UnwindReason},
};

use crate::output::{bytes, duration, shorten};

const LONGEST_DATA: usize = 160;

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Something ended well.
    Done,
    /// Something ended badly.
    Failed,
    /// Something began or is under way.
    Begun,
    /// Somebody is waited for.
    Paused,
    /// Something was taken back.
    Undone,
    /// A computation without effect, or a remark.
    Note,
    /// A remark that wants attention.
    Caution,
    /// Shown only while it lasts.
    Passing,
}

/// One line of the story.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) weight: Weight,
    pub(crate) text: String,
    pub(crate) took: Option<Duration>,
    pub(crate) phase: String,
    pub(crate) percent: Option<u8>,
    pub(crate) at: Timestamp,
    /// Who said it, where it was not the run itself.
    pub(crate) source: Option<String>,
}

/// Makes lines of the events of one run.
pub(crate) trait Tell {
    /// Tells one event.
    fn tell(&mut self, event: &Event) -> Option<Line>;

    /// The child run the last told event began.
    fn take_child(&mut self) -> Option<RunId> {
        None
    }
}

/// Remembers what began, so that what ends can say how long it took.
#[derive(Debug, Default)]
pub(crate) struct Narrator {
    began: HashMap<String, Timestamp>,
    created_at: Option<Timestamp>,
    unwinding: bool,
    child_started: Option<RunId>,
}

impl Tell for Narrator {
    fn take_child(&mut self) -> Option<RunId> {
        self.child_started.take()
    }

    fn tell(&mut self, event: &Event) -> Option<Line> {
        let body = match Body::decode(&event.event_type, &event.payload) {
            Ok(Some(body)) => body,
            // A newer version's event: nothing to say about it here.
            Ok(None) => return None,
            Err(error) => {
                let text = format!("event {} cannot be read: {error}", event.seq);
                return Some(self.line(Weight::Failed, text, event.time));
            }
        };
        let at = event.time;
        match body {
            Body::RunCreated(created) => {
                self.created_at = Some(at);
                Some(Line {
                    phase: "queued".to_owned(),
                    ..self.line(Weight::Begun, created.title, at)
                })
            }
            Body::RunStarted(started) if started.attempt > 1 => Some(self.line(
                Weight::Begun,
                format!("resumed (start {})", started.attempt),
                at,
            )),
            Body::StepStarted(step) => {
                self.began.insert(step.key.clone(), at);
                Some(match step.attempt {
                    1 => self.line(Weight::Passing, step.key, at),
                    attempt => {
                        self.line(Weight::Begun, format!("{} (try {attempt})", step.key), at)
                    }
                })
            }
            Body::StepCompleted(step) => {
                let weight = if step.effect.is_some() {
                    Weight::Done
                } else {
                    Weight::Note
                };
                Some(self.ended(weight, &step.key, step.key.clone(), at))
            }
            Body::StepFailed(step) => {
                let again = step.retry_at.map(|_| ", trying again").unwrap_or_default();
                let text = format!("{}: {}{again}", step.key, step.problem.message());
                Some(self.ended(Weight::Failed, &step.key, text, at))
            }
            Body::UndoCompleted(undo) => {
                Some(self.line(Weight::Undone, format!("undid {}", undo.key), at))
            }
            Body::UndoFailed(undo) => {
                let text = format!("could not undo {}: {}", undo.key, undo.problem.message());
                Some(self.line(Weight::Failed, text, at))
            }
            Body::TimerStarted(timer) => {
                self.began.insert(timer.key.clone(), at);
                let text = format!(
                    "{}: sleeping {}",
                    timer.key,
                    duration(timer.fire_at.since(at))
                );
                Some(self.waiting(Weight::Passing, text, at))
            }
            Body::TimerFired(timer) => {
                Some(self.ended(Weight::Note, &timer.key, timer.key.clone(), at))
            }
            Body::WaitStarted(wait) => {
                self.began.insert(wait.key.clone(), at);
                let question = wait
                    .prompt
                    .unwrap_or_else(|| format!("waits for {}", wait.signal));
                Some(self.waiting(Weight::Paused, format!("{}: {question}", wait.key), at))
            }
            Body::WaitCompleted(wait) => {
                let text = match wait.signal_seq {
                    Some(_) => format!("{}: answered", wait.key),
                    None => format!("{}: nobody answered in time", wait.key),
                };
                Some(self.ended(Weight::Note, &wait.key, text, at))
            }
            Body::SignalReceived(signal) => Some(self.signal(&signal, at)),
            Body::ArtifactStored(stored) => {
                let text = format!(
                    "kept {} ({})",
                    stored.artifact.name,
                    bytes(stored.artifact.size)
                );
                Some(self.line(Weight::Note, text, at))
            }
            Body::ChildStarted(child) => {
                self.began.insert(child.key.clone(), at);
                self.child_started = Some(child.run_id.clone());
                let text = format!("{}: child run {} ({})", child.key, child.run_id, child.kind);
                Some(self.line(Weight::Begun, text, at))
            }
            Body::ChildCompleted(child) => Some(match child.outcome {
                ChildOutcome::Completed { .. } => {
                    self.ended(Weight::Done, &child.key, child.key.clone(), at)
                }
                ChildOutcome::Failed { problem } => {
                    let text = format!("{}: {}", child.key, problem.message());
                    self.ended(Weight::Failed, &child.key, text, at)
                }
            }),
            Body::WebhookEnqueued(webhook) => {
                let text = format!(
                    "webhook {} to {}",
                    webhook.delivery.event, webhook.delivery.url
                );
                Some(self.line(Weight::Note, text, at))
            }
            Body::Domain(name, event) => Some(self.domain(&name, &event.data, at)),
            other => self.state_change(other, at),
        }
    }
}

impl Narrator {
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
                Some(self.line(Weight::Undone, text, at))
            }
            Body::RunCompleted(_) => {
                let line = self.line(Weight::Done, "completed".to_owned(), at);
                end(Line {
                    percent: Some(100),
                    ..line
                })
            }
            Body::RunFailed(failed) => end(self.line(
                Weight::Failed,
                ending("failed", Some(&failed.problem), &failed.residue),
                at,
            )),
            Body::RunCancelled(cancelled) => end(self.line(
                Weight::Failed,
                ending("cancelled", None, &cancelled.residue),
                at,
            )),
            Body::RunRolledBack(back) => end(self.line(
                Weight::Undone,
                ending("rolled back", None, &back.residue),
                at,
            )),
            Body::RunHeld(held) => Some(self.waiting(
                Weight::Paused,
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
        let (weight, what) = match signal.signal.as_str() {
            "approval" if signal.payload.get("approved") == Some(&Value::Bool(true)) => {
                (Weight::Done, "approved")
            }
            "approval" => (Weight::Failed, "rejected"),
            "cancel" => (Weight::Failed, "cancel requested"),
            "rollback" => (Weight::Undone, "rollback requested"),
            other => (Weight::Begun, other),
        };
        self.line(
            weight,
            format!("{what} by {}{reason}", signal.principal),
            at,
        )
    }

    fn domain(&self, name: &str, data: &Value, at: Timestamp) -> Line {
        let message = data.get("message").and_then(Value::as_str);
        let percent = data
            .get("pct")
            .and_then(Value::as_u64)
            .and_then(|pct| u8::try_from(pct.min(100)).ok());
        let text = match message {
            Some(message) => message.to_owned(),
            None => format!("{name}: {}", shorten(&data.to_string(), LONGEST_DATA)),
        };
        let weight = if name == "progress" || name.ends_with(".progress") {
            Weight::Passing
        } else {
            Weight::Note
        };
        let line = self.line(weight, text, at);
        let phase = data
            .get("phase")
            .and_then(Value::as_str)
            .map_or(line.phase, str::to_owned);
        Line {
            percent,
            phase,
            ..self.line(weight, line.text, at)
        }
    }

    fn ended(&mut self, weight: Weight, key: &str, text: String, at: Timestamp) -> Line {
        let took = self.began.remove(key).map(|began| at.since(began));
        Line {
            took,
            ..self.line(weight, text, at)
        }
    }

    fn waiting(&self, weight: Weight, text: String, at: Timestamp) -> Line {
        Line {
            phase: "waiting".to_owned(),
            ..self.line(weight, text, at)
        }
    }

    fn line(&self, weight: Weight, text: String, at: Timestamp) -> Line {
        let phase = if self.unwinding {
            "unwinding"
        } else {
            "applying"
        };
        Line {
            weight,
            text,
            took: None,
            phase: phase.to_owned(),
            percent: None,
            at,
            source: None,
        }
    }
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
#[path = "narrate_tests.rs"]
mod tests;
