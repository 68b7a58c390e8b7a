//! The top: the tabs, what is in progress, and the line that sums up the tab.

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
    widgets::Paragraph,
};

use super::theme::Theme;
use crate::{
    listing::Tone,
    state::{State, Tab},
};

const SPIN: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, theme: Theme) {
    let mut tabs = vec![Span::styled(
        format!(" {}  ", state.program),
        theme.of(Tone::Strong),
    )];
    for tab in Tab::ALL {
        let style = if tab == state.tab {
            Theme::selected()
        } else {
            theme.of(Tone::Plain)
        };
        let title = format!(" {} {} ", tab as usize + 1, tab.title());
        tabs.push(Span::styled(title, style));
    }
    if let Some(call) = state.underway.first() {
        let sign = SPIN[state.ticks % SPIN.len()];
        tabs.push(Span::styled(
            format!("  {sign} {}", call.progress()),
            theme.of(Tone::Active),
        ));
    }
    let about = Line::from(format!(" {}", state.page().listing.summary));
    frame.render_widget(Paragraph::new(vec![Line::from(tabs), about]), area);
}
