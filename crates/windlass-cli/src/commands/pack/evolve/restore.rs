//! `windlass pack evolve restore`.

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_types::{EffectClass, Problem};

use crate::{
    commands::pack::{
        context::{Context, Touches, lines, parse},
        show::View,
    },
    flow::{ConsentView, Question},
    output::{Tone, counted},
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
        let consent = |preview: &Value| {
            let found: Restored = parse(preview)?;
            let files = counted(found.restored.len(), "missing file");
            let question = Question::Yes(format!("Write {files}?"));
            let view = || ConsentView {
                lines: lines(&text(&found, &context.view)),
                summary: files,
                ..ConsentView::new("pack.evolve.restore", "", EffectClass::Write, question)
            };
            Ok((!found.restored.is_empty()).then(view))
        };
        let confirmed = context
            .confirmed(
                "pack.evolve.restore",
                json!({ "module_id": self.module_id }),
                Touches::Targets,
                "evolve restore",
                consent,
            )
            .await?;
        let restored: Restored = parse(&confirmed.data)?;
        if !confirmed.seen {
            context.say(&text(&restored, &context.view));
        }
        let files = counted(restored.restored.len(), "file");
        let message = match restored.reason.as_str() {
            "no_missing" => "no file is missing".to_owned(),
            "dry_run" => format!("{files} would be written"),
            _ => format!("{files} restored"),
        };
        context.say(&message);
        context.warn(&confirmed.data);
        Ok(Report::new(message, confirmed.data))
    }
}

fn text(restored: &Restored, view: &View) -> String {
    let lines = restored.restored.iter().map(|item| {
        let line = format!("{} {}", item.target, view.path(&item.path));
        view.line(Tone::Good, "+", &line)
    });
    lines.collect()
}
