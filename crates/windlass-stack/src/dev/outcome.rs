//! The manager's envelopes as outputs and problems.

use serde_json::{Map, Value, json};
use windlass_stack_dev::Envelope;
use windlass_types::{Code, Problem, code};

use super::DevOperation;

/// What a call answers: data, `message` and `nextActions`.
pub(super) fn output(
    operation: DevOperation,
    envelope: Result<Envelope, Problem>,
) -> Result<Value, Problem> {
    let envelope = envelope.map_err(translated)?;
    let mut data = match envelope.data {
        Some(Value::Object(data)) => data,
        Some(other) => Map::from_iter([("value".to_owned(), other)]),
        None => Map::new(),
    };
    let message = envelope.message.unwrap_or_else(|| "done".to_owned());
    if envelope.ok {
        let next = next_actions(operation, &data);
        data.insert("message".to_owned(), Value::from(message));
        if !next.is_empty() {
            data.insert("nextActions".to_owned(), json!(next));
        }
        return Ok(Value::Object(data));
    }
    let mut problem = Problem::new(code_of(&envelope.code), message);
    for (name, value) in data {
        problem = problem.with(&name, value);
    }
    if *problem.code() == code::STEP_FAILED {
        if !problem.details().contains_key("reason") {
            problem = problem.with("reason", "workload_failed");
        }
        problem = problem.next("windlass stack dev logs");
    }
    Err(problem)
}

/// The registered code of a code of the contract.
fn code_of(wire: &str) -> &'static Code {
    match wire {
        "VALIDATION_ERROR" => &code::INVALID_INPUT,
        "NOT_FOUND" => &code::NOT_FOUND,
        "TIMEOUT" => &code::TIMEOUT,
        "AUTH_ERROR" => &code::UNAUTHORIZED,
        "READ_ONLY_VIOLATION" => &code::READ_ONLY_VIOLATION,
        "ALREADY_EXISTS" => &code::ALREADY_EXISTS,
        "CONFIRMATION_REQUIRED" => &code::CONFIRM_REQUIRED,
        _ => &code::STEP_FAILED,
    }
}

/// A problem with a code that the contract's envelope shows for what it is.
fn translated(problem: Problem) -> Problem {
    let code = problem.code();
    let (code, reason) = if *code == code::TOOLCHAIN_MISSING {
        (&code::INVALID_INPUT, "program_not_found")
    } else if *code == code::BUSY {
        (&code::INVALID_INPUT, "session_running")
    } else {
        return problem;
    };
    let mut translated = Problem::new(code, problem.message()).with("reason", reason);
    for (name, value) in problem.details() {
        translated = translated.with(name, value.clone());
    }
    let next = problem.next_actions().iter();
    next.fold(translated, |problem, action| problem.next(action.as_str()))
}

fn next_actions(operation: DevOperation, data: &Map<String, Value>) -> Vec<&'static str> {
    match operation {
        DevOperation::Start => vec!["windlass stack dev logs", "windlass stack dev stop"],
        DevOperation::Status if data.get("phase") == Some(&json!("stopped")) => {
            vec!["windlass stack dev start", "windlass stack dev stop"]
        }
        DevOperation::Status if data.get("ready") == Some(&json!(false)) => {
            vec!["windlass stack dev logs"]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_is_data_with_a_message() {
        let envelope = Envelope::ok("ready", json!({ "agentPort": 7331 }));
        let output = output(DevOperation::Start, Ok(envelope)).unwrap();
        assert_eq!(
            output,
            json!({
                "agentPort": 7331, "message": "ready",
                "nextActions": ["windlass stack dev logs", "windlass stack dev stop"],
            })
        );
    }

    #[test]
    fn failures_keep_their_code_and_reason() {
        for (wire, data, expected, reason) in [
            (
                "VALIDATION_ERROR",
                json!({ "reason": "not_local" }),
                "INVALID_INPUT",
                json!("not_local"),
            ),
            ("NOT_FOUND", json!({}), "NOT_FOUND", Value::Null),
            (
                "INTERNAL_ERROR",
                json!({ "output": "boom" }),
                "STEP_FAILED",
                json!("workload_failed"),
            ),
        ] {
            let failed = Envelope::failed(wire, "it failed", Some(data));
            let problem = output(DevOperation::Rebuild, Ok(failed)).unwrap_err();
            assert_eq!(problem.code().name, expected);
            let found = problem.details().get("reason").cloned().unwrap_or_default();
            assert_eq!(found, reason);
        }
        let busy = Problem::new(&code::BUSY, "it runs").next("windlass stack dev status");
        let problem = output(DevOperation::Start, Err(busy)).unwrap_err();
        assert_eq!(problem.code().name, "INVALID_INPUT");
        assert_eq!(problem.details()["reason"], "session_running");
        assert_eq!(problem.next_actions(), ["windlass stack dev status"]);
    }
}
