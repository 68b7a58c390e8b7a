//! Drawing: the state in, a frame out. One widget per file; each is given what it shows.

mod footer;
mod header;
mod help;
mod list;
mod pane;
mod question;
mod theme;

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
};

use crate::state::State;
use theme::Theme;

/// From this width on the pane is next to the list, otherwise below it.
const WIDE: u16 = 100;

/// Draws everything.
pub(crate) fn view(frame: &mut Frame<'_>, state: &State) {
    let theme = Theme {
        colour: state.colour,
    };
    let area = frame.area();
    let footer = footer::lines(state, area.width, theme);
    let footer_rows = u16::try_from(footer.len()).unwrap_or(u16::MAX);
    let [top, body, bottom] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Min(0),
        Constraint::Length(footer_rows.min(area.height / 2)),
    ])
    .areas(area);
    header::draw(frame, top, state, theme);
    let shows_item = state.pane.open && state.page().item().is_some();
    let (list_area, pane_area) = split(body, shows_item);
    list::draw(frame, list_area, state.tab, state.page(), theme);
    if let Some(pane_area) = pane_area {
        pane::draw(frame, pane_area, state, theme);
    }
    footer::draw(frame, bottom, footer);
    if let Some(question) = &state.question {
        question::draw(frame, area, question, theme);
    } else if state.help {
        help::draw(frame, area, theme);
    }
}

fn split(body: Rect, pane: bool) -> (Rect, Option<Rect>) {
    if !pane {
        return (body, None);
    }
    let shares = [Constraint::Percentage(40), Constraint::Percentage(60)];
    let [list, pane] = if body.width >= WIDE {
        Layout::horizontal(shares).areas(body)
    } else {
        Layout::vertical(shares).areas(body)
    };
    (list, Some(pane))
}

/// A box in the middle, as large as its lines need and the screen allows.
fn middle(area: Rect, columns: usize, rows: usize) -> Rect {
    let fit = |wanted: usize, most: u16| u16::try_from(wanted).unwrap_or(most).min(most);
    let (width, height) = (fit(columns + 4, area.width), fit(rows + 2, area.height));
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
