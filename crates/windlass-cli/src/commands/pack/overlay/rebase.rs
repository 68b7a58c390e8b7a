//! `windlass pack overlay rebase`.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_types::Problem;

use crate::{
    commands::pack::{
        context::{Context, Touches, parse},
        overlay_scopes,
        show::View,
    },
    output::{Tone, counts},
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct RebaseArgs {
    /// The module.
    #[arg(value_name = "MODULE")]
    module_id: String,
    /// The layer of the overlay.
    #[arg(long, value_name = "SCOPE", default_value = "global", value_parser = overlay_scopes())]
    scope: String,
    /// Remove files that end up the same as upstream.
    #[arg(long)]
    sparsify: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Rebased {
    report: Files,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Files {
    updated: Vec<String>,
    deleted: Vec<String>,
    skipped: Vec<String>,
}

impl RebaseArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({
            "module_id": self.module_id,
            "scope": self.scope,
            "sparsify": self.sparsify,
        });
        let data = context
            .write("pack.overlay.rebase", own, Touches::Repository)
            .await?;
        let rebased: Rebased = parse(&data)?;
        let (text, message) = shown(&rebased.report, &context.view);
        context.say(&text);
        context.say(&message);
        context.warn(&data);
        Ok(Report::new(message, data))
    }
}

fn shown(files: &Files, view: &View) -> (String, String) {
    let mut text = String::new();
    for (tone, sign, paths) in [
        (Tone::Warn, "~", &files.updated),
        (Tone::Bad, "-", &files.deleted),
        (Tone::Dim, "=", &files.skipped),
    ] {
        for path in paths {
            text.push_str(&view.line(tone, sign, path));
        }
    }
    let message = counts(&[
        (files.updated.len() as u64, "updated"),
        (files.deleted.len() as u64, "deleted"),
        (files.skipped.len() as u64, "skipped"),
    ]);
    if message.is_empty() {
        return (text, "the overlay is up to date".to_owned());
    }
    (text, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::pack::show::plain;

    #[test]
    fn files_and_a_sum() {
        let files = Files {
            updated: vec!["SKILL.md".to_owned()],
            deleted: vec!["old.md".to_owned()],
            skipped: vec!["mine.md".to_owned()],
        };
        let (text, message) = shown(&files, &plain());
        insta::assert_snapshot!(text + &message, @r"
        ~ SKILL.md
        - old.md
        = mine.md
        1 updated, 1 deleted, 1 skipped
        ");
        assert_eq!(
            shown(&Files::default(), &plain()).1,
            "the overlay is up to date"
        );
    }
}
