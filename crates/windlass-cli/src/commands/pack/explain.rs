//! `windlass pack explain`: which module and layer each file comes from.

use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::json;
use windlass_types::Problem;

use super::{
    context::{Context, parse},
    show::View,
};
use crate::{
    output::{Tone, counted, one_line},
    session::Report,
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ExplainCommand {
    /// The files deploying would change.
    Plan(ExplainArgs),
    /// The same, as `diff` lists them.
    Diff(ExplainArgs),
    /// The files that drifted.
    Status(ExplainArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Explained {
    changes: Vec<Item>,
    drift: Vec<Item>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Item {
    op: String,
    kind: String,
    target: String,
    path: String,
    modules: Vec<Module>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Module {
    module_id: String,
    layer: Option<String>,
    module_path: Option<String>,
}

impl ExplainCommand {
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Plan(_) => "plan",
            Self::Diff(_) => "diff",
            Self::Status(_) => "status",
        }
    }

    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({ "kind": self.kind() });
        let data = context.read("pack.explain", own).await?;
        let explained: Explained = parse(&data)?;
        context.say(&text(&explained, &context.view));
        context.warn(&data);
        let files = explained.changes.len() + explained.drift.len();
        Ok(Report::new(
            format!("{} explained", counted(files, "file")),
            data,
        ))
    }
}

fn text(explained: &Explained, view: &View) -> String {
    let mut text = String::new();
    for item in explained.changes.iter().chain(&explained.drift) {
        let (tone, sign) = match (item.op.as_str(), item.kind.as_str()) {
            ("create", _) => (Tone::Good, "+"),
            ("delete", _) | (_, "missing") => (Tone::Bad, "-"),
            (_, "extra") => (Tone::Active, "?"),
            _ => (Tone::Warn, "~"),
        };
        text.push_str(&format!(
            "{} {}  {}\n",
            view.paint.text(tone, sign),
            view.path(&item.path),
            view.paint.text(Tone::Dim, &one_line(&item.target))
        ));
        for module in &item.modules {
            let layer = module.layer.as_deref().unwrap_or("missing");
            let place = module.module_path.as_deref().unwrap_or_default();
            let line = format!("    {}  {layer}  {place}", module.module_id);
            text.push_str(one_line(&line).trim_end());
            text.push('\n');
        }
        if item.modules.is_empty() {
            text.push_str("    no module\n");
        }
    }
    if text.is_empty() {
        text.push_str("nothing to explain\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{super::show::plain, *};

    #[test]
    fn every_file_names_its_modules() {
        let explained: Explained = serde_json::from_value(json!({
            "changes": [
                { "op": "create", "target": "codex", "path": "/home/ada/.codex/AGENTS.md", "modules": [
                    { "module_id": "instructions:base", "module_type": "instructions", "layer": "upstream", "module_path": "AGENTS.md" },
                    { "module_id": "instructions:shop", "module_type": "instructions", "layer": "project", "module_path": "AGENTS.md" },
                ] },
                { "op": "delete", "target": "codex", "path": "/home/ada/.codex/prompts/old.md", "modules": [] },
            ],
            "drift": [{ "kind": "modified", "target": "zed", "path": "/home/ada/src/shop/.rules",
                "modules": [{ "module_id": "instructions:base", "layer": null, "module_path": null }] }],
        }))
        .unwrap();
        insta::assert_snapshot!(text(&explained, &plain()), @r"
        + ~/.codex/AGENTS.md  codex
            instructions:base  upstream  AGENTS.md
            instructions:shop  project  AGENTS.md
        - ~/.codex/prompts/old.md  codex
            no module
        ~ .rules  zed
            instructions:base  missing
        ");
        assert_eq!(
            text(&Explained::default(), &plain()),
            "nothing to explain\n"
        );
    }
}
