//! Where the tour is shown: lines of text, painted by meaning.

use anstyle::{AnsiColor, Style};

/// What a piece of text means.
#[derive(Clone, Copy)]
pub(crate) enum Tone {
    /// Headings.
    Strong,
    /// Details that may be skipped.
    Dim,
    /// Something that was killed.
    Bad,
    /// Something that can be typed.
    Active,
}

/// What the reader wants when a command is about to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Run it.
    Continue,
    /// Run it and all others, without asking.
    RunAll,
    /// End the tour.
    Leave,
}

/// Takes the lines of the tour.
pub struct Screen<'a> {
    /// Prints one line.
    pub line: &'a dyn Fn(&str),
    /// Waits for the reader before a command runs; none where nobody can answer.
    pub wait: Option<&'a dyn Fn() -> Answer>,
    /// Whether lines are painted.
    pub colour: bool,
}

impl Screen<'_> {
    pub(crate) fn line(&self, text: &str) {
        (self.line)(text);
    }

    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let style = match tone {
            Tone::Strong => Style::new().bold(),
            Tone::Dim => Style::new().dimmed(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
            Tone::Active => AnsiColor::Cyan.on_default(),
        };
        format!("{style}{text}{style:#}")
    }
}
