//! The event stream of `--agent`: one JSON object per line, a result always last.
//!
//! The one writer every command uses. It writes the result once; whatever comes after it is
//! dropped, so a late line cannot follow the last one. What a line may hold is `lines`' business.

use std::io::Write as _;

use serde::Serialize;
use serde_json::{Map, Value, json};
use windlass_engine::contract::Contract;
use windlass_types::{Problem, Timestamp};

use super::{
    lines::{LARGEST_DATA, bounded, stand_in},
    printer::Printer,
};

const VERSION: &str = "1.0";

/// How serious a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
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
    /// Another run is followed from here on: its percentages start from zero.
    pub(crate) fn begin_run(self) {
        self.0.lines().begin_run();
    }

    /// Something is in progress. A message that was just sent is not repeated.
    pub(crate) fn progress(self, phase: &str, message: &str, ts: Timestamp, pct: Option<u8>) {
        let said = self.0.lines().progress(phase, message, pct, ts);
        if let Some((message, pct)) = said {
            self.write(Line::Progress {
                phase,
                message: &message,
                ts,
                pct,
            });
        }
    }

    /// Something was said. A message that was just sent is not repeated.
    pub(crate) fn log(self, source: &str, level: LogLevel, message: &str, ts: Timestamp) {
        let said = self.0.lines().log(source, level, message, ts);
        if let Some(message) = said {
            self.write(Line::Log {
                source,
                level,
                message: &message,
                ts,
            });
        }
    }

    /// It went well. The last line.
    pub(crate) fn success(self, message: &str, data: Value) {
        let data = match data {
            Value::Object(map) => map,
            Value::Null => Map::new(),
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        self.result(true, "OK", message, data);
    }

    /// It went badly. The last line; the contract's code, and ours with all particulars as data.
    pub(crate) fn failure(self, problem: &Problem, contract: &dyn Contract) {
        let error = json!({
            "code": problem.code().name,
            "details": problem.details(),
            "retryable": problem.code().retryable,
            "next_actions": problem.next_actions(),
        });
        let data = Map::from_iter([("error".to_owned(), error)]);
        let code = contract.code_name(problem.code());
        self.result(false, code, problem.message(), data);
    }

    /// An envelope of the contract that these lines are from as the last line: what is next to its
    /// data and has no field here moves into the data.
    pub(crate) fn envelope(self, mut envelope: Value) {
        let mut data = match envelope.get_mut("data").map(Value::take) {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        match envelope.get_mut("nextActions").map(Value::take) {
            Some(Value::Array(actions)) if !actions.is_empty() => {
                data.insert("nextActions".to_owned(), Value::Array(actions));
            }
            _ => {}
        }
        let text = |key: &str| {
            envelope
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let ok = envelope.get("ok") == Some(&Value::Bool(true));
        self.result(ok, text("code"), text("message"), data);
    }

    fn result(self, ok: bool, code: &str, message: &str, data: Map<String, Value>) {
        let size = serde_json::to_vec(&data).map_or(0, |bytes| bytes.len());
        let data = if size > LARGEST_DATA {
            stand_in(&data, size, keep(&data).as_deref())
        } else {
            data
        };
        self.write_result(Line::Result {
            ok,
            code,
            message: &bounded(message),
            data,
        });
    }

    fn write(self, line: Line<'_>) {
        self.0.agent_line(&encode(line), false);
    }

    fn write_result(self, line: Line<'_>) {
        self.0.agent_line(&encode(line), true);
    }
}

/// Puts data that is too large for a line into a file only its owner reads; its path.
fn keep(data: &Map<String, Value>) -> Option<String> {
    let mut file = tempfile::Builder::new()
        .prefix("windlass-result-")
        .suffix(".json")
        .tempfile()
        .ok()?;
    serde_json::to_writer(&mut file, data).ok()?;
    file.flush().ok()?;
    let (_, path) = file.keep().ok()?;
    Some(path.to_string_lossy().into_owned())
}

fn encode(line: Line<'_>) -> String {
    // Strings, numbers and maps with text keys: this cannot fail.
    serde_json::to_string(&Versioned { v: VERSION, line }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
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
        writer.failure(&problem, &windlass_stack::StackContract);
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
    fn an_envelope_becomes_the_result() {
        let captured = Captured::new(Mode::Agent);
        NdjsonWriter(&captured.printer).envelope(json!({
            "ok": false, "code": "DEPLOY_FAILED", "message": "Db failed", "rawTail": "…",
            "data": { "runId": "run_1" }, "nextActions": ["deploy again"],
        }));
        insta::assert_snapshot!(captured.stdout(), @r#"{"v":"1.0","type":"result","ok":false,"code":"DEPLOY_FAILED","message":"Db failed","data":{"nextActions":["deploy again"],"runId":"run_1"}}"#);
    }

    #[test]
    fn data_that_is_too_large_is_kept_in_a_file() {
        let captured = Captured::new(Mode::Agent);
        let big = "x".repeat(LARGEST_DATA);
        NdjsonWriter(&captured.printer).success("done", json!({ "big": big, "small": 1 }));
        let line: Value = serde_json::from_str(&captured.stdout()).unwrap();
        assert!(captured.stdout().len() < 1_000);
        assert_eq!(line["data"]["truncated"], true);
        assert_eq!(line["data"]["keys"], json!(["big", "small"]));
        let path = line["data"]["artifact"].as_str().unwrap();
        let kept: Value = serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap();
        fs_err::remove_file(path).unwrap();
        assert_eq!(kept["big"], big);
    }

    #[test]
    fn repeated_messages_are_dropped() {
        let captured = Captured::new(Mode::Agent);
        let writer = NdjsonWriter(&captured.printer);
        for _ in 0..3 {
            writer.progress("deploying", "Db", TS, Some(40));
            writer.log("api", LogLevel::Info, "hello", TS);
        }
        writer.progress("deploying", "Api", TS, Some(30));
        writer.begin_run();
        writer.progress("deploying", "Db", TS, Some(1));
        insta::assert_snapshot!(captured.stdout(), @r#"
        {"v":"1.0","type":"progress","phase":"deploying","message":"Db","ts":"2026-02-12T10:00:01.000Z","pct":40}
        {"v":"1.0","type":"log","source":"api","level":"info","message":"hello","ts":"2026-02-12T10:00:01.000Z"}
        {"v":"1.0","type":"progress","phase":"deploying","message":"Api","ts":"2026-02-12T10:00:01.000Z","pct":40}
        {"v":"1.0","type":"progress","phase":"deploying","message":"Db","ts":"2026-02-12T10:00:01.000Z","pct":1}
        "#);
    }

    proptest! {
        #[test]
        fn every_line_is_json_and_the_result_comes_once_and_last(
            said in prop::collection::vec(("\\PC{0,20}", "[\u{0}-\u{7f}]{0,20}", prop::option::of(0_u8..=255)), 0..20),
            late in any::<bool>(),
        ) {
            let captured = Captured::new(Mode::Agent);
            let writer = NdjsonWriter(&captured.printer);
            for (phase, message, pct) in &said {
                writer.progress(phase, message, TS, *pct);
                writer.log(phase, LogLevel::Info, message, TS);
            }
            writer.success("done", Value::Null);
            if late {
                writer.progress("late", "late", TS, None);
                writer.failure(&Problem::internal("x", "late"), &windlass_stack::StackContract);
            }
            let text = captured.stdout();
            let kinds: Vec<String> = text
                .lines()
                .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
                .collect();
            prop_assert_eq!(kinds.iter().filter(|kind| *kind == "result").count(), 1);
            prop_assert_eq!(kinds.last().map(String::as_str), Some("result"));
        }
    }

    #[test]
    fn silent_in_other_modes() {
        let captured = Captured::new(Mode::Human);
        NdjsonWriter(&captured.printer).progress("applying", "x", TS, None);
        assert_eq!(captured.stdout(), "");
    }
}
