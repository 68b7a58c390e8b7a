//! `windlass pack evolve restore`.

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_types::Problem;

use crate::{
    commands::pack::{
        context::{Context, Question, Touches, parse, report},
        show::{View, count},
    },
    output::Tone,
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct RestoreArgs {
    /// Only files of this module.
    #[arg(long, value_name = "ID")]
    module_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Restored {
    restored: Vec<Item>,
    reason: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Item {
    target: String,
    path: String,
}

impl RestoreArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let question = Question {
            command: "evolve restore",
            show: &|preview: &Value| Ok(text(&parse(preview)?, &context.view)),
            ask: &|preview: &Value| {
                let found: Restored = parse(preview)?;
                let files = count(found.restored.len(), "missing file");
                Ok((!found.restored.is_empty()).then(|| format!("Write {files}?")))
            },
        };
        let own = json!({ "module_id": self.module_id });
        let confirmed = context
            .confirmed("pack.evolve.restore", own, Touches::Targets, question)
            .await?;
        let restored: Restored = parse(&confirmed.data)?;
        if !confirmed.seen {
            context.say(&text(&restored, &context.view));
        }
        let files = count(restored.restored.len(), "file");
        let message = match restored.reason.as_str() {
            "no_missing" => "no file is missing".to_owned(),
            "dry_run" => format!("{files} would be written"),
            _ => format!("{files} restored"),
        };
        context.say(&message);
        context.warn(&confirmed.data);
        Ok(report(message, confirmed.data))
    }
}

fn text(restored: &Restored, view: &View) -> String {
    let lines = restored.restored.iter().map(|item| {
        let line = format!("{} {}", item.target, view.path(&item.path));
        view.line(Tone::Good, "+", &line)
    });
    lines.collect()
}
