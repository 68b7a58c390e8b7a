//! The data model as TypeScript interfaces.

use std::fmt::Write as _;

use crate::model::architecture::{EntityModel, Field, FieldType};

fn type_of(field: &Field) -> String {
    let kind = match field.kind {
        FieldType::Uuid
        | FieldType::String
        | FieldType::Text
        | FieldType::Date
        | FieldType::Datetime => "string".to_owned(),
        FieldType::Integer | FieldType::Decimal => "number".to_owned(),
        FieldType::Boolean => "boolean".to_owned(),
        FieldType::Json => "unknown".to_owned(),
        FieldType::Enum => field
            .values
            .iter()
            .map(|value| format!("{value:?}"))
            .collect::<Vec<_>>()
            .join(" | "),
    };
    if field.nullable {
        format!("{kind} | null")
    } else {
        kind
    }
}

/// One interface.
pub(super) fn interface(entity: &EntityModel) -> String {
    let mut out = format!("interface {} {{\n", entity.name);
    for field in &entity.fields {
        let _ = writeln!(out, "  {}: {};", field.name, type_of(field));
    }
    out.push('}');
    out
}
