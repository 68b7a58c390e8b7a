//! `windlass pack status`.

use clap::{Args, builder::PossibleValuesParser};
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_types::Problem;

use super::{
    context::{Context, parse},
    show::{Drift, DriftSummary, View, drift_table},
};
use crate::{
    output::{Table, Tone, counts},
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    /// Only drift of these kinds; may be given several times, or separated by commas.
    #[arg(
        long,
        value_name = "KIND",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(["missing", "modified", "extra"])
    )]
    only: Vec<String>,
    /// Exit with 3 when something has drifted.
    #[arg(long)]
    check: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    drift: Vec<Drift>,
    summary: DriftSummary,
    summary_total: Option<DriftSummary>,
}

impl StatusArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let only = if self.only.is_empty() {
            Value::Null
        } else {
            json!(self.only)
        };
        let data = context.read("pack.status", json!({ "only": only })).await?;
        let status: Status = parse(&data)?;
        let (table, message) = shown(&status, &context.view);
        if !table.is_empty() {
            context.printer().table(&table);
        }
        let sign = if status.drift.is_empty() {
            context.view.paint.text(Tone::Good, "✓ ")
        } else {
            String::new()
        };
        context.say(&format!("{sign}{message}"));
        context.warn(&data);
        context.next(&data);
        Ok(Report::new(message, data).found(self.check && !status.drift.is_empty()))
    }
}

fn shown(status: &Status, view: &View) -> (Table, String) {
    let table = drift_table(&status.drift, view);
    let kinds = |summary: DriftSummary| {
        counts(&[
            (summary.modified, "modified"),
            (summary.missing, "missing"),
            (summary.extra, "extra"),
        ])
    };
    let mut message = kinds(status.summary);
    if message.is_empty() {
        message = "no drift".to_owned();
    }
    if let Some(total) = status.summary_total {
        let total = kinds(total);
        if !total.is_empty() {
            message.push_str(&format!(" (of {total})"));
        }
    }
    (table, message)
}

#[cfg(test)]
mod tests {
    use super::{super::show::plain, *};

    fn text(data: Value) -> String {
        let view = plain();
        let (table, message) = shown(&serde_json::from_value(data).unwrap(), &view);
        format!("{}{message}", table.render(view.paint, None))
    }

    #[test]
    fn must_21_files_that_were_never_deployed_are_distinguished() {
        insta::assert_snapshot!(text(json!({
            "drift": [
                { "kind": "modified", "target": "codex", "path": "/home/ada/.codex/prompts/a.md" },
                { "kind": "modified", "target": "codex", "path": "/home/ada/src/shop/.codex/skills/x/run.sh",
                  "expected_mode": "0755", "actual_mode": "0644" },
                { "kind": "missing", "target": "codex", "path": "/home/ada/.codex/AGENTS.md", "deployed": false },
                { "kind": "extra", "target": "claude_code", "path": "/home/ada/.claude/commands/x.md" },
            ],
            "summary": { "modified": 2, "missing": 1, "extra": 1 },
        })), @r"
           KIND      TARGET       PATH                     NOTE
        ~  modified  codex        ~/.codex/prompts/a.md
        ~  modified  codex        .codex/skills/x/run.sh   mode 0644, should be 0755
        -  missing   codex        ~/.codex/AGENTS.md       not deployed yet
        ?  extra     claude_code  ~/.claude/commands/x.md
        2 modified, 1 missing, 1 extra
        ");
    }

    #[test]
    fn a_filter_says_what_it_left_out() {
        assert!(
            text(json!({ "drift": [], "summary": {}, "summary_total": { "extra": 2 } }))
                .ends_with("no drift (of 2 extra)")
        );
    }
}
