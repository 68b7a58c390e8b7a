//! Colour by meaning: commands name a tone, never a colour.

use anstyle::{AnsiColor, Style};

/// What a piece of text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing in particular.
    Plain,
    /// Headings and names.
    Strong,
    /// Details that may be skipped.
    Dim,
    /// It went well.
    Good,
    /// It went badly.
    Bad,
    /// It waits or wants attention.
    Warn,
    /// It is in progress, or can be typed.
    Active,
}

impl Tone {
    const fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Dim => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
            Self::Warn => AnsiColor::Yellow.on_default(),
            Self::Active => AnsiColor::Cyan.on_default(),
        }
    }
}

/// Paints text for one stream, or leaves it alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    pub(super) colour: bool,
}

impl Paint {
    /// The text in a tone.
    pub(crate) fn text(self, tone: Tone, text: &str) -> String {
        if !self.colour || tone == Tone::Plain || text.is_empty() {
            return text.to_owned();
        }
        let style = tone.style();
        format!("{style}{text}{style:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_without_colour() {
        assert_eq!(Paint { colour: false }.text(Tone::Good, "done"), "done");
        assert_eq!(
            Paint { colour: true }.text(Tone::Good, "done"),
            "\u{1b}[32mdone\u{1b}[0m"
        );
        assert_eq!(Paint { colour: true }.text(Tone::Plain, "done"), "done");
    }
}
