//! `windlass internal`: what the repository's own tools call.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;
use windlass_types::{Problem, code};

use crate::{
    Host, reference,
    session::{Report, Session},
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum InternalCommand {
    /// Write every generated document below a directory.
    Generate(GenerateArgs),
}

#[derive(Args, Debug)]
pub(crate) struct GenerateArgs {
    /// The directory that stands for the root of the repository.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl InternalCommand {
    pub(crate) fn run(self, session: &Session, host: &dyn Host) -> Result<Report, Problem> {
        let Self::Generate(args) = self;
        let catalogue = session.catalogue();
        catalogue
            .check()
            .map_err(|error| Problem::internal("operation catalogue", error))?;
        let mut files = reference::generate(&catalogue.operations().collect::<Vec<_>>())?;
        files.extend(host.generate(catalogue)?);
        let unwritable = |error: std::io::Error| {
            Problem::new(
                &code::CONFIG_INVALID,
                format!("the documents cannot be written: {error}"),
            )
        };
        for (path, text) in &files {
            let target = args.directory.join(path);
            if let Some(parent) = target.parent() {
                fs_err::create_dir_all(parent).map_err(unwritable)?;
            }
            fs_err::write(target, text).map_err(unwritable)?;
        }
        let message = format!(
            "{} documents written to {}",
            files.len(),
            args.directory.display()
        );
        session.printer.data(&message);
        Ok(Report::new(message, json!({ "documents": files.len() })))
    }
}
