//! The log of `record` (`events.jsonl`) and the score computed from it.

use std::{
    cmp::{Ordering, Reverse},
    collections::BTreeMap,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The one schema version there is.
pub const SCHEMA_VERSION: u32 = 1;

/// No more warnings than these about single lines; the counts have them all.
const MAX_WARNINGS: usize = 20;

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// The version of the format.
    pub schema_version: u32,
    /// When, RFC 3339.
    pub recorded_at: String,
    /// On which machine.
    pub machine_id: String,
    /// The command it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_id: Option<String>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The commit of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_rev: Option<String>,
    /// The module it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module_id: Option<String>,
    /// The snapshot it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
    /// Whether it went well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// The targets it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<String>>,
    /// The event as it was given.
    pub event: Value,
}

impl EventRecord {
    /// The record of an event; what it says about itself is lifted out of it.
    pub fn new(
        recorded_at: impl Into<String>,
        machine_id: impl Into<String>,
        event: Value,
    ) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            recorded_at: recorded_at.into(),
            machine_id: machine_id.into(),
            command_id: lift_text(&event, "command_id", "commandId"),
            duration_ms: lift(&event, "duration_ms", "durationMs").and_then(Value::as_u64),
            git_rev: lift_text(&event, "git_rev", "gitRev"),
            module_id: lift_text(&event, "module_id", "moduleId"),
            snapshot_id: lift_text(&event, "snapshot_id", "snapshotId"),
            success: success(&event),
            targets: targets(&event),
            event,
        }
    }

    /// The line of the log, with its newline.
    pub fn line(&self) -> String {
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }
}

fn lift<'a>(event: &'a Value, name: &str, camel: &str) -> Option<&'a Value> {
    event.get(name).or_else(|| event.get(camel))
}

fn lift_text(event: &Value, name: &str, camel: &str) -> Option<String> {
    lift(event, name, camel)?.as_str().map(str::to_owned)
}

fn success(event: &Value) -> Option<bool> {
    ["success", "ok", "successful"]
        .into_iter()
        .find_map(|name| event.get(name)?.as_bool())
}

fn targets(event: &Value) -> Option<Vec<String>> {
    let mut targets: Vec<String> = event
        .get("targets")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|target| target.as_str().map(str::to_owned))
        .collect();
    targets.sort();
    targets.dedup();
    if targets.is_empty() {
        let target = event.get("target")?.as_str()?;
        return Some(vec![target.to_owned()]);
    }
    Some(targets)
}

/// How reading the log went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReadStats {
    /// All lines.
    pub lines_total: u64,
    /// Those with nothing in them.
    pub lines_empty: u64,
    /// Those that count.
    pub records_ok: u64,
    /// Those that do not.
    pub skipped_total: u64,
    /// Of these, those that could not be read.
    pub skipped_io_errors: u64,
    /// Those that are not records.
    pub skipped_malformed_json: u64,
    /// Those of another version.
    pub skipped_unsupported_schema_version: u64,
}

/// The score of a module.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModuleScore {
    /// The module.
    pub module_id: String,
    /// How many events there are.
    pub total: u64,
    /// How many went wrong.
    pub failures: u64,
    /// Their share; none without events.
    pub failure_rate: Option<f64>,
    /// When the last one was recorded.
    pub last_seen_at: Option<String>,
}

#[derive(Clone, Debug, Default)]
struct Tally {
    total: u64,
    failures: u64,
    last_seen_at: Option<String>,
}

/// Reads the log line by line and keeps only what the score needs.
#[derive(Clone, Debug, Default)]
pub struct EventLog {
    /// How reading went.
    pub stats: ReadStats,
    /// What was skipped, for people.
    pub warnings: Vec<String>,
    modules: BTreeMap<String, Tally>,
}

impl EventLog {
    /// Takes one line, or the failure to read it.
    pub fn take(&mut self, line: Result<&[u8], &std::io::Error>) {
        self.stats.lines_total += 1;
        let number = self.stats.lines_total;
        let text = line
            .map_err(ToString::to_string)
            .and_then(|bytes| std::str::from_utf8(bytes).map_err(|error| error.to_string()));
        let text = match text {
            Ok(text) => text.trim(),
            Err(error) => {
                self.stats.skipped_io_errors += 1;
                self.skip(format!("events.jsonl: cannot read line {number}: {error}"));
                return;
            }
        };
        if text.is_empty() {
            self.stats.lines_empty += 1;
            return;
        }
        let record: EventRecord = match serde_json::from_str(text) {
            Ok(record) => record,
            Err(error) => {
                self.stats.skipped_malformed_json += 1;
                self.skip(format!(
                    "events.jsonl: line {number} is not a record: {error}"
                ));
                return;
            }
        };
        if record.schema_version != SCHEMA_VERSION {
            self.stats.skipped_unsupported_schema_version += 1;
            self.skip(format!(
                "events.jsonl: line {number} has unsupported schema_version {}",
                record.schema_version
            ));
            return;
        }
        self.stats.records_ok += 1;
        self.count(&record);
    }

