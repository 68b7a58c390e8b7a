//! How tones look. Without colours, emphasis and signs carry everything.

use ratatui::style::{Color, Modifier, Style};

use crate::listing::Tone;

/// Whether there are colours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    pub(super) colour: bool,
}

impl Theme {
    pub(super) fn of(self, tone: Tone) -> Style {
        let style = Style::new();
        let colour = match tone {
            Tone::Plain => return style,
            Tone::Strong => return style.add_modifier(Modifier::BOLD),
            Tone::Dim => return style.add_modifier(Modifier::DIM),
            Tone::Good => Color::Green,
            Tone::Warn => Color::Yellow,
            Tone::Bad => Color::Red,
            Tone::Active => Color::Cyan,
        };
        if self.colour { style.fg(colour) } else { style }
    }

    /// The line that is selected.
    pub(super) const fn selected() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}
