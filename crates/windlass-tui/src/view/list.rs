//! The list of a tab, kept so that the selected line is in sight.

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
    widgets::Paragraph,
};

use super::theme::Theme;
use crate::{
    listing::{Row, Tone},
    state::{Load, Page, Tab},
    text::wrapped,
};

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, tab: Tab, page: &Page, theme: Theme) {
    if page.listing.len() == 0 {
        let text = nothing(tab, page.load);
        let lines = wrapped(text, usize::from(area.width.saturating_sub(2)));
        let lines = lines
            .into_iter()
            .map(|line| Line::from(format!("  {line}")));
        frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
        return;
    }
    let rows = page.listing.rows();
    let selected = page.listing.row_of(page.selected).unwrap_or(0);
    let height = usize::from(area.height);
    // In the middle, except at both ends.
    let first = selected
        .saturating_sub(height / 2)
        .min(rows.len().saturating_sub(height));
    let visible = rows.iter().enumerate().skip(first).take(height);
    let lines = visible.map(|(index, row)| line(row, index == selected, theme));
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
}

fn line(row: &Row, is_selected: bool, theme: Theme) -> Line<'_> {
    match row {
        Row::Heading { name, place } => Line::from(vec![
            Span::styled(format!(" {name}"), theme.of(Tone::Strong)),
            Span::styled(format!("  {place}"), theme.of(Tone::Dim)),
        ]),
        Row::Item(item) => {
            // Selection must also show where neither colour nor reversal does.
            let mark = if is_selected { ">" } else { " " };
            let mut spans = vec![
                Span::raw(format!(" {mark}")),
                Span::styled(item.sign, theme.of(item.tone)),
                Span::raw(format!(" {}", item.text)),
            ];
            if !item.note.is_empty() {
                let note = format!("  {}", item.note);
                spans.push(Span::styled(note, theme.of(Tone::Dim)));
            }
            let line = Line::from(spans);
            if is_selected {
                line.style(Theme::selected())
            } else {
                line
            }
        }
    }
}

const fn nothing(tab: Tab, load: Load) -> &'static str {
    match (load, tab) {
        (Load::Waiting, _) => "Looking…",
        (Load::Failed, _) => "This could not be read; the reason is below. r tries again.",
        (Load::Ready, Tab::Plan) => "Nothing to change: every target is as the repository says.",
        (Load::Ready, Tab::Drift) => "No drift: every deployed file is as it was written.",
        (Load::Ready, Tab::History) => "No snapshots: nothing was deployed yet.",
    }
}
