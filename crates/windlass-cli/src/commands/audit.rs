//! `windlass audit`.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_types::{Problem, Timestamp};

use crate::{
    commands::field,
    output::{Table, Tone},
    session::{Report, Session},
};

/// Show who called what, and with what result.
///
/// Every call of an operation is recorded in a hash-chained journal; `windlass runs verify
/// sys_audit` checks it.
#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    /// Only entries recorded after this position.
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,
    /// How many journal entries to read at most.
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Leave read-only calls out.
    #[arg(long)]
    changes: bool,
}

/// A call, as far as the table shows it.
#[derive(Deserialize)]
struct Call {
    seq: u64,
    time: Timestamp,
    principal: String,
    surface: String,
    operation: String,
    outcome: String,
    #[serde(default)]
    run_id: Option<String>,
    #[serde(default)]
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
        let input =
            json!({ "after_seq": self.after, "limit": self.limit, "changes_only": self.changes });
        let answer = session.call("admin.audit", input).await?;
        let calls: Vec<Call> = field(&answer.output, "calls")?;
        if calls.is_empty() {
            session.printer.notice("No calls.");
        } else {
            session.printer.table(&table(&calls));
        }
        let gaps: Option<Vec<Gap>> = field(&answer.output, "gaps")?;
        for gap in gaps.unwrap_or_default() {
            session.printer.notice(&format!(
                "{} calls since {} are not on record: the store did not take their entries (seq {})",
                gap.missed, gap.since, gap.seq
            ));
        }
        Ok(Report::new(format!("{} calls", calls.len()), answer.output))
    }
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
