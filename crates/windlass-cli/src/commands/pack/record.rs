//! `windlass pack record`: an event from standard input into the log.

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_types::{Problem, code};

use super::context::{Context, DONE};
use crate::{commands::ops::read_stdin, session::Report};

#[derive(Args, Debug)]
pub(crate) struct RecordArgs {}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Recorded {
    path: String,
}

impl RecordArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let event = event(&read_stdin()?)?;
        let own = json!({ "event": event });
        let verb = context.either("would be recorded", "recorded");
        let message =
            |recorded: &Recorded| format!("{verb} in {}", context.view.path(&recorded.path));
        context
            .write_and_say("pack.record", own, DONE, message)
            .await
    }
}

fn event(text: &str) -> Result<Value, Problem> {
    serde_json::from_str(text).map_err(|error| {
        Problem::new(
            &code::E_UNEXPECTED,
            format!("the event on standard input is not JSON: {error}"),
        )
        .with("reason_code", "invalid_arguments")
        .with("hint", "pipe one JSON object into the command")
        .next("retry_command")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_json() {
        assert_eq!(event("{\"ok\": true}\n").unwrap(), json!({ "ok": true }));
        let problem = event("ok").unwrap_err();
        assert_eq!(problem.details()["reason_code"], "invalid_arguments");
        assert!(
            problem
                .message()
                .starts_with("the event on standard input is not JSON")
        );
    }
}
