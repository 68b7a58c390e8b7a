//! `windlass pack snapshots prune`.

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_types::Problem;

use crate::{
    commands::pack::{
        context::{Context, Question, Touches, parse, report},
        show::count,
    },
    output::bytes,
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct PruneArgs {
    /// Keep this many of the newest.
    #[arg(long, value_name = "COUNT", required_unless_present = "older_than")]
    keep: Option<u32>,
    /// Remove only those older than this many days, e.g. 30d.
    #[arg(long, value_name = "DAYS", value_parser = days)]
    older_than: Option<u32>,
    /// Also remove what was replaced when files were first adopted; it cannot be restored then.
    #[arg(long)]
    include_originals: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Pruned {
    removed: Vec<Value>,
    bytes: u64,
}

impl PruneArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({
            "keep": self.keep,
            "older_than_days": self.older_than,
            "include_originals": self.include_originals,
        });
        let question = Question {
            command: "snapshots prune",
            show: &|preview: &Value| text(preview, "would go"),
            ask: &|preview: &Value| {
                let found: Pruned = parse(preview)?;
                let snapshots = count(found.removed.len(), "snapshot");
                Ok((!found.removed.is_empty()).then(|| format!("Remove {snapshots} for good?")))
            },
        };
        let confirmed = context
            .confirmed("pack.snapshots.prune", own, Touches::Repository, question)
            .await?;
        let verb = if context.options.dry_run {
            "would go"
        } else {
            "removed"
        };
        let message = text(&confirmed.data, verb)?;
        context.say(&message);
        context.warn(&confirmed.data);
        Ok(report(message, confirmed.data))
    }
}

fn text(data: &Value, verb: &str) -> Result<String, Problem> {
    let pruned: Pruned = parse(data)?;
    if pruned.removed.is_empty() {
        return Ok("nothing to remove".to_owned());
    }
    let snapshots = count(pruned.removed.len(), "snapshot");
    Ok(format!("{snapshots} {verb}, {}", bytes(pruned.bytes)))
}

/// `30d` or `30`.
fn days(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('d').unwrap_or(text);
    number
        .parse()
        .map_err(|_| "a number of days is needed, e.g. 30d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read() {
        assert_eq!((days("30d"), days("7")), (Ok(30), Ok(7)));
        for text in ["", "d", "-1", "2w"] {
            assert!(days(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_removed_is_summed_up() {
        assert_eq!(
            text(&json!({ "removed": ["1", "2"], "bytes": 2048 }), "removed").unwrap(),
            "2 snapshots removed, 2.0 KiB"
        );
        assert_eq!(
            text(&json!({ "removed": [] }), "removed").unwrap(),
            "nothing to remove"
        );
    }
}
