//! `windlass tour`.

use clap::Args;
use windlass_types::Problem;

use crate::{Host, TourRequest, output::Printer, session::Report};

#[derive(Args, Debug)]
pub(crate) struct TourArgs {
    /// Only the chapter of this number.
    #[arg(long, value_name = "NUMBER")]
    chapter: Option<usize>,
    /// Keep the tour's home and directory for a look afterwards.
    #[arg(long)]
    keep: bool,
}

impl TourArgs {
    pub(crate) fn run(self, host: &dyn Host, printer: &Printer) -> Result<Report, Problem> {
        let played = host.play_tour(TourRequest {
            chapter: self.chapter,
            keep: self.keep,
            line: &|text| printer.data(text),
            colour: printer.colours_data(),
        })?;
        Ok(Report::new("the tour went as expected", played))
    }
}
