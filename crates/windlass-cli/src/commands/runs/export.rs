//! `windlass runs export`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use windlass_engine::run::{ExportedFile, RunExport};
use windlass_files::{Access, FileError, create_named};
use windlass_types::{Problem, RunId};

use crate::{
    commands::artifact::{Keep, save},
    flow::{RunArg, find_run},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    run: RunArg,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE", conflicts_with = "dir")]
    output: Option<PathBuf>,
    /// Write to this directory: `run.json`, and the other formats of this kind of run (such as
    /// `events.ndjson` and `snapshot.json`).
    #[arg(long, value_name = "DIRECTORY")]
    dir: Option<PathBuf>,
}

impl ExportArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = find_run(session, &self.run.run).await?;
        if let Some(directory) = &self.dir {
            return export_to(session, &run_id, directory).await;
        }
        let answer = session
            .call("runs.export", json!({ "run_id": run_id }))
            .await?;
        let text = format!("{:#}\n", answer.output);
        match &self.output {
            Some(path) => {
                // The journal as it is, which nobody redacted.
                let keep = Keep::Private;
                save(path, text.as_bytes(), "output", keep)?;
                let notice = format!("run {run_id} written to {}", path.display());
                session
                    .printer
                    .notice(&format!("{notice}{}", keep.remark()));
                session
                    .printer
                    .hint(&format!("windlass runs import {}", path.display()));
                let written = json!({ "run_id": run_id, "file": path });
                Ok(Report::new(
                    format!("run {run_id} written to {}", path.display()),
                    written,
                ))
            }
            None => {
                if session.printer.is_human() {
                    session.printer.raw(&text);
                }
                Ok(Report::new(format!("run {run_id} exported"), answer.output))
            }
        }
    }
}

/// Writes the document and the run's other forms, each file whole or not at all.
async fn export_to(session: &Session, run_id: &RunId, directory: &Path) -> Result<Report, Problem> {
    let input = json!({ "run_id": run_id, "files": true });
    let mut export: RunExport = read(session.call("runs.export", input).await?.output)?;
    let files = std::mem::take(&mut export.files);
    let document = serde_json::to_string_pretty(&export)
        .map_err(|error| Problem::internal("export", error))?;
    let root = create_named(directory, Access::Usual).map_err(unwritable)?;
    // The journal as it is, which nobody redacted.
    let access = Keep::Private.access();
    let document = ExportedFile {
        name: "run.json".to_owned(),
        text: format!("{document}\n"),
    };
    let mut written = Vec::new();
    for file in [document].into_iter().chain(files) {
        root.write(Path::new(&file.name), file.text.as_bytes(), access)
            .map_err(unwritable)?;
        written.push(file.name);
    }
    let text = format!(
        "run {run_id} written to {}: {}",
        directory.display(),
        written.join(", ")
    );
    session
        .printer
        .notice(&format!("{text}{}", Keep::Private.remark()));
    Ok(Report::new(
        text,
        json!({ "run_id": run_id, "directory": directory, "files": written }),
    ))
}

fn read(output: Value) -> Result<RunExport, Problem> {
    serde_json::from_value(output).map_err(|error| Problem::internal("export", error))
}

fn unwritable(error: FileError) -> Problem {
    error.into_problem(|error| {
        let message = format!("the export cannot be written: {error}");
        Problem::invalid("dir", "writable", message)
    })
}
