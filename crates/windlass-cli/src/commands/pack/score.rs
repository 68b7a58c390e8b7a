//! `windlass pack score`.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_types::Problem;

use super::{
    context::{Context, parse},
    show::minute,
};
use crate::{
    output::{Table, Tone, counted},
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct ScoreArgs {}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Scores {
    modules: Vec<Score>,
    read_stats: ReadStats,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Score {
    module_id: String,
    total: u64,
    failures: u64,
    failure_rate: Option<f64>,
    last_seen_at: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReadStats {
    records_ok: usize,
    skipped_total: usize,
}

impl ScoreArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let data = context.read("pack.score", json!({})).await?;
        let scores: Scores = parse(&data)?;
        if !scores.modules.is_empty() {
            context.printer().table(&table(&scores));
        }
        let mut message = format!("{} read", counted(scores.read_stats.records_ok, "event"));
        if scores.read_stats.skipped_total > 0 {
            message.push_str(&format!(", {} skipped", scores.read_stats.skipped_total));
        }
        context.printer().notice(&message);
        context.warn(&data);
        Ok(Report::new(message, data))
    }
}

fn table(scores: &Scores) -> Table {
    let mut table = Table::new(&["MODULE", "EVENTS", "FAILED", "RATE", "LAST SEEN"]);
    for score in &scores.modules {
        let tone = if score.failures > 0 {
            Tone::Warn
        } else {
            Tone::Plain
        };
        let rate = score
            .failure_rate
            .filter(|_| score.total > 0)
            .map(|rate| format!("{:.0} %", rate * 100.0));
        let seen = score.last_seen_at.as_deref().map(minute);
        table.toned_row([
            (Tone::Plain, score.module_id.clone()),
            (Tone::Plain, score.total.to_string()),
            (tone, score.failures.to_string()),
            (tone, rate.unwrap_or_default()),
            (Tone::Dim, seen.unwrap_or_else(|| "never".to_owned())),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{super::show::plain, *};

    #[test]
    fn the_worst_comes_first() {
        let scores: Scores = serde_json::from_value(json!({ "modules": [
            { "module_id": "skill:x", "total": 4, "failures": 1, "failure_rate": 0.25, "last_seen_at": "2026-01-02T03:04:05.000000000Z" },
            { "module_id": "skill:y", "total": 0, "failures": 0, "failure_rate": null, "last_seen_at": null },
        ] }))
        .unwrap();
        insta::assert_snapshot!(table(&scores).render(plain().paint, None), @r"
        MODULE   EVENTS  FAILED  RATE  LAST SEEN
        skill:x  4       1       25 %  2026-01-02 03:04
        skill:y  0       0             never
        ");
    }
}
