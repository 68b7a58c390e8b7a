//! `windlass store backup`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use windlass_files::{Access, Directory};
use windlass_types::{Problem, code};

use crate::{
    OpenOptions,
    commands::field,
    output::bytes,
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct BackupArgs {
    /// A directory that does not exist yet. Default: one named after the time, among the home's
    /// backups.
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl BackupArgs {
    pub(crate) async fn run(
        self,
        session: &Session,
        options: &OpenOptions,
    ) -> Result<Report, Problem> {
        let directory = match self.directory {
            Some(directory) => std::path::absolute(&directory).map_err(|error| {
                Problem::invalid(
                    "directory",
                    "path",
                    format!("{} is not a usable path: {error}", directory.display()),
                )
            })?,
            None => {
                let backups = options.home.backups_dir();
                Directory::create(&backups, Access::Private).map_err(|error| {
                    Problem::new(
                        &code::STORE_UNAVAILABLE,
                        format!("the directory of backups cannot be created: {error}"),
                    )
                })?;
                // A time as a file name: no colons, which some file systems and tools refuse.
                backups.join(session.engine().now().to_string().replace(':', "-"))
            }
        };
        let answer = session
            .call("admin.store_backup", json!({ "directory": directory }))
            .await?;
        let size: u64 = field(&answer.output, "bytes")?;
        session.printer.data(&directory.display().to_string());
        session
            .printer
            .notice(&format!("{} copied; use it with --home", bytes(size)));
        Ok(Report::new(
            format!("backup in {}", directory.display()),
            answer.output,
        ))
    }
}
