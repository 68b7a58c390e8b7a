//! `windlass stack dev` alone: starts the session, shows where everything is, and its log until
//! Ctrl-C. The session continues afterwards by default.

use clap::Args;
use serde_json::{Value, json};
use windlass_types::Problem;

use super::{logs::tail, start::StartArgs, status, stop::stop};
use crate::{
    commands::stack::{
        arguments::{Input, Request, Target},
        call,
        command::{StackCall, Work},
        report,
        show::{Screen, is},
    },
    output::Mode,
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct LiveArgs {
    #[command(flatten)]
    start: StartArgs,
    /// End the session with this command.
    #[arg(long, alias = "stopOnExit")]
    stop_on_exit: bool,
}

impl StackCall for LiveArgs {
    fn request(&self) -> Result<Request, Problem> {
        self.start.request()
    }

    fn run<'a>(&'a self, session: &'a Session) -> Work<'a> {
        Box::pin(async move {
            let printer = &session.printer;
            printer.notice("starting …");
            let output = call::call(session, self.request()?).await?;
            // One document cannot follow a log.
            if printer.mode() == Mode::Json {
                return Ok(report(session, output));
            }
            status::show(&Screen::data(printer), &output);
            printer.notice(if self.stop_on_exit {
                "Ctrl-C ends the session."
            } else {
                "Ctrl-C stops watching; `windlass stack dev stop` ends the session."
            });
            let watched = tail(session, logs_of(&self.start.target, &output)).await;
            if self.stop_on_exit {
                // Interrupted once already: this call is to be finished.
                let stop = stop(&self.start.target);
                let stopped = session.call(stop.operation, stop.input).await?.output;
                watched?;
                return Ok(report(session, stopped));
            }
            let count = watched?;
            let message = "the session is still running; `windlass stack dev stop` ends it";
            printer.notice(message);
            let mut data = output;
            data["message"] = json!(message);
            data["count"] = json!(count);
            Ok(Report::new(message, data))
        })
    }
}

/// What is watched: a session that was just started from its first line on, one that was already
/// running from its newest lines on.
fn logs_of(target: &Target, started: &Value) -> Request {
    // Starting has its own timeout; a page of the log needs none.
    let target = Target {
        timeout_seconds: None,
        ..target.clone()
    };
    let cursor = started.get("cursor").filter(|_| !is(started, "reused"));
    Input::new(&target)
        .value("cursor", cursor.cloned())
        .request("stack.dev_logs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_session_is_watched_from_its_first_line() {
        for (started, expected) in [
            (
                json!({ "cursor": 41, "reused": false }),
                json!({ "cursor": 41 }),
            ),
            (json!({ "cursor": 41, "reused": true }), json!({})),
        ] {
            let request = logs_of(&Target::default(), &started);
            assert_eq!(request.input, expected);
        }
    }
}
