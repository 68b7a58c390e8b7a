//! What a run tells anyone who watches: progress and log lines, each once.

use serde_json::{Value, json};
use windlass_engine::run::{Entry, RunContext, RunError};
use windlass_ports::aws::StackEvent;
use windlass_stack_lifecycle::follow::Trail;
use windlass_stack_lifecycle::reason::{clean, is_cancellation};
use windlass_stack_lifecycle::status::is_failed;

/// Something is under way.
pub(crate) const PROGRESS: &str = "stack.progress";
/// Something was said.
pub(crate) const LOG: &str = "stack.log";

/// Tells of a phase; said once per run, whatever happens to the process.
pub(crate) async fn progress(
    context: &dyn RunContext,
    phase: &str,
    message: &str,
    percent: Option<u8>,
) -> Result<(), RunError> {
    let mut data = json!({ "phase": phase, "message": message });
    if let Some(percent) = percent {
        data["pct"] = Value::from(percent);
    }
    context
        .record(vec![Entry::Event {
            key: format!("progress:{phase}:{message}"),
            name: PROGRESS.to_owned(),
            data,
        }])
        .await
}

/// Lines a workload or a script said; numbered, so that equal ones stay.
pub(crate) async fn logs(
    context: &dyn RunContext,
    step: &str,
    lines: &[(String, String)],
) -> Result<(), RunError> {
    let entries = lines.iter().enumerate().map(|(index, (source, message))| {
        let data = json!({ "source": source, "level": "info", "message": message });
        Entry::Event {
            key: format!("log:{step}:{index}"),
            name: LOG.to_owned(),
            data,
        }
    });
    context.record(entries.collect()).await
}

/// A warning.
pub(crate) async fn warn(
    context: &dyn RunContext,
    source: &str,
    message: &str,
) -> Result<(), RunError> {
    let data = json!({ "source": source, "level": "warn", "message": message });
    context
        .record(vec![Entry::Event {
            key: format!("warn:{source}:{message}"),
            name: LOG.to_owned(),
            data,
        }])
        .await
}

/// What an event of CloudFormation says: a log line where something failed, and the progress.
pub(crate) fn entries(event: &StackEvent, trail: &Trail) -> Vec<Entry> {
    let id = &event.logical_resource_id;
    let status = &event.resource_status;
    let reason = clean(event.resource_status_reason.as_deref().unwrap_or_default());
    let is_rollback = status.contains("ROLLBACK_IN_PROGRESS") && !reason.is_empty();
    let level = match is_failed(status) {
        true if is_cancellation(&reason) => Some("warn"),
        true => Some("error"),
        false if is_rollback => Some("warn"),
        false => None,
    };
    let mut entries = Vec::new();
    if let Some(level) = level {
        let message = format!("{status}: {reason}");
        entries.push(Entry::Event {
            key: format!("log:{}", event.event_id),
            name: LOG.to_owned(),
            data: dated(
                json!({ "source": id, "level": level, "message": message }),
                event,
            ),
        });
    }
    let data = json!({
        "phase": trail.phase(), "message": format!("{id} {status}"), "pct": trail.percent,
        "resourceType": event.resource_type, "logicalId": id, "status": status,
    });
    entries.push(Entry::Event {
        key: format!("progress:{}", event.event_id),
        name: PROGRESS.to_owned(),
        data: dated(data, event),
    });
    entries
}

fn dated(mut data: Value, event: &StackEvent) -> Value {
    if let Some(at) = event.timestamp {
        data["ts"] = Value::from(at.to_string());
    }
    data
}

#[cfg(test)]
mod tests {
    use windlass_stack_lifecycle::status::Operation;

    use super::*;

    const STACK: &str = "arn:aws:cloudformation:eu-west-1:1:stack/shop-dev/1";

    fn event(id: &str, status: &str, reason: &str) -> StackEvent {
        StackEvent {
            event_id: format!("{id}-{status}"),
            logical_resource_id: id.to_owned(),
            resource_type: "AWS::SQS::Queue".to_owned(),
            resource_status: status.to_owned(),
            resource_status_reason: (!reason.is_empty()).then(|| reason.to_owned()),
            client_request_token: Some("run-1".to_owned()),
            timestamp: Some("2026-02-12T10:00:01Z".parse().unwrap()),
            ..StackEvent::default()
        }
    }

    #[test]
    fn events_become_progress_and_failures_logs_too() {
        let planned = ["Queue", "Topic"].map(str::to_owned);
        let mut trail = Trail::new(STACK, "run-1", Operation::Deploy, planned, None);
        let mut told = Vec::new();
        for event in [
            event("Queue", "CREATE_IN_PROGRESS", ""),
            event("Queue", "CREATE_COMPLETE", ""),
            event("Topic", "CREATE_FAILED", "the name is taken"),
            event("Other", "CREATE_FAILED", "Resource creation cancelled"),
        ] {
            trail.take(vec![event.clone()]);
            for entry in entries(&event, &trail) {
                if let Entry::Event { name, data, .. } = entry {
                    let level = data["level"].as_str().unwrap_or("");
                    told.push(format!(
                        "{name} {level} {} {}",
                        data["pct"], data["message"]
                    ));
                }
            }
        }
        insta::assert_snapshot!(told.join("\n"), @r#"
        stack.progress  0 "Queue CREATE_IN_PROGRESS"
        stack.progress  50 "Queue CREATE_COMPLETE"
        stack.log error null "CREATE_FAILED: the name is taken"
        stack.progress  99 "Topic CREATE_FAILED"
        stack.log warn null "CREATE_FAILED: Resource creation cancelled"
        stack.progress  99 "Other CREATE_FAILED"
        "#);
    }
}
