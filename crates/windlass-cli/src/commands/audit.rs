//! `windlass audit`.

use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_engine::audit::AUDIT_JOURNAL;
use windlass_types::{Body, Event, Problem, RunId, Timestamp};

use crate::{
    commands::{field, given},
    output::{Table, Tone, counted, one_line},
    session::{Ending, Report, Session},
};

/// Journal entries looked at together while following.
const PAGE: usize = 100;

/// Show who called what, and with what result.
///
/// Newest first. Every call of an operation is recorded in a hash-chained journal; `windlass runs
/// verify sys_audit` checks it.
#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    /// Only entries recorded after this position, oldest first.
    #[arg(long, value_name = "SEQ", conflicts_with = "before")]
    after: Option<u64>,
    /// Only entries recorded before this position, as the answer before ended with.
    #[arg(long, value_name = "SEQ", conflicts_with = "follow")]
    before: Option<u64>,
    /// How many calls at most.
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Only calls of this principal; a star at the end stands for anything.
    #[arg(long, value_name = "PRINCIPAL")]
    principal: Option<String>,
    /// Only calls of this operation; a star at the end stands for anything.
    #[arg(long, value_name = "OPERATION")]
    operation: Option<String>,
    /// Only calls since then: a time such as 2026-11-18T09:00:00Z, or how long ago: 30m, 12h, 7d.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only calls before then, written the same way.
    #[arg(long, value_name = "TIME", conflicts_with = "follow")]
    until: Option<String>,
    /// Go on showing calls as they are recorded.
    #[arg(long)]
    follow: bool,
    /// Leave read-only calls out.
    #[arg(long)]
    changes: bool,
}

/// A call, as far as the table shows it.
#[derive(Deserialize, Serialize)]
struct Call {
    seq: u64,
    time: Timestamp,
    principal: String,
    surface: String,
    operation: String,
    outcome: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

/// Calls that are not on record.
#[derive(Deserialize)]
struct Gap {
    seq: u64,
    missed: u64,
    since: Timestamp,
}

impl AuditArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let now = session.engine().now();
        let moment = |flag: &str, text: &Option<String>| {
            text.as_deref()
                .map(|text| moment(flag, text, now))
                .transpose()
        };
        let mut input = given(json!({
            "after_seq": self.after,
            "before_seq": self.before,
            "limit": self.limit,
            "changes_only": self.changes,
            "principal": self.principal,
            "operation": self.operation,
            "since": moment("since", &self.since)?,
            "until": moment("until", &self.until)?,
        }));
        let answer = session.call("admin.audit", input.clone()).await?;
        let mut calls: Vec<Call> = field(&answer.output, "calls")?;
        if self.follow && self.after.is_none() {
            calls.reverse();
        }
        let printer = &session.printer;
        if !calls.is_empty() {
            printer.table(&table(&calls));
        } else if !self.follow {
            printer.notice("No calls.");
        }
        show_gaps(session, &answer.output)?;
        if self.follow {
            if !printer.is_human() {
                for call in &calls {
                    printer.raw(&line(call)?);
                }
            }
            let next = field(&answer.output, "next_after_seq")?;
            let shown = calls.len() + follow(session, &mut input, next).await?;
            let mut report = Report::new(counted(shown, "call"), Value::Null);
            report.ending = Ending::Streamed;
            return Ok(report);
        }
        let before: Option<u64> = field(&answer.output, "next_before_seq")?;
        if let Some(before) = before {
            printer.hint(&format!("older: windlass audit --before {before}"));
        }
        Ok(Report::new(counted(calls.len(), "call"), answer.output))
    }
}

/// A moment: as a time, or as how long ago it was.
fn moment(flag: &str, text: &str, now: Timestamp) -> Result<Timestamp, Problem> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let unit = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        Some('d') => 86_400,
        _ => 0,
    };
    let number = text.get(..text.len().saturating_sub(1));
    let number = number.and_then(|number| number.parse::<u32>().ok());
    match number {
        Some(number) if unit > 0 => Ok(now.before(Duration::from_secs(u64::from(number) * unit))),
        _ => Err(Problem::invalid(
            flag,
            "format",
            format!(
                "{text:?} is not a time; write 2026-11-18T09:00:00Z, or 30m, 12h or 7d for how long ago"
            ),
        )),
    }
}

