//! Rows of data as a table: objects with their members as columns.

use serde_json::{Map, Value};

use super::{Screen, shown};
use crate::output::{Table, shorten};

/// A cell holds no more columns than this, so that a table stays one.
const WIDEST_CELL: usize = 60;
/// With more columns than this, rows are shown as JSON.
const MOST_COLUMNS: usize = 12;

/// Rows under the columns that are named, or those the rows themselves have.
pub(in crate::commands::stack) fn rows(screen: &Screen<'_>, fields: &[Value], rows: &[Value]) {
    let mut columns: Vec<String> = fields.iter().map(shown).collect();
    if columns.is_empty() {
        for name in rows.iter().filter_map(Value::as_object).flat_map(Map::keys) {
            if !columns.contains(name) {
                columns.push(name.clone());
            }
        }
    }
    if columns.len() > MOST_COLUMNS || columns.is_empty() {
        for row in rows {
            screen.json(row);
        }
        return;
    }
    let mut table = Table::named(&columns);
    for row in rows {
        table.row(columns.iter().map(|column| {
            match row.get(column) {
                None => String::new(),
                // An empty text is not the same as none.
                Some(Value::Null) => "null".to_owned(),
                Some(value) => shorten(&shown(value), WIDEST_CELL),
            }
        }));
    }
    screen.table(&table);
}