    fn skip(&mut self, warning: String) {
        self.stats.skipped_total += 1;
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(warning);
        } else if self.warnings.len() == MAX_WARNINGS {
            self.warnings
                .push("events.jsonl: more lines were skipped".to_owned());
        }
    }

    fn count(&mut self, record: &EventRecord) {
        let lifted = || lift_text(&record.event, "module_id", "moduleId");
        let Some(module_id) = record.module_id.clone().or_else(lifted) else {
            return;
        };
        let went_well = record
            .success
            .or_else(|| success(&record.event))
            .unwrap_or(true);
        let tally = self.modules.entry(module_id).or_default();
        tally.total += 1;
        tally.failures += u64::from(!went_well);
        if tally.last_seen_at.as_ref() < Some(&record.recorded_at) {
            tally.last_seen_at = Some(record.recorded_at.clone());
        }
    }

    /// The scores, worst first, then by id; modules never seen come last.
    pub fn scores<'a>(&self, known: impl IntoIterator<Item = &'a str>) -> Vec<ModuleScore> {
        let mut modules = self.modules.clone();
        for id in known {
            modules.entry(id.to_owned()).or_default();
        }
        let mut scores: Vec<ModuleScore> = modules
            .into_iter()
            .map(|(module_id, tally)| ModuleScore {
                module_id,
                total: tally.total,
                failures: tally.failures,
                failure_rate: (tally.total > 0).then(|| tally.failures as f64 / tally.total as f64),
                last_seen_at: tally.last_seen_at,
            })
            .collect();
        scores.sort_by(compare);
        scores
    }
}

fn compare(left: &ModuleScore, right: &ModuleScore) -> Ordering {
    // Cross-multiplied, so that equal shares are equal whatever floats make of them.
    let share = |score: &ModuleScore, other: &ModuleScore| {
        u128::from(score.failures) * u128::from(other.total)
    };
    (left.total == 0)
        .cmp(&(right.total == 0))
        .then_with(|| Reverse(share(left, right)).cmp(&Reverse(share(right, left))))
        .then_with(|| left.module_id.cmp(&right.module_id))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn records_contain_the_fields_of_events() {
        let record = EventRecord::new(
            "2026-01-02T03:04:05.000000006Z",
            "laptop",
            json!({"moduleId": "skill:a", "durationMs": 7, "ok": false, "target": "codex", "x": 1}),
        );
        insta::assert_snapshot!(record.line(), @r#"{"schema_version":1,"recorded_at":"2026-01-02T03:04:05.000000006Z","machine_id":"laptop","duration_ms":7,"module_id":"skill:a","success":false,"targets":["codex"],"event":{"durationMs":7,"moduleId":"skill:a","ok":false,"target":"codex","x":1}}"#);
        let record = EventRecord::new("t", "m", json!({"targets": ["b", "a", "b", 3]}));
        assert_eq!(record.targets, Some(vec!["a".to_owned(), "b".to_owned()]));
        let record = EventRecord::new("t", "m", json!("just text"));
        assert_eq!((record.module_id, record.targets), (None, None));
    }

    #[test]
    fn scores_are_worst_first_and_bad_lines_are_counted() {
        let mut log = EventLog::default();
        let line = |at: &str, event: Value| EventRecord::new(at, "m", event).line();
        let old = r#"{"schema_version":1,"recorded_at":"2025","machine_id":"m","event":{"module_id":"c"}}"#;
        for text in [
            line("2026-01-02", json!({"module_id": "a", "success": false})),
            line("2026-01-01", json!({"module_id": "a"})),
            line("2026-01-01", json!({"module_id": "b", "success": false})),
            line("2026-01-01", json!({"nothing": 1})),
            old.to_owned(),
            "\n".to_owned(),
            "{".to_owned(),
            r#"{"schema_version":2,"recorded_at":"t","machine_id":"m","event":1}"#.to_owned(),
        ] {
            log.take(Ok(text.as_bytes()));
        }
        log.take(Ok(b"\xff"));
        log.take(Err(&std::io::Error::other("gone")));
        assert_eq!(
            serde_json::to_value(&log.stats).unwrap(),
            json!({
                "lines_total": 10, "lines_empty": 1, "records_ok": 5, "skipped_total": 4,
                "skipped_io_errors": 2, "skipped_malformed_json": 1,
                "skipped_unsupported_schema_version": 1
            })
        );
        assert_eq!(log.warnings.len(), 4);
        assert_eq!(
            serde_json::to_value(log.scores(["never", "a"])).unwrap(),
            json!([
                {"module_id": "b", "total": 1, "failures": 1, "failure_rate": 1.0, "last_seen_at": "2026-01-01"},
                {"module_id": "a", "total": 2, "failures": 1, "failure_rate": 0.5, "last_seen_at": "2026-01-02"},
                {"module_id": "c", "total": 1, "failures": 0, "failure_rate": 0.0, "last_seen_at": "2025"},
                {"module_id": "never", "total": 0, "failures": 0, "failure_rate": null, "last_seen_at": null}
            ])
        );
    }

    #[test]
    fn warnings_are_bounded() {
        let mut log = EventLog::default();
        for _ in 0..1000 {
            log.take(Ok(b"{"));
        }
        assert_eq!(log.warnings.len(), MAX_WARNINGS + 1);
        assert_eq!(log.stats.skipped_malformed_json, 1000);
    }
}