fn show_gaps(session: &Session, output: &Value) -> Result<(), Problem> {
    let gaps: Option<Vec<Gap>> = field(output, "gaps")?;
    for gap in gaps.unwrap_or_default() {
        session.printer.notice(&format!(
            "{} calls since {} are not on record: the store did not take their entries (seq {})",
            gap.missed, gap.since, gap.seq
        ));
    }
    Ok(())
}

/// Shows what is recorded from now on, until the command is interrupted; how many calls.
async fn follow(session: &Session, input: &mut Value, mut next: u64) -> Result<usize, Problem> {
    let journal: RunId = AUDIT_JOURNAL
        .parse()
        .map_err(|error| Problem::internal("journal name", error))?;
    let (engine, printer) = (session.engine(), &session.printer);
    let own = session.principal().id();
    let mut growth = engine.store.follow(&journal);
    let mut shown = 0;
    loop {
        growth.mark_unchanged();
        let events = engine.store.events(&journal, next, PAGE).await?;
        // Asking is a call, too: were it shown, following would never come to rest.
        if events.iter().all(|event| is_own_look(event, &own)) {
            next = events.last().map_or(next, |event| event.seq);
        } else {
            input["after_seq"] = next.into();
            let answer = session.call("admin.audit", input.clone()).await?;
            next = field(&answer.output, "next_after_seq")?;
            let calls: Vec<Call> = field(&answer.output, "calls")?;
            let others = |call: &Call| call.operation != "admin.audit" || call.principal != own;
            let calls: Vec<Call> = calls.into_iter().filter(others).collect();
            show_gaps(session, &answer.output)?;
            for call in &calls {
                match printer.is_human() {
                    true => printer.data(&plain_line(call)),
                    false => printer.raw(&line(call)?),
                }
            }
            shown += calls.len();
            if events.len() == PAGE {
                continue;
            }
        }
        if !printer.look_for_reader() {
            return Ok(shown);
        }
        tokio::select! {
            changed = growth.changed() => if changed.is_err() {
                return Ok(shown);
            },
            () = session.interrupt.wait() => return Ok(shown),
        }
    }
}

/// Whether an entry says nothing but that this user looked at the audit log.
fn is_own_look(event: &Event, own: &str) -> bool {
    match Body::decode(&event.event_type, &event.payload) {
        Ok(Some(Body::AuditReads(reads))) => reads
            .calls
            .iter()
            .all(|read| read.call.operation == "admin.audit" && read.call.principal == own),
        _ => false,
    }
}

/// A call as one line of JSON.
fn line(call: &Call) -> Result<String, Problem> {
    serde_json::to_string(call)
        .map(|text| format!("{text}\n"))
        .map_err(|error| Problem::internal("audit entry", error))
}

/// The same for people, in the order of the table's columns.
fn plain_line(call: &Call) -> String {
    let operation = match call.count {
        Some(count) => format!("{} ×{count}", call.operation),
        None => call.operation.clone(),
    };
    let run_id = call.run_id.as_deref().unwrap_or_default();
    let text = format!(
        "{}  {}  {}  {}  {operation}  {}  {run_id}",
        call.seq, call.time, call.principal, call.surface, call.outcome
    );
    one_line(text.trim_end())
}

fn table(calls: &[Call]) -> Table {
    let mut table = Table::new(&[
        "SEQ",
        "TIME",
        "WHO",
        "THROUGH",
        "OPERATION",
        "OUTCOME",
        "RUN",
    ]);
    for call in calls {
        let tone = if call.outcome == "OK" {
            Tone::Good
        } else {
            Tone::Bad
        };
        table.toned_row([
            (Tone::Dim, call.seq.to_string()),
            (Tone::Plain, call.time.to_string()),
            (Tone::Plain, call.principal.clone()),
            (Tone::Plain, call.surface.clone()),
            (
                Tone::Plain,
                match call.count {
                    Some(count) => format!("{} ×{count}", call.operation),
                    None => call.operation.clone(),
                },
            ),
            (tone, call.outcome.clone()),
            (Tone::Plain, call.run_id.clone().unwrap_or_default()),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_times_or_how_long_ago() {
        let now: Timestamp = "2026-11-18T12:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("2026-11-18T09:00:00Z", Some("2026-11-18T09:00:00Z")),
            ("90s", Some("2026-11-18T11:58:30Z")),
            ("30m", Some("2026-11-18T11:30:00Z")),
            ("12h", Some("2026-11-18T00:00:00Z")),
            ("7d", Some("2026-11-11T12:00:00Z")),
            ("7", None),
            ("d", None),
            ("", None),
            ("-1d", None),
            ("1é", None),
        ] {
            let found = moment("since", text, now).ok();
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
