//! The pane: the diff of the selected file, or what the selected event changed.

use ratatui::{
    Frame,
    layout::Rect,
    text::Line,
    widgets::{Block, Borders, Paragraph},
};

use super::{WIDE, theme::Theme};
use crate::{listing::Tone, state::State, text::clean};

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, theme: Theme) {
    let title = state.page().item().map(|item| format!(" {} ", item.text));
    let side = if state.size.0 >= WIDE {
        Borders::LEFT | Borders::TOP
    } else {
        Borders::TOP
    };
    let block = Block::new()
        .borders(side)
        .border_style(theme.of(Tone::Dim))
        .title(title.unwrap_or_default());
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let lines = state
        .detail()
        .lines()
        .skip(state.pane.line)
        .take(usize::from(inner.height))
        .map(|line| {
            let text: String = clean(line).chars().skip(state.pane.column).collect();
            Line::styled(text, theme.of(tone(line)))
        });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), inner);
}

fn tone(line: &str) -> Tone {
    match line.as_bytes() {
        _ if line.starts_with("--- ") || line.starts_with("+++ ") => Tone::Strong,
        [b'@', b'@', ..] => Tone::Active,
        [b'+', ..] => Tone::Good,
        [b'-', ..] => Tone::Bad,
        [b'~' | b'!', b' ', ..] => Tone::Warn,
        [b'\\', ..] => Tone::Dim,
        _ => Tone::Plain,
    }
}
