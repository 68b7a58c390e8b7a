//! `windlass tour`.

use clap::Args;
use windlass_types::Problem;

use crate::{output::Printer, session::Report, tour};

#[derive(Args, Debug)]
pub(crate) struct TourArgs {
    /// Only the chapter of this number.
    #[arg(long, value_name = "NUMBER")]
    chapter: Option<usize>,
    /// Keep the tour's home and directory to look around afterwards.
    #[arg(long)]
    keep: bool,
}

impl TourArgs {
    pub(crate) fn run(self, printer: &Printer) -> Result<Report, Problem> {
        tour::run(printer, self.chapter, self.keep)
    }
}
