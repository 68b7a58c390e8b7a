//! What may be said on the event stream, and how often: repetitions within a short time collapse,
//! percentages never go down within a run, sizes are bounded, terminal escapes are removed.
//!
//! Pure: times come in, decisions go out. Writing is `ndjson`'s business.

use std::{collections::HashMap, time::Duration};

use serde_json::{Map, Value, json};
use windlass_text::without_escapes;
use windlass_types::Timestamp;

use super::ndjson::LogLevel;

/// Equal progress within this time is one line.
const PROGRESS_WINDOW: Duration = Duration::from_millis(800);
/// Equal logs within this time are one line.
const LOG_WINDOW: Duration = Duration::from_secs(2);
/// The longest message, in characters.
const LONGEST_MESSAGE: usize = 8_000;
/// The largest data of a result, in bytes.
pub(super) const LARGEST_DATA: usize = 512_000;
/// How many different log lines are remembered for collapsing.
const REMEMBERED: usize = 1_000;

/// What one stream has said.
#[derive(Debug, Default)]
pub(super) struct Lines {
    percent: Option<u8>,
    last_progress: Option<Progress>,
    logs: HashMap<(String, LogLevel, String), Timestamp>,
}

#[derive(Debug)]
struct Progress {
    phase: String,
    message: String,
    percent: Option<u8>,
    at: Timestamp,
}

impl Lines {
    /// Another run begins: how far the last one came says nothing about it.
    pub(super) fn begin_run(&mut self) {
        self.percent = None;
        self.last_progress = None;
    }

    /// Progress as it may be said; `None` where it repeats the last one.
    pub(super) fn progress(
        &mut self,
        phase: &str,
        message: &str,
        percent: Option<u8>,
        at: Timestamp,
    ) -> Option<(String, Option<u8>)> {
        let message = bounded(message);
        if let Some(percent) = percent {
            let percent = percent.min(100);
            self.percent = Some(self.percent.map_or(percent, |before| before.max(percent)));
        }
        let percent = percent.and(self.percent);
        if let Some(last) = &self.last_progress
            && last.phase == phase
            && last.message == message
            && last.percent == percent
            && apart(last.at, at) < PROGRESS_WINDOW
        {
            return None;
        }
        self.last_progress = Some(Progress {
            phase: phase.to_owned(),
            message: message.clone(),
            percent,
            at,
        });
        Some((message, percent))
    }

    /// A message as it may be said; `None` where the same was said just now.
    pub(super) fn log(
        &mut self,
        source: &str,
        level: LogLevel,
        message: &str,
        at: Timestamp,
    ) -> Option<String> {
        let message = bounded(message);
        let key = (source.to_owned(), level, message.clone());
        if let Some(when) = self.logs.get(&key)
            && apart(*when, at) < LOG_WINDOW
        {
            return None;
        }
        if self.logs.len() >= REMEMBERED {
            self.logs.retain(|_, when| apart(*when, at) < LOG_WINDOW);
        }
        self.logs.insert(key, at);
        Some(message)
    }
}

/// Times of things need not come in order.
fn apart(one: Timestamp, other: Timestamp) -> Duration {
    one.since(other).max(other.since(one))
}

/// What stands for data that is too large.
pub(super) fn stand_in(
    data: &Map<String, Value>,
    size: usize,
    artifact: Option<&str>,
) -> Map<String, Value> {
    let keys: Vec<&String> = data.keys().collect();
    let mut stand_in = Map::new();
    stand_in.insert("truncated".to_owned(), Value::Bool(true));
    stand_in.insert(
        "reason".to_owned(),
        Value::from(format!(
            "the data has {size} bytes, more than {LARGEST_DATA}"
        )),
    );
    stand_in.insert("keys".to_owned(), json!(keys));
    stand_in.insert("size".to_owned(), json!(size));
    stand_in.insert("artifact".to_owned(), json!(artifact));
    // A program that waits on a run finds it without opening the file.
    for key in ["runId", "stackName"] {
        if let Some(Value::String(text)) = data.get(key) {
            stand_in.insert(key.to_owned(), Value::from(text.as_str()));
        }
    }
    stand_in
}

/// A message without escapes, cut where it is too long.
pub(super) fn bounded(message: &str) -> String {
    let text = without_escapes(message);
    match text.char_indices().nth(LONGEST_MESSAGE) {
        Some(_) => text
            .chars()
            .take(LONGEST_MESSAGE - 1)
            .chain(['…'])
            .collect(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn repetitions_collapse_within_their_window() {
        let mut lines = Lines::default();
        let mut said = |millis| {
            lines
                .progress("deploying", "Db", Some(10), at(millis))
                .is_some()
        };
        assert_eq!(
            [said(0), said(799), said(800), said(1_500)],
            [true, false, true, false]
        );
        let mut logged = |level, millis| lines.log("api", level, "hello", at(millis)).is_some();
        assert_eq!(
            [
                logged(LogLevel::Info, 0),
                logged(LogLevel::Info, 1_999),
                logged(LogLevel::Error, 1_999),
                logged(LogLevel::Info, 2_000),
            ],
            [true, false, true, true]
        );
    }

    #[test]
    fn messages_are_bounded() {
        let mut lines = Lines::default();
        let message = lines
            .log("a", LogLevel::Info, &"é".repeat(9_000), at(0))
            .unwrap();
        assert_eq!(message.chars().count(), LONGEST_MESSAGE);
    }

    proptest! {
        #[test]
        fn percentages_never_go_down(percents in prop::collection::vec(prop::option::of(0_u8..=120), 1..40)) {
            let mut lines = Lines::default();
            let mut before = 0;
            for (index, percent) in percents.into_iter().enumerate() {
                let (_, shown) = lines.progress("deploying", &index.to_string(), percent, at(0)).unwrap();
                prop_assert_eq!(shown.is_some(), percent.is_some());
                if let Some(shown) = shown {
                    prop_assert!(shown >= before && shown <= 100);
                    before = shown;
                }
            }
        }
    }
}
