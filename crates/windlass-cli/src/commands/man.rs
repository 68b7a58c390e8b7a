//! `windlass man`: the manual pages, one per command.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use windlass_files::{Access, FileError, create_named};
use windlass_types::{Problem, code};

use crate::{Host, output::Printer, session::Report};

#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// The directory to write to; created if it does not exist.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl ManArgs {
    pub(crate) fn run(self, host: &dyn Host, printer: &Printer) -> Result<Report, Problem> {
        let pages = host.man_pages()?;
        let unwritable = |error: FileError| {
            error.into_problem(|error| {
                Problem::new(
                    &code::CONFIG_INVALID,
                    format!("the manual pages cannot be written: {error}"),
                )
            })
        };
        let root = create_named(&self.directory, Access::Usual).map_err(unwritable)?;
        for (name, text) in &pages {
            root.write(name.as_ref(), text.as_bytes(), Access::Usual)
                .map_err(unwritable)?;
        }
        let message = format!(
            "{} manual pages written to {}",
            pages.len(),
            self.directory.display()
        );
        printer.data(&message);
        printer.hint(&format!(
            "man {}",
            self.directory.join("windlass.1").display()
        ));
        Ok(Report::new(
            message,
            json!({ "directory": self.directory, "pages": pages.len() }),
        ))
    }
}
