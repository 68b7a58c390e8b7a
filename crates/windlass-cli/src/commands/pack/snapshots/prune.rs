//! `windlass pack snapshots prune`.

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_types::{EffectClass, Problem};

use crate::{
    commands::pack::context::{Context, Touches, parse},
    flow::{ConsentView, Question},
    output::{bytes, counted},
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
        let consent = |preview: &Value| {
            let found: Pruned = parse(preview)?;
            let snapshots = counted(found.removed.len(), "snapshot");
            let question = Question::Yes(format!("Remove {snapshots} permanently?"));
            let view = || ConsentView {
                summary: found.text("to remove"),
                ..ConsentView::new(
                    "pack.snapshots.prune",
                    "",
                    EffectClass::Destructive,
                    question,
                )
            };
            Ok((!found.removed.is_empty()).then(view))
        };
        let confirmed = context
            .confirmed(
                "pack.snapshots.prune",
                own,
                Touches::Repository,
                "snapshots prune",
                consent,
            )
            .await?;
        let verb = context.either("to remove", "removed");
        let message = parse::<Pruned>(&confirmed.data)?.text(verb);
        context.say(&message);
        context.warn(&confirmed.data);
        Ok(Report::new(message, confirmed.data))
    }
}

impl Pruned {
    fn text(&self, verb: &str) -> String {
        if self.removed.is_empty() {
            return "nothing to remove".to_owned();
        }
        let snapshots = counted(self.removed.len(), "snapshot");
        format!("{snapshots} {verb}, {}", bytes(self.bytes))
    }
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
        for (data, expected) in [
            (
                json!({ "removed": ["1", "2"], "bytes": 2048 }),
                "2 snapshots removed, 2.0 KiB",
            ),
            (json!({ "removed": [] }), "nothing to remove"),
        ] {
            assert_eq!(parse::<Pruned>(&data).unwrap().text("removed"), expected);
        }
    }
}
