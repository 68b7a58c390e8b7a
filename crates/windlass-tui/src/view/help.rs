//! The keys, in a box over everything else.

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
    widgets::{Block, Clear, Padding, Paragraph},
};

use super::{middle, theme::Theme};
use crate::listing::Tone;

const KEYS: [(&str, &str); 11] = [
    ("tab 1 2 3", "plan, drift, history"),
    ("↑ ↓ j k", "move"),
    ("enter", "show or hide the diff or the details"),
    (
        "pgup pgdn g G",
        "scroll the list, or the diff where it is shown",
    ),
    ("← → h l", "scroll the diff sideways"),
    ("r", "look again"),
    ("a", "apply the plan; asks first"),
    ("u", "undo the newest event; asks first"),
    ("b", "roll back to the selected snapshot; asks first"),
    ("esc", "dismiss a message, close the diff"),
    ("q", "quit"),
];
const SIGNS: [&str; 2] = [
    "plan   + create   ~ update   - delete   ! in the way, not written by pack",
    "drift  ~ modified   - missing   ? extra",
];

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, theme: Theme) {
    let mut lines: Vec<Line<'_>> = KEYS
        .iter()
        .map(|(key, meaning)| {
            let key = Span::styled(format!("{key:<14}"), theme.of(Tone::Strong));
            Line::from(vec![key, Span::raw(*meaning)])
        })
        .collect();
    lines.push(Line::default());
    lines.extend(SIGNS.map(Line::from));
    let columns = lines.iter().map(Line::width).max().unwrap_or(0);
    let place = middle(area, columns, lines.len());
    let block = Block::bordered()
        .title(" Keys ")
        .padding(Padding::horizontal(1));
    frame.render_widget(Clear, place);
    frame.render_widget(Paragraph::new(lines).block(block), place);
}
