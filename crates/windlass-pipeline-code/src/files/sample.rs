//! Sample values: valid for the schemas, different from row to row, the same on every run.

use windlass_pipeline_design::model::architecture::FieldType;

use super::schema::{is_email, is_url};
use crate::blueprint::{Entity, Field};
use crate::escape::{sql_string, ts_string};

/// A key that is unique by its group and number.
pub(super) fn uuid(group: usize, number: usize) -> String {
    format!("00000000-0000-4000-8{:03x}-{number:012x}", group % 0x1000)
}

/// The group of keys of users.
pub(super) const USERS: usize = 0;

fn text(entity: &Entity, field: &Field, number: usize) -> String {
    let column = field.column.as_str();
    if is_email(column) {
        format!("{}-{number}@example.com", entity.file)
    } else if is_url(column) {
        format!("https://example.com/{}/{number}", entity.path)
    } else if entity.title().is_some_and(|title| title.column == column) {
        format!("{} {number}", entity.label)
    } else {
        format!("{} {number}", field.label)
    }
}

/// What a value is before it is written down.
pub(super) enum Sample {
    Text(String),
    Number(usize),
    Flag(bool),
    /// JSON, as text.
    Json(&'static str),
}

/// The value of a field in the given row; keys of other rows come from `key`.
pub(super) fn sample(
    entity: &Entity,
    field: &Field,
    number: usize,
    key: impl Fn(&Field) -> String,
) -> Sample {
    match field.kind {
        FieldType::Uuid => Sample::Text(key(field)),
        FieldType::String | FieldType::Text => Sample::Text(text(entity, field, number)),
        FieldType::Integer | FieldType::Decimal => Sample::Number(number),
        FieldType::Boolean => Sample::Flag(number.is_multiple_of(2)),
        FieldType::Date => Sample::Text(format!("2026-01-{:02}", 1 + number % 28)),
        FieldType::Datetime => {
            Sample::Text(format!("2026-01-{:02}T09:00:00+00:00", 1 + number % 28))
        }
        FieldType::Json => Sample::Json("[]"),
        FieldType::Enum => {
            let at = (number.saturating_sub(1)) % field.values.len().max(1);
            Sample::Text(field.values.get(at).cloned().unwrap_or_default())
        }
    }
}

impl Sample {
    pub(super) fn ts(&self) -> String {
        match self {
            Self::Text(text) => ts_string(text),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Json(json) => (*json).to_owned(),
        }
    }

    pub(super) fn sql(&self) -> String {
        match self {
            Self::Text(text) => sql_string(text),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Json(json) => sql_string(json),
        }
    }
}
