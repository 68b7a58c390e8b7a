//! The event stream of `--agent`: one JSON object per line, a result always last (contract 000).
//!
//! The one writer every command uses. It writes the result once; whatever comes after it is
//! dropped, so a late line cannot follow the last one.

use serde::Serialize;
use serde_json::{Map, Value, json};
use windlass_engine::envelope::Envelope;
use windlass_types::{Problem, Timestamp};

use super::printer::Printer;

const VERSION: &str = "1.0";

/// How serious a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogLevel {
    Info,
    Warn,
    Error,
}

/// One line, with its fields in the contract's order.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Progress {
        phase: &'a str,
        message: &'a str,
        ts: Timestamp,
        #[serde(skip_serializing_if = "Option::is_none")]
        pct: Option<u8>,
    },
    Log {
        source: &'a str,
        level: LogLevel,
        message: &'a str,
        ts: Timestamp,
    },
    Result {
        ok: bool,
        code: &'a str,
        message: &'a str,
        #[serde(skip_serializing_if = "Map::is_empty")]
        data: Map<String, Value>,
    },
}

#[derive(Serialize)]
struct Versioned<'a> {
    v: &'static str,
    #[serde(flatten)]
    line: Line<'a>,
}

/// Writes the event stream; silent outside `--agent`.
#[derive(Clone, Copy)]
pub(crate) struct NdjsonWriter<'a>(pub(super) &'a Printer);

impl NdjsonWriter<'_> {
    /// Something is under way.
    pub(crate) fn progress(self, phase: &str, message: &str, ts: Timestamp, pct: Option<u8>) {
        self.write(Line::Progress {
            phase,
            message,
            ts,
            pct: pct.map(|pct| pct.min(100)),
        });
    }

    /// Something was said.
    pub(crate) fn log(self, source: &str, level: LogLevel, message: &str, ts: Timestamp) {
        self.write(Line::Log {
            source,
            level,
            message,
            ts,
        });
    }

    /// It went well. The last line.
    pub(crate) fn success(self, message: &str, data: Value) {
        let data = match data {
            Value::Object(map) => map,
            Value::Null => Map::new(),
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        self.write_result(Line::Result {
            ok: true,
            code: "OK",
            message,
            data,
        });
    }

    /// It went badly. The last line; the contract's code, and ours with all particulars as data.
    pub(crate) fn failure(self, problem: &Problem) {
        let error = json!({
            "code": problem.code().name,
            "details": problem.details(),
            "retryable": problem.code().retryable,
            "next_actions": problem.next_actions(),
        });
        self.write_result(Line::Result {
            ok: false,
            code: Envelope::Stack.code_name(problem.code()),
            message: problem.message(),
            data: Map::from_iter([("error".to_owned(), error)]),
        });
    }

    fn write(self, line: Line<'_>) {
        self.0.agent_line(&encode(line), false);
    }

    fn write_result(self, line: Line<'_>) {
        self.0.agent_line(&encode(line), true);
    }
}

fn encode(line: Line<'_>) -> String {
    // Strings, numbers and maps with text keys: this cannot fail.
    serde_json::to_string(&Versioned { v: VERSION, line }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use windlass_types::code;

    use super::*;
    use crate::output::{Captured, Mode};

    const TS: Timestamp = Timestamp::from_millis(1_770_890_401_000);

    #[test]
    fn lines_have_the_shape_of_the_contract() {
        let captured = Captured::new(Mode::Agent);
        let writer = NdjsonWriter(&captured.printer);
        writer.progress("applying", "wrote a.txt", TS, Some(50));
        writer.progress("waiting", "line\nbreak", TS, None);
        writer.log("demo", LogLevel::Warn, "slow", TS);
        writer.success("done", json!({ "run_id": "run_1" }));
        insta::assert_snapshot!(captured.stdout(), @r#"
        {"v":"1.0","type":"progress","phase":"applying","message":"wrote a.txt","ts":"2026-02-12T10:00:01.000Z","pct":50}
        {"v":"1.0","type":"progress","phase":"waiting","message":"line\nbreak","ts":"2026-02-12T10:00:01.000Z"}
        {"v":"1.0","type":"log","source":"demo","level":"warn","message":"slow","ts":"2026-02-12T10:00:01.000Z"}
        {"v":"1.0","type":"result","ok":true,"code":"OK","message":"done","data":{"run_id":"run_1"}}
        "#);
    }

    #[test]
    fn nothing_follows_the_result() {
        let captured = Captured::new(Mode::Agent);
        let writer = NdjsonWriter(&captured.printer);
        let problem = Problem::new(&code::RUN_NOT_FOUND, "no run run_9").next("windlass runs list");
        writer.failure(&problem);
        writer.progress("applying", "late", TS, None);
        writer.success("late", Value::Null);
        insta::assert_snapshot!(captured.stdout(), @r#"{"v":"1.0","type":"result","ok":false,"code":"NOT_FOUND","message":"no run run_9","data":{"error":{"code":"RUN_NOT_FOUND","details":{},"next_actions":["windlass runs list"],"retryable":false}}}"#);
    }

    #[test]
    fn data_is_always_an_object() {
        for (data, expected) in [
            (Value::Null, None),
            (json!([1]), Some(json!({"value": [1]}))),
        ] {
            let captured = Captured::new(Mode::Agent);
            NdjsonWriter(&captured.printer).success("done", data);
            let line: Value = serde_json::from_str(&captured.stdout()).unwrap();
            assert_eq!(line.get("data").cloned(), expected);
        }
    }

    #[test]
    fn silent_in_other_modes() {
        let captured = Captured::new(Mode::Human);
        NdjsonWriter(&captured.printer).progress("applying", "x", TS, None);
        assert_eq!(captured.stdout(), "");
    }
}
