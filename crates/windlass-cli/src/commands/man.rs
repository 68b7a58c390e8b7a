//! `windlass man`: the manual pages, one per command.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
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
        let unwritable = |error: std::io::Error| {
            Problem::new(
                &code::CONFIG_INVALID,
                format!("the manual pages cannot be written: {error}"),
            )
        };
        fs_err::create_dir_all(&self.directory).map_err(unwritable)?;
        for (name, text) in &pages {
            fs_err::write(self.directory.join(name), text).map_err(unwritable)?;
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
