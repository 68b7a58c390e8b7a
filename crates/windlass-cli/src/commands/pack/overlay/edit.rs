//! `windlass pack overlay edit`.

use std::{path::Path, process::ExitStatus};

use clap::{Args, builder::PossibleValuesParser};
use serde::Deserialize;
use serde_json::json;
use windlass_config::env;
use windlass_types::{Problem, code};

use crate::{
    commands::pack::{
        context::{Context, Touches, parse},
        overlay_scopes,
    },
    output::Tone,
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct EditArgs {
    /// The module.
    #[arg(value_name = "MODULE")]
    module_id: String,
    /// The layer it goes into.
    #[arg(long, value_name = "SCOPE", default_value = "global", value_parser = overlay_scopes())]
    scope: String,
    /// Whether it holds whole files or patches. Default: what it holds already, or whole files.
    #[arg(
        long,
        value_name = "KIND",
        value_parser = PossibleValuesParser::new(["dir", "patch"])
    )]
    kind: Option<String>,
    /// Deprecated: the same as --scope project.
    #[arg(long)]
    project: bool,
    /// Copy no file of the module.
    #[arg(long, conflicts_with = "materialize")]
    sparse: bool,
    /// Copy the files an existing overlay lacks.
    #[arg(long)]
    materialize: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Edited {
    overlay_dir: String,
    created: bool,
}

impl EditArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let scope = if self.project { "project" } else { &self.scope };
        let own = json!({
            "module_id": self.module_id,
            "scope": scope,
            "kind": self.kind,
            "sparse": self.sparse,
            "materialize": self.materialize,
        });
        let data = context
            .write("pack.overlay.edit", own, Touches::Repository)
            .await?;
        let edited: Edited = parse(&data)?;
        let place = context.view.path(&edited.overlay_dir);
        let message = match (context.options.dry_run, edited.created) {
            (true, _) => format!("overlay would be in {place}"),
            (false, true) => format!("overlay created in {place}"),
            (false, false) => format!("overlay in {place}"),
        };
        context.say(&context.view.line(Tone::Good, "✓", &message));
        context.warn(&data);
        if context.printer().is_human() && !context.options.dry_run {
            open_editor(context, Path::new(&edited.overlay_dir)).await?;
            context.hint("preview --diff");
        }
        Ok(Report::new(message, data))
    }
}

/// Opens the editor of the environment, if it names one, and waits for it.
async fn open_editor(context: &Context<'_>, directory: &Path) -> Result<(), Problem> {
    let Some(editor) = context.open.environment.get(&env::EDITOR) else {
        return Ok(());
    };
    let failed = |cause: String| {
        Problem::new(
            &code::E_UNEXPECTED,
            format!("{editor:?} failed: {cause}; the overlay was created"),
        )
        .with("reason_code", "io_error")
        .with(
            "hint",
            "set EDITOR to a program that works, or edit the overlay yourself",
        )
    };
    let status = run_editor(editor, directory)
        .await
        .map_err(|error| failed(error.to_string()))?;
    if status.success() {
        Ok(())
    } else {
        Err(failed(status.to_string()))
    }
}

/// As other tools do: the value may hold arguments, so a shell takes it apart.
async fn run_editor(editor: &str, directory: &Path) -> std::io::Result<ExitStatus> {
    tokio::process::Command::from(windlass_process::command("sh"))
        .arg("-c")
        .arg(format!("{editor} \"$@\""))
        .arg(editor)
        .arg(directory)
        .status()
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_editor_may_have_arguments_and_gets_the_directory() {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path().join("with space");
        fs_err::create_dir(&place).unwrap();
        let note = scratch.path().join("note");
        let editor = format!("printf '%s|' > {} -w", note.display());
        assert!(run_editor(&editor, &place).await.unwrap().success());
        assert_eq!(
            fs_err::read_to_string(&note).unwrap(),
            format!("-w|{}|", place.display())
        );
        assert!(!run_editor("false", &place).await.unwrap().success());
    }
}
