//! Tables: aligned columns, no borders; the last column gives way on a narrow terminal.

use super::{
    paint::{Paint, Tone},
    text::{one_line, shorten, width},
};

const GAP: usize = 2;
/// A shortened last column keeps at least so much.
const LEAST: usize = 12;

/// Rows under headings.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Debug)]
struct Cell {
    text: String,
    tone: Tone,
}

impl Table {
    /// An empty table.
    pub(crate) fn new(headings: &[&'static str]) -> Self {
        Self::named(headings.iter().copied())
    }

    /// An empty table whose columns are named by data.
    pub(crate) fn named(headings: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self {
            headings: headings
                .into_iter()
                .map(|heading| one_line(heading.as_ref()))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row of plain cells.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.toned_row(cells.into_iter().map(|cell| (Tone::Plain, cell.into())));
    }

    /// Adds a row of cells that mean something.
    pub(crate) fn toned_row(&mut self, cells: impl IntoIterator<Item = (Tone, String)>) {
        let cells = cells.into_iter().map(|(tone, text)| Cell {
            text: one_line(&text),
            tone,
        });
        self.rows.push(cells.collect());
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines, each ending in a newline.
    pub(crate) fn render(&self, paint: Paint, columns: Option<usize>) -> String {
        let widths = self.widths(columns);
        let mut text = String::new();
        let headings = self
            .headings
            .iter()
            .map(|heading| (Tone::Strong, heading.as_str()));
        push_line(&mut text, paint, &widths, headings);
        for row in &self.rows {
            push_line(
                &mut text,
                paint,
                &widths,
                row.iter().map(|cell| (cell.tone, cell.text.as_str())),
            );
        }
        text
    }

    fn widths(&self, columns: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = self.headings.iter().map(|heading| width(heading)).collect();
        for row in &self.rows {
            for (index, cell) in row.iter().enumerate().take(widths.len()) {
                widths[index] = widths[index].max(width(&cell.text));
            }
        }
        if let (Some(columns), Some((last, others))) = (columns, widths.split_last_mut()) {
            let before: usize = others.iter().map(|width| width + GAP).sum();
            *last = (*last).min(columns.saturating_sub(before).max(LEAST));
        }
        widths
    }
}

fn push_line<'a>(
    text: &mut String,
    paint: Paint,
    widths: &[usize],
    cells: impl Iterator<Item = (Tone, &'a str)>,
) {
    let mut pending = 0;
    for ((tone, cell), column) in cells.zip(widths) {
        let shown = shorten(cell, *column);
        if !shown.is_empty() {
            // Padding is written only once something follows it: no trailing blanks.
            text.extend(std::iter::repeat_n(' ', std::mem::take(&mut pending)));
            text.push_str(&paint.text(tone, &shown));
        }
        pending += column - width(&shown) + GAP;
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Paint = Paint { colour: false };

    fn sample() -> Table {
        let mut table = Table::new(&["RUN", "STATE", "TITLE"]);
        table.row(["run_1", "completed", "demo.apply /srv/scratch"]);
        table.row(["run_22", "", "größer 日本"]);
        table.row(["run_3", "failed", ""]);
        table
    }

    #[test]
    fn columns_align_and_nothing_trails() {
        insta::assert_snapshot!(sample().render(PLAIN, None), @r"
        RUN     STATE      TITLE
        run_1   completed  demo.apply /srv/scratch
        run_22             größer 日本
        run_3   failed
        ");
    }

    #[test]
    fn the_last_column_is_shortened() {
        insta::assert_snapshot!(sample().render(PLAIN, Some(34)), @r"
        RUN     STATE      TITLE
        run_1   completed  demo.apply /sr…
        run_22             größer 日本
        run_3   failed
        ");
    }

    #[test]
    fn escape_sequences_in_cells_are_disarmed() {
        let mut table = Table::new(&["TITLE"]);
        table.row(["\u{1b}[2Jgone\nnext"]);
        assert_eq!(table.render(PLAIN, None), "TITLE\n\u{fffd}[2Jgone next\n");
    }
}
