//! Lines of the NDJSON stream: progress, logs and the result, made from what happens.
//!
//! Pure: times come in, lines go out. Repetitions within a short time collapse, percentages never
//! go down, sizes are bounded, terminal escapes are removed. Not here: when the result is written
//! and that it is the last line (the surface).

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use windlass_ports::aws::StackEvent;
use windlass_types::Timestamp;

use crate::follow::Trail;
use crate::reason::{clean, is_cancellation};
use crate::status::is_failed;

const VERSION: &str = "1.0";
/// Equal progress within this time is one line.
const PROGRESS_WINDOW: Duration = Duration::from_millis(800);
/// Equal logs within this time are one line.
const LOG_WINDOW: Duration = Duration::from_secs(2);
/// The longest message, in characters.
pub const LONGEST_MESSAGE: usize = 8_000;
/// The largest data of a result, in bytes.
pub const LARGEST_DATA: usize = 512_000;
/// So many different log lines are remembered for collapsing.
const REMEMBERED: usize = 1_000;

/// How bad a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// News.
    Info,
    /// Something to look at.
    Warn,
    /// Something that failed.
    Error,
}

impl Level {
    const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// Makes lines of one stream.
#[derive(Debug, Default)]
pub struct Lines {
    percent: Option<u8>,
    last_progress: Option<(String, String, Option<u8>, Timestamp)>,
    logs: HashMap<(String, Level, String), Timestamp>,
}

impl Lines {
    /// A progress line; `None` where it repeats the last one.
    pub fn progress(
        &mut self,
        phase: &str,
        message: &str,
        percent: Option<u8>,
        at: Timestamp,
    ) -> Option<Value> {
        let message = bounded(message);
        if let Some(percent) = percent {
            let percent = percent.min(100);
            self.percent = Some(self.percent.map_or(percent, |before| before.max(percent)));
        }
        let percent = percent.and(self.percent);
        if let Some((last_phase, last_message, last_percent, when)) = &self.last_progress
            && last_phase == phase
            && *last_message == message
            && *last_percent == percent
            && at.since(*when) < PROGRESS_WINDOW
        {
            return None;
        }
        self.last_progress = Some((phase.to_owned(), message.clone(), percent, at));
        let mut line = json!({
            "v": VERSION, "type": "progress", "phase": phase, "message": message,
            "ts": at.to_string(),
        });
        if let Some(percent) = percent {
            line["pct"] = Value::from(percent);
        }
        Some(line)
    }

    /// A log line; `None` where the same was said just now.
    pub fn log(
        &mut self,
        source: &str,
        level: Level,
        message: &str,
        at: Timestamp,
    ) -> Option<Value> {
        let message = bounded(message);
        let key = (source.to_owned(), level, message);
        if let Some(when) = self.logs.get(&key)
            && at.since(*when) < LOG_WINDOW
        {
            return None;
        }
        if self.logs.len() >= REMEMBERED {
            self.logs.retain(|_, when| at.since(*when) < LOG_WINDOW);
        }
        let line = json!({
            "v": VERSION, "type": "log", "source": source, "level": level.name(),
            "message": key.2, "ts": at.to_string(),
        });
        self.logs.insert(key, at);
        Some(line)
    }

