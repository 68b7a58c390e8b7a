//! `windlass pack snapshots list`.

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_types::Problem;

use crate::{
    commands::pack::{
        context::{Context, parse},
        show::minute,
    },
    output::{Table, Tone, bytes, counted},
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct ListArgs {}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Listed {
    snapshots: Vec<Snapshot>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Snapshot {
    id: String,
    kind: String,
    created_at: String,
    targets: Vec<String>,
    files: u64,
    summary: Value,
    bytes: u64,
    head: bool,
    rolled_back_to: Option<String>,
}

impl ListArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let data = context.read("pack.snapshots.list", json!({})).await?;
        let listed: Listed = parse(&data)?;
        if listed.snapshots.is_empty() {
            context
                .printer()
                .notice("No snapshots: nothing was deployed yet.");
            context.hint("deploy --apply");
        } else {
            context.printer().table(&table(&listed));
        }
        context.warn(&data);
        let message = counted(listed.snapshots.len(), "snapshot");
        Ok(Report::new(message, data))
    }
}

fn table(listed: &Listed) -> Table {
    let mut table = Table::new(&[
        "SNAPSHOT", "KIND", "WHEN", "FILES", "CHANGES", "SIZE", "TARGETS", "NOTE",
    ]);
    for snapshot in &listed.snapshots {
        let mut notes = Vec::new();
        if snapshot.head {
            notes.push("in force".to_owned());
        }
        if let Some(to) = &snapshot.rolled_back_to {
            notes.push(format!("back to {to}"));
        }
        let tone = if snapshot.head {
            Tone::Good
        } else {
            Tone::Plain
        };
        table.toned_row([
            (tone, snapshot.id.clone()),
            (Tone::Plain, snapshot.kind.clone()),
            (Tone::Dim, minute(&snapshot.created_at)),
            (Tone::Plain, snapshot.files.to_string()),
            (Tone::Plain, changes(&snapshot.summary)),
            (Tone::Plain, bytes(snapshot.bytes)),
            (Tone::Dim, snapshot.targets.join(",")),
            (Tone::Dim, notes.join("; ")),
        ]);
    }
    table
}

/// `+1 ~2 -3`, without the zeros.
fn changes(summary: &Value) -> String {
    let parts = [("create", "+"), ("update", "~"), ("delete", "-")];
    let parts = parts.iter().filter_map(|(key, sign)| {
        let number = summary.get(key)?.as_u64().filter(|number| *number > 0)?;
        Some(format!("{sign}{number}"))
    });
    parts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::pack::show::plain;

    #[test]
    fn must_31_every_event_has_a_line() {
        let listed: Listed = serde_json::from_value(json!({ "snapshots": [
            { "id": "1700000000000000002", "kind": "rollback", "created_at": "2026-01-02T03:04:05Z", "targets": ["codex"],
              "files": 2, "summary": { "create": 0, "update": 1, "delete": 3 }, "bytes": 900, "head": true, "rolled_back_to": "1700000000000000001" },
            { "id": "1700000000000000001", "kind": "deploy", "created_at": "2026-01-01T03:04:05Z", "targets": ["claude_code", "codex"],
              "files": 5, "summary": { "create": 5 }, "bytes": 20480, "head": false },
        ] }))
        .unwrap();
        insta::assert_snapshot!(table(&listed).render(plain().paint, None), @r"
        SNAPSHOT             KIND      WHEN              FILES  CHANGES  SIZE      TARGETS            NOTE
        1700000000000000002  rollback  2026-01-02 03:04  2      ~1 -3    900 B     codex              in force; back to 1700000000000000001
        1700000000000000001  deploy    2026-01-01 03:04  5      +5       20.0 KiB  claude_code,codex
        ");
    }
}
