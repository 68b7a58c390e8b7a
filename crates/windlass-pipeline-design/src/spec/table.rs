//! What the rows of a table are about, by the names of its columns.

use crate::spec::{
    find::fields,
    reading::Prepared,
    section::Section,
    segment::{Piece, Row as Cells},
};

/// What a row says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A thing and what is kept of it.
    Entity {
        /// As written.
        name: String,
        /// A list of attributes.
        fields: String,
    },
    /// One attribute.
    Field {
        /// The thing; the heading's when the table has no column for it.
        entity: Option<String>,
        /// As written.
        name: String,
        /// A word for its type.
        kind: String,
        /// Anything else.
        note: String,
    },
    /// A colour.
    Colour,
    /// What a user does, or what the product does, with a priority where one is given.
    Text {
        /// The word in the priority column.
        priority: Option<String>,
    },
}

const ENTITY: &[&str] = &[
    "thing", "entity", "object", "data", "record", "table", "model", "item", "what", "resource",
];
const FIELDS: &[&str] = &[
    "fields",
    "attributes",
    "what we keep",
    "properties",
    "data",
    "contains",
    "columns",
    "keeps",
    "stores",
    "details",
    "information",
];
const FIELD: &[&str] = &["field", "attribute", "property", "column", "field name"];
const KIND: &[&str] = &["type", "data type", "datatype", "kind", "format"];
const ROLE: &[&str] = &[
    "role",
    "user",
    "actor",
    "who",
    "persona",
    "user type",
    "user role",
    "person",
];
const TEXT: &[&str] = &[
    "feature",
    "requirement",
    "description",
    "story",
    "user story",
    "what they do",
    "can",
    "permissions",
    "permission",
    "does",
    "action",
    "function",
    "use case",
    "what",
    "responsibilities",
    "tasks",
    "needs",
];
const PRIORITY: &[&str] = &["priority", "moscow", "prio", "importance"];
const COLOUR: &[&str] = &["colour", "color", "hex", "colour value", "hex code"];

/// Prepares a row for reading.
pub fn prepare(row: &Cells, piece: &Piece) -> Prepared {
    let header: Vec<String> = row
        .header
        .iter()
        .map(|name| name.trim().to_lowercase())
        .collect();
    let column = |names: &[&str]| {
        header
            .iter()
            .position(|name| names.contains(&name.as_str()))
    };
    let cell = |at: usize| {
        row.cells
            .get(at)
            .map(|text| text.trim().to_owned())
            .unwrap_or_default()
    };
    let plain = |row: Option<Row>| Prepared {
        text: piece.text.clone(),
        label: None,
        row,
    };
    if piece.set_aside.is_some() {
        return plain(None);
    }
    if let Some(field) = column(FIELD) {
        let entity = column(ENTITY).filter(|at| *at != field).map(cell);
        let kind = column(KIND).map(cell).unwrap_or_default();
        let note = (0..row.cells.len())
            .filter(|at| *at != field && column(ENTITY) != Some(*at) && column(KIND) != Some(*at))
            .map(cell)
            .collect::<Vec<_>>()
            .join(" ");
        return plain(Some(Row::Field {
            entity,
            name: cell(field),
            kind,
            note,
        }));
    }
    if column(COLOUR).is_some() || piece.section == Section::Design {
        return plain(Some(Row::Colour));
    }
    if let Some(role) = column(ROLE) {
        let text = column(TEXT).unwrap_or(if role == 0 { 1 } else { 0 });
        return Prepared {
            text: cell(text),
            label: Some(singular_label(&cell(role))),
            row: Some(Row::Text {
                priority: column(PRIORITY).map(cell),
            }),
        };
    }
    let fields = column(FIELDS).filter(|at| *at > 0);
    if fields.is_some() || piece.section == Section::Data {
        return plain(Some(Row::Entity {
            name: cell(column(ENTITY).unwrap_or(0)),
            fields: cell(fields.unwrap_or(1)),
        }));
    }
    let text = column(TEXT).unwrap_or_else(|| longest(&row.cells));
    Prepared {
        text: cell(text),
        label: None,
        row: Some(Row::Text {
            priority: column(PRIORITY).map(cell),
        }),
    }
}

/// Words around the name of a table.
const TABLE_WORDS: &[&str] = &[
    "collection",
    "columns",
    "entity",
    "fields",
    "model",
    "schema",
    "table",
    "the",
];

/// `patient_id (UUID, references users.id)` in a list below `matches (Table)`: a column of a table.
/// `above` is the text or heading that the list stands below.
pub fn column(piece: &Piece, above: Option<&str>) -> Option<Row> {
    let text = piece.text.trim_matches(['`', ' ']);
    let cut = text.find(['(', ':'])?;
    let name = text[..cut].trim_matches(['`', '*', ' ']);
    let identifier = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.len() <= 40
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let rest = text[cut + 1..].trim_matches([' ', '`', ')']);
    let kind: String = rest
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    if !identifier || fields::by_type_word(&kind).is_none() {
        return None;
    }
    let above = above?;
    let mut says_table = piece.section == Section::Data;
    let words: Vec<&str> = above
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty() && !word.chars().all(|c| c.is_ascii_digit()))
        .take_while(|word| !matches!(word.to_lowercase().as_str(), "for" | "which" | "that"))
        .filter(|word| {
            let is_table = TABLE_WORDS.contains(&word.to_lowercase().as_str());
            says_table |= is_table;
            !is_table
        })
        .collect();
    let entity = words.first().filter(|_| says_table)?;
    let remark = rest[kind.len()..].trim_start_matches([',', ':', ';', ' ', '-']);
    // Values are quoted or alternatives; anything else is how a database declares a column.
    let lists = remark.contains(['\'', '"', '|']) || remark.contains(" or ");
    let note = if lists {
        remark.to_owned()
    } else {
        let lower = remark.to_lowercase();
        let declared = ["unique", "optional"].into_iter();
        declared
            .filter(|word| lower.contains(word))
            .collect::<Vec<_>>()
            .join(" ")
    };
    Some(Row::Field {
        entity: Some(entity.replace('_', " ")),
        name: name.to_owned(),
        kind,
        note,
    })
}

fn singular_label(text: &str) -> String {
    crate::model::naming::singular(&text.to_lowercase())
}

fn longest(cells: &[String]) -> usize {
    cells
        .iter()
        .enumerate()
        .max_by_key(|(at, cell)| (cell.len(), usize::MAX - at))
        .map_or(0, |(at, _)| at)
}
