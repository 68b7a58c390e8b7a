//! `windlass tour`.

use std::io::{self, BufRead as _};

use clap::Args;
use windlass_types::Problem;

use crate::{
    Host, TourAnswer, TourPart, TourRequest, flow::can_ask, output::Printer, session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct TourArgs {
    /// Play the chapter of this number instead of the first one.
    #[arg(long, value_name = "NUMBER", conflicts_with = "all")]
    chapter: Option<usize>,
    /// Play every chapter, without waiting for Enter.
    #[arg(long)]
    all: bool,
    /// Keep the tour's home and directory for a look afterwards.
    #[arg(long)]
    keep: bool,
}

impl TourArgs {
    pub(crate) fn run(self, host: &dyn Host, printer: &Printer) -> Result<Report, Problem> {
        let wait = || wait(printer);
        let waits = !self.all && can_ask(printer) && printer.data_is_seen();
        if waits {
            printer.notice("Enter runs the next command, a runs all of them, q ends the tour.");
        }
        let played = host.play_tour(TourRequest {
            part: match self.chapter {
                Some(number) => TourPart::Chapter(number),
                None if self.all => TourPart::All,
                None => TourPart::Beginning,
            },
            keep: self.keep,
            line: &|text| printer.data(text),
            wait: waits.then_some(&wait),
            colour: printer.colours_data(),
        })?;
        Ok(Report::new("the tour went as expected", played))
    }
}

fn wait(printer: &Printer) -> TourAnswer {
    printer.question("  Enter, a or q: ");
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    match read {
        Ok(bytes) if bytes > 0 => answer(&line),
        // The terminal is gone, and so is the reader.
        _ => TourAnswer::Leave,
    }
}

fn answer(line: &str) -> TourAnswer {
    match line.trim().to_ascii_lowercase().as_str() {
        "a" | "all" => TourAnswer::RunAll,
        "q" | "quit" => TourAnswer::Leave,
        _ => TourAnswer::Continue,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        for (line, expected) in [
            ("\n", TourAnswer::Continue),
            ("yes\n", TourAnswer::Continue),
            ("a\n", TourAnswer::RunAll),
            (" Q \n", TourAnswer::Leave),
            ("quit\n", TourAnswer::Leave),
        ] {
            assert_eq!(answer(line), expected, "{line:?}");
        }
    }
}
