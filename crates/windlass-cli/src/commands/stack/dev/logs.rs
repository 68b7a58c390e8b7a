//! `windlass stack dev logs`, and the tail that the live view shows.

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use windlass_types::Problem;

use crate::{
    commands::stack::{
        arguments::{Input, Request, Target, filled},
        call,
        command::{StackCall, Work},
        report,
        show::{Screen, text},
    },
    output::LogLevel,
    session::{Report, Session},
};

/// How often the log is looked at.
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Args, Debug)]
pub(crate) struct LogsArgs {
    /// Only lines of this workload.
    #[arg(value_name = "WORKLOAD")]
    of: Option<String>,
    #[command(flatten)]
    target: Target,
    /// The workload, by flag.
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// How many lines at most. Default: 50.
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Continue after this position.
    #[arg(long, value_name = "PLACE")]
    cursor: Option<u64>,
    /// Keep showing lines as they arrive, until Ctrl-C.
    #[arg(long, short)]
    follow: bool,
}

impl StackCall for LogsArgs {
    fn request(&self) -> Result<Request, Problem> {
        let [workload] = filled([self.workload.as_deref()], &[&self.of])?;
        Ok(Input::new(&self.target)
            .text("workload", workload.as_deref())
            .number("limit", self.limit)
            .number("cursor", self.cursor)
            .request("stack.dev_logs"))
    }

    fn run<'a>(&'a self, session: &'a Session) -> Work<'a> {
        Box::pin(async move {
            let request = self.request()?;
            if self.follow {
                let count = tail(session, request).await?;
                let message = format!("{count} lines");
                let data = json!({ "count": count, "message": message });
                return Ok(Report::new(message, data));
            }
            let output = call::call(session, request).await?;
            Screen::data(&session.printer).block(text(&output, "logs"));
            Ok(report(session, output))
        })
    }
}

/// Shows lines as they arrive until Ctrl-C or until the reader is gone; returns how many there
/// were.
pub(super) async fn tail(session: &Session, mut request: Request) -> Result<u64, Problem> {
    let engine = session.engine();
    let mut count = 0;
    loop {
        let asked = session.call(request.operation, request.input.clone());
        let output = tokio::select! {
            () = session.interrupt.wait() => return Ok(count),
            page = asked => page?.output,
        };
        for line in text(&output, "logs").lines() {
            count += 1;
            print_line(session, line);
        }
        if let (Some(next), Some(input)) = (output.get("nextCursor"), request.input.as_object_mut())
        {
            input.insert("cursor".to_owned(), next.clone());
        }
        if !session.printer.look_for_reader() {
            return Ok(count);
        }
        let more = output.get("count").and_then(Value::as_u64).unwrap_or(0) > 0;
        let pause = if more { Duration::ZERO } else { PAUSE };
        tokio::select! {
            () = session.interrupt.wait() => return Ok(count),
            () = engine.clock.sleep_until(engine.now().after(pause)) => {}
        }
    }
}

fn print_line(session: &Session, line: &str) {
    let printer = &session.printer;
    Screen::data(printer).line(line);
    let (source, message) = parts(line);
    printer
        .ndjson()
        .log(source, LogLevel::Info, message, session.engine().now());
}

/// Source and message of `HH:MM:SS [source] message`.
fn parts(line: &str) -> (&str, &str) {
    let rest = line.split_once(" [").map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split_once("] "))
        .unwrap_or(("dev", line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_its_source() {
        for (line, expected) in [
            ("10:00:01 [api] GET / [200] ok", ("api", "GET / [200] ok")),
            ("no source", ("dev", "no source")),
        ] {
            assert_eq!(parts(line), expected);
        }
    }
}
