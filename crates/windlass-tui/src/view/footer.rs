//! The bottom: the last message, and the keys that matter.

use ratatui::{Frame, layout::Rect, text::Line, widgets::Paragraph};

use super::theme::Theme;
use crate::{
    listing::Tone,
    state::{Load, Message, State, Tab},
    text::wrapped,
};

/// How many lines of a failure's text are shown, and how many things to do.
const SHOWN: usize = 3;
/// How many lines of a warning are shown.
const WARNED: usize = 2;

/// What the bottom says in this width.
pub(super) fn lines(state: &State, width: u16, theme: Theme) -> Vec<Line<'static>> {
    let most = usize::from(width.saturating_sub(2));
    let mut lines = Vec::new();
    let mut say = |text: &str, tone: Tone, longest: usize| {
        let wrapped_lines = wrapped(text, most).into_iter().take(longest);
        lines.extend(wrapped_lines.map(|line| Line::styled(format!(" {line}"), theme.of(tone))));
    };
    match &state.message {
        Message::Fault(fault) => {
            say(
                &format!("{}: {}", fault.code, fault.message),
                Tone::Bad,
                SHOWN,
            );
            for next in fault.next.iter().take(SHOWN) {
                say(&format!("→ {next}"), Tone::Strong, 1);
            }
        }
        Message::Notice(text) => say(text, Tone::Good, SHOWN),
        Message::None => {
            let page = state.page();
            if page.load == Load::Ready
                && let [warning, more @ ..] = page.listing.warnings.as_slice()
            {
                let more = match more.len() {
                    0 => String::new(),
                    many => format!(" (and {many} more)"),
                };
                say(&format!("warning{more}: {warning}"), Tone::Warn, WARNED);
            }
        }
    }
    say(keys(state), Tone::Dim, 1);
    lines
}

const fn keys(state: &State) -> &'static str {
    match (state.tab, state.read_only) {
        (_, true) => "enter diff  r refresh  ? help  q quit   (dry run)",
        (Tab::Plan, _) => "enter diff  a apply  u undo  r refresh  ? help  q quit",
        (Tab::Drift, _) => "enter diff  a apply  r refresh  ? help  q quit",
        (Tab::History, _) => "enter details  b roll back  u undo  r refresh  ? help  q quit",
    }
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, lines: Vec<Line<'static>>) {
    // Where there is no room for all, the end is what is kept: what to do next, and the keys.
    let surplus = lines.len().saturating_sub(usize::from(area.height));
    let lines: Vec<_> = lines.into_iter().skip(surplus).collect();
    frame.render_widget(Paragraph::new(lines), area);
}
