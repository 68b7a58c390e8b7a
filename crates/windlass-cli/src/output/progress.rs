//! A moving line on a terminal while something is in progress; nothing anywhere else.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Printer;

const TICK: Duration = Duration::from_millis(100);

const SPINNER: Template = Template {
    painted: "{spinner:.cyan} {msg} {elapsed:.dim}",
    plain: "{spinner} {msg} {elapsed}",
};
/// Several lines, of which only the first moves.
const BOARD: Template = Template {
    painted: "{spinner:.cyan} {msg}",
    plain: "{spinner} {msg}",
};
const BAR: Template = Template {
    painted: "{spinner:.cyan} [{bar:20.cyan/blue}] {pos:>3} % {msg} {elapsed:.dim}",
    plain: "{spinner} [{bar:20}] {pos:>3} % {msg} {elapsed}",
};

struct Template {
    painted: &'static str,
    plain: &'static str,
}

/// A spinner that becomes a bar once a percentage is known.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    measured: bool,
    colour: bool,
}

impl Progress {
    /// A line that is shown only where the printer animates.
    pub(crate) fn new(printer: &Printer) -> Self {
        Self::with(printer, &SPINNER)
    }

    /// A few lines that say where things stand, shown only where the printer animates.
    pub(crate) fn board(printer: &Printer) -> Self {
        let mut board = Self::with(printer, &BOARD);
        // The lines say themselves how far it is.
        board.measured = true;
        board
    }

    fn with(printer: &Printer, template: &Template) -> Self {
        let colour = printer.colours_notices();
        let bar = printer.animates().then(|| {
            let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stderr());
            bar.set_style(template.style(colour));
            bar.enable_steady_tick(TICK);
            bar
        });
        Self {
            bar,
            measured: false,
            colour,
        }
    }

    /// Says what is in progress.
    pub(crate) fn message(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_owned());
        }
    }

    /// Says how far it is.
    pub(crate) fn percent(&mut self, percent: u8) {
        if let Some(bar) = &self.bar {
            if !self.measured {
                bar.set_style(BAR.style(self.colour));
                self.measured = true;
            }
            bar.set_position(u64::from(percent.min(100)));
        }
    }

    /// Prints something without the line getting in the way.
    pub(crate) fn around(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Template {
    fn style(&self, colour: bool) -> ProgressStyle {
        let template = if colour { self.painted } else { self.plain };
        // The templates are constants of this file; were one wrong, the default would be shown.
        ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("━╸─")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_understood() {
        for template in [SPINNER, BOARD, BAR] {
            for text in [template.painted, template.plain] {
                assert!(ProgressStyle::with_template(text).is_ok(), "{text}");
            }
        }
    }
}
