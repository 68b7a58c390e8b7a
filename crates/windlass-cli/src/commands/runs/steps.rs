//! The steps of a run, read from its journal: how often each was tried, and how it ended.
//!
//! Pure; `show` fetches the events.

use std::time::Duration;

use windlass_engine::run::EventView;
use windlass_types::{Body, Timestamp};

use crate::output::{Table, Tone, duration};

/// One step.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StepRow {
    key: String,
    tries: u32,
    outcome: Outcome,
    began: Option<Timestamp>,
    took: Option<Duration>,
    effect: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Begun,
    Done,
    Failed,
    Undone,
    Stays,
}

/// Folds events into steps, in the order they began.
#[derive(Default)]
pub(super) struct Steps(Vec<StepRow>);

impl Steps {
    /// Takes one event in.
    pub(super) fn apply(&mut self, event: &EventView) {
        match Body::decode(&event.event_type, &event.payload) {
            Ok(Some(Body::StepStarted(step))) => {
                let row = self.row(&step.key);
                row.tries = step.attempt;
                row.began = Some(event.time);
                row.outcome = Outcome::Begun;
            }
            Ok(Some(Body::StepCompleted(step))) => {
                let row = self.row(&step.key);
                row.tries = row.tries.max(1);
                row.took = row.began.map(|began| event.time.since(began));
                row.outcome = Outcome::Done;
                row.effect = step.effect;
            }
            Ok(Some(Body::StepFailed(step))) => {
                let row = self.row(&step.key);
                row.tries = step.attempt;
                row.outcome = Outcome::Failed;
            }
            Ok(Some(Body::UndoCompleted(undo))) => self.row(&undo.key).outcome = Outcome::Undone,
            Ok(Some(Body::UndoFailed(undo))) => self.row(&undo.key).outcome = Outcome::Stays,
            _ => {}
        }
    }

    fn row(&mut self, key: &str) -> &mut StepRow {
        let index = self
            .0
            .iter()
            .position(|row| row.key == key)
            .unwrap_or_else(|| {
                self.0.push(StepRow {
                    key: key.to_owned(),
                    tries: 0,
                    outcome: Outcome::Begun,
                    began: None,
                    took: None,
                    effect: None,
                });
                self.0.len() - 1
            });
        &mut self.0[index]
    }

    /// The steps as a table; none when there are no steps.
    pub(super) fn table(&self) -> Option<Table> {
        let mut table = Table::new(&["STEP", "OUTCOME", "TRIES", "TOOK", "EFFECT"]);
        for row in &self.0 {
            let (tone, outcome) = match row.outcome {
                Outcome::Begun => (Tone::Active, "begun"),
                Outcome::Done => (Tone::Good, "done"),
                Outcome::Failed => (Tone::Bad, "failed"),
                Outcome::Undone => (Tone::Warn, "undone"),
                Outcome::Stays => (Tone::Bad, "not undone"),
            };
            table.toned_row([
                (Tone::Plain, row.key.clone()),
                (tone, outcome.to_owned()),
                (Tone::Plain, row.tries.to_string()),
                (Tone::Dim, row.took.map(duration).unwrap_or_default()),
                (Tone::Plain, row.effect.clone().unwrap_or_default()),
            ]);
        }
        (!table.is_empty()).then_some(table)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::output::{Captured, Mode};

    fn event(seq: u64, event_type: &str, payload: Value) -> EventView {
        EventView {
            seq,
            time: Timestamp::from_millis(seq as i64 * 10),
            event_type: event_type.to_owned(),
            payload: payload.into(),
        }
    }

    #[test]
    fn tries_and_outcomes_are_counted() {
        let hash = "0".repeat(64);
        let started = |key: &str, attempt: u32| json!({ "key": key, "input_hash": hash, "idempotency_key": "k", "attempt": attempt });
        let completed = |key: &str, effect: Value| json!({ "key": key, "input_hash": hash, "output": null, "undoable": true, "effect": effect });
        let mut steps = Steps::default();
        for event in [
            event(1, "step.completed", completed("keep a", Value::Null)),
            event(2, "step.started", started("change a", 1)),
            event(3, "step.started", started("change a", 2)),
            event(5, "step.completed", completed("change a", json!("a.txt"))),
            event(6, "step.started", started("change b", 1)),
            event(7, "undo.completed", json!({ "key": "change a" })),
            event(8, "event.progress", json!({ "key": "p", "data": {} })),
        ] {
            steps.apply(&event);
        }
        let captured = Captured::new(Mode::Human);
        captured.printer.table(&steps.table().unwrap());
        insta::assert_snapshot!(captured.stdout(), @r"
        STEP      OUTCOME  TRIES  TOOK   EFFECT
        keep a    done     1
        change a  undone   2      20 ms  a.txt
        change b  begun    1
        ");
    }
}
