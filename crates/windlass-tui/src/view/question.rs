//! A question, in a box over everything else.

use ratatui::{
    Frame,
    layout::Rect,
    text::Line,
    widgets::{Block, Clear, Paragraph},
};

use super::{middle, theme::Theme};
use crate::{listing::Tone, question::Question, text::wrapped};

/// The widest a box gets.
const WIDEST: usize = 72;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, question: &Question, theme: Theme) {
    let most = usize::from(area.width.saturating_sub(4)).clamp(1, WIDEST);
    let mut lines: Vec<Line<'_>> = Vec::new();
    for text in &question.lines {
        lines.extend(wrapped(text, most).into_iter().map(Line::from));
    }
    let answers = Line::styled(question.answers(), theme.of(Tone::Strong));
    let columns = lines
        .iter()
        .chain([&answers, &Line::from(question.title.as_str())])
        .map(Line::width)
        .max()
        .unwrap_or(0)
        .min(most);
    let place = middle(area, columns, lines.len() + 2);
    // The answers stay in sight, whatever else has to go.
    let inside = usize::from(place.height.saturating_sub(2));
    lines.truncate(inside.saturating_sub(2));
    if inside > 1 {
        lines.push(Line::default());
    }
    lines.push(answers);
    let block = Block::bordered()
        .title(format!(" {} ", question.title))
        .title_style(theme.of(Tone::Strong))
        .padding(ratatui::widgets::Padding::horizontal(1));
    frame.render_widget(Clear, place);
    frame.render_widget(Paragraph::new(lines).block(block), place);
}