    /// The lines of an event: a log line with its reason where it has one, and the progress.
    pub fn event(&mut self, event: &StackEvent, trail: &Trail, now: Timestamp) -> Vec<Value> {
        let at = event.timestamp.unwrap_or(now);
        let id = &event.logical_resource_id;
        let status = &event.resource_status;
        let reason = clean(event.resource_status_reason.as_deref().unwrap_or_default());
        let mut lines = Vec::new();
        if is_failed(status) {
            let level = if is_cancellation(&reason) {
                Level::Warn
            } else {
                Level::Error
            };
            lines.extend(self.log(id, level, &format!("{status}: {reason}"), at));
        } else if status.contains("ROLLBACK_IN_PROGRESS") && !reason.is_empty() {
            lines.extend(self.log(id, Level::Warn, &format!("{status}: {reason}"), at));
        }
        let message = format!("{id} {status}");
        lines.extend(self.progress(trail.phase(), &message, Some(trail.percent), at));
        lines
    }
}

/// The result line. Data that is too large is named and left to the artifact.
pub fn result(
    ok: bool,
    code: &str,
    message: &str,
    data: Option<Map<String, Value>>,
    artifact: Option<&str>,
) -> Value {
    let mut line = json!({
        "v": VERSION, "type": "result", "ok": ok, "code": code, "message": bounded(message),
    });
    if let Some(data) = data {
        line["data"] = fit(data, LARGEST_DATA, artifact);
    }
    line
}

/// Data as it is, or what stands for it when it has more than `limit` bytes.
pub fn fit(data: Map<String, Value>, limit: usize, artifact: Option<&str>) -> Value {
    let data = Value::Object(data);
    let size = data.to_string().len();
    if size <= limit {
        return data;
    }
    let keys: Vec<&String> = data.as_object().into_iter().flat_map(Map::keys).collect();
    json!({
        "truncated": true,
        "reason": format!("the data has {size} bytes, more than {limit}"),
        "keys": keys,
        "size": size,
        "artifact": artifact,
    })
}

fn bounded(message: &str) -> String {
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

/// Text without terminal escapes and other control characters; tabs and line ends stay.
pub fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => match letters.next() {
                // Parameters end at a letter from @ to ~.
                Some('[') => {
                    for inner in letters.by_ref() {
                        if ('@'..='~').contains(&inner) {
                            break;
                        }
                    }
                }
                // A title or a link ends at BEL or ESC \.
                Some(']' | 'P' | '_' | '^' | 'X') => {
                    while let Some(inner) = letters.next() {
                        if inner == '\u{7}' {
                            break;
                        }
                        if inner == '\u{1b}' {
                            letters.next_if_eq(&'\\');
                            break;
                        }
                    }
                }
                // A character set takes one more letter.
                Some('(' | ')' | '*' | '+') => {
                    letters.next();
                }
                Some(_) | None => {}
            },
            '\n' | '\t' => plain.push(letter),
            _ if letter.is_control() => {}
            _ => plain.push(letter),
        }
    }
    plain
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
                logged(Level::Info, 0),
                logged(Level::Info, 1_999),
                logged(Level::Error, 1_999),
                logged(Level::Info, 2_000),
            ],
            [true, false, true, true]
        );
    }

    #[test]
    fn a_line_has_the_fields_of_the_contract() {
        let mut lines = Lines::default();
        let line = lines.progress("deploying", "\u{1b}[31mDb\u{1b}[0m made", Some(40), at(0));
        insta::assert_snapshot!(line.unwrap(), @r#"{"message":"Db made","pct":40,"phase":"deploying","ts":"1970-01-01T00:00:00.000Z","type":"progress","v":"1.0"}"#);
        let line = lines
            .progress("deploying", "packaging", None, at(0))
            .unwrap();
        assert!(line.get("pct").is_none());
        let line = lines.log("api", Level::Warn, "slow", at(0)).unwrap();
        insta::assert_snapshot!(line, @r#"{"level":"warn","message":"slow","source":"api","ts":"1970-01-01T00:00:00.000Z","type":"log","v":"1.0"}"#);
        let data = Map::from_iter([("stackName".to_owned(), json!("shop-dev"))]);
        let line = result(true, "OK", "Done", Some(data), None);
        insta::assert_snapshot!(line, @r#"{"code":"OK","data":{"stackName":"shop-dev"},"message":"Done","ok":true,"type":"result","v":"1.0"}"#);
    }

    #[test]
    fn sizes_are_bounded() {
        let mut lines = Lines::default();
        let line = lines
            .log("a", Level::Info, &"é".repeat(9_000), at(0))
            .unwrap();
        assert_eq!(
            line["message"].as_str().unwrap().chars().count(),
            LONGEST_MESSAGE
        );
        let data = Map::from_iter([("big".to_owned(), json!("x".repeat(LARGEST_DATA)))]);
        let line = result(true, "OK", "Done", Some(data), Some("result.json"));
        assert_eq!(line["data"]["truncated"], true);
        assert_eq!(line["data"]["keys"], json!(["big"]));
        assert_eq!(line["data"]["artifact"], "result.json");
    }

    #[test]
    fn escapes_are_removed() {
        for (text, plain) in [
            ("\u{1b}[1;32mok\u{1b}[0m", "ok"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{7}", "link"),
            ("\u{1b}(Bplain\r\n\ttab", "plain\n\ttab"),
            ("cut \u{1b}[3", "cut "),
            ("end \u{1b}", "end "),
        ] {
            assert_eq!(without_escapes(text), plain);
        }
    }

    proptest! {
        #[test]
        fn no_control_character_is_left_and_it_is_done_once(text in "\\PC*[\u{1b}\\[\\]0-9;m(A-Z\u{7}\\\\ ]{0,40}") {
            let plain = without_escapes(&text);
            prop_assert!(plain.chars().all(|letter| !letter.is_control() || matches!(letter, '\n' | '\t')));
            prop_assert_eq!(without_escapes(&plain), plain);
        }

        #[test]
        fn percentages_never_go_down(percents in prop::collection::vec(prop::option::of(0_u8..=120), 1..40)) {
            let mut lines = Lines::default();
            let mut before = 0;
            for (index, percent) in percents.into_iter().enumerate() {
                let line = lines.progress("deploying", &index.to_string(), percent, at(0)).unwrap();
                if let Some(shown) = line.get("pct").and_then(Value::as_u64) {
                    prop_assert!(shown >= before && shown <= 100);
                    before = shown;
                }
            }
        }
    }
}
