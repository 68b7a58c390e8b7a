//! What a tab lists: rows under headings, of which items can be selected.

use crate::text::wrapped;

/// The longest warning that the footer shows whole, in a narrow terminal.
const SHORT: usize = 120;
/// How wide the text of a warning is shown next to the list.
const COLUMNS: usize = 56;
/// What the keys of warnings begin with; no file or snapshot is called so.
const WARNING: &str = "warning ";

/// How something is meant; how that looks is up to the view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Strong,
    Dim,
    Good,
    Warn,
    Bad,
    Active,
}

/// One line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    Heading { name: String, place: String },
    Item(Item),
}

/// A line that can be selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Item {
    /// What it stands for: a file of a target, or a snapshot.
    pub(crate) key: String,
    pub(crate) tone: Tone,
    pub(crate) sign: &'static str,
    pub(crate) text: String,
    /// What the sign does not say.
    pub(crate) note: String,
    pub(crate) detail: Detail,
}

/// What the pane next to the list shows of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// This text, a diff or the like.
    Text(String),
    /// The diff that the plan has of the same file, or this sentence.
    AsPlanned(&'static str),
    /// A text that is fetched when it is shown.
    Unread,
}

impl Default for Detail {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Item {
    /// Whether it is a warning, and not a file or a snapshot.
    pub(crate) fn is_warning(&self) -> bool {
        self.key.starts_with(WARNING)
    }
}

/// The rows of a tab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    rows: Vec<Row>,
    /// Which rows are items.
    items: Vec<usize>,
    /// A line that sums up.
    pub(crate) summary: String,
    pub(crate) warnings: Vec<String>,
}

impl Listing {
    pub(crate) fn new(mut rows: Vec<Row>, summary: String, warnings: Vec<String>) -> Self {
        // The footer has room for a short one; otherwise all are rows, to be scrolled and read.
        if warnings.len() > 1 || warnings.iter().any(|warning| warning.len() > SHORT) {
            rows.push(Row::Heading {
                name: "warnings".to_owned(),
                place: String::new(),
            });
            rows.extend(warnings.iter().enumerate().map(|(index, warning)| {
                Row::Item(Item {
                    key: format!("{WARNING}{index}"),
                    tone: Tone::Warn,
                    sign: "!",
                    text: warning.clone(),
                    detail: Detail::Text(wrapped(warning, COLUMNS).join("\n")),
                    ..Item::default()
                })
            }));
        }
        let is_item = |(_, row): &(usize, &Row)| matches!(row, Row::Item(_));
        let items = rows.iter().enumerate().filter(is_item);
        Self {
            items: items.map(|(index, _)| index).collect(),
            rows,
            summary,
            warnings,
        }
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// How many items there are.
    pub(crate) const fn len(&self) -> usize {
        self.items.len()
    }

    /// The row of the so-manieth item.
    pub(crate) fn row_of(&self, position: usize) -> Option<usize> {
        self.items.get(position).copied()
    }

    pub(crate) fn item(&self, position: usize) -> Option<&Item> {
        match self.rows.get(self.row_of(position)?)? {
            Row::Item(item) => Some(item),
            Row::Heading { .. } => None,
        }
    }

    /// The item that stands for this, and where it is.
    pub(crate) fn find(&self, key: &str) -> Option<(usize, &Item)> {
        let items = (0..self.len()).filter_map(|position| Some((position, self.item(position)?)));
        items.into_iter().find(|(_, item)| item.key == key)
    }

    /// Gives an item the text that was fetched for it.
    pub(crate) fn fill(&mut self, key: &str, text: String) {
        for row in &mut self.rows {
            if let Row::Item(item) = row
                && item.key == key
            {
                item.detail = Detail::Text(text);
                return;
            }
        }
    }
}
