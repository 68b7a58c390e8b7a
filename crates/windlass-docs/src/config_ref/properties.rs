//! Properties as Markdown: one table of all, then a section for each that has fields of its own.

use std::fmt::Write as _;

use serde_json::Value;

use super::schema::{Alternative, Schema};

/// Fields of fields are listed down to this depth; deeper ones are in the schema that editors use.
const DEPTH: usize = 4;
const CONNECT_TO: &str = "connectTo";

/// `## Properties` and, for types that have them, `## Events`.
pub(super) fn sections(schema: &Schema<'_>, properties: &Value) -> String {
    let fields = fields(schema, properties);
    if fields.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n## Properties\n\n");
    text.push_str(HEAD);
    for (name, field, required) in &fields {
        row(&mut text, schema, name, field, *required);
    }
    for (name, field, _) in &fields {
        if *name != "events" {
            detail(&mut text, schema, name, field);
        }
    }
    if let Some((_, field, _)) = fields.iter().find(|(name, _, _)| *name == "events") {
        events(&mut text, schema, field);
    }
    text
}

/// Required ones first.
fn fields<'a>(schema: &Schema<'a>, object: &'a Value) -> Vec<(&'a str, &'a Value, bool)> {
    let mut fields = schema.fields(object);
    fields.sort_by_key(|(_, _, required)| !required);
    fields
}

const HEAD: &str = "| property | type | default | description |\n| --- | --- | --- | --- |\n";

fn row(text: &mut String, schema: &Schema<'_>, name: &str, field: &Value, required: bool) {
    let required = if required { ", required" } else { "" };
    let default = schema
        .default(field)
        .map_or_else(String::new, |value| format!("`{value}`"));
    let _ = writeln!(
        text,
        "| `{name}` | {}{required} | {} | {} |",
        cell(&schema.type_name(field)),
        cell(&default),
        cell(&schema.description(field))
    );
}

/// A section for a property that has fields, alternatives or items.
fn detail(text: &mut String, schema: &Schema<'_>, name: &str, field: &Value) {
    let inner = schema.items(field).unwrap_or(field);
    let alternatives = schema.alternatives(inner);
    let has_fields = !schema.fields(inner).is_empty();
    if name == CONNECT_TO {
        let _ = write!(
            text,
            "\n### {name}\n\n{} Variables and permissions that follow are on [connectTo](../concept/connect-to.md).\n",
            sentence(&schema.description(field))
        );
        return;
    }
    if alternatives.is_empty() && !has_fields {
        return;
    }
    let _ = write!(
        text,
        "\n### {name}\n\n{}\n",
        sentence(&schema.description(field))
    );
    if !alternatives.is_empty() {
        each_alternative(text, schema, &alternatives, "####");
    } else if has_fields {
        text.push('\n');
        text.push_str(HEAD);
        nested(text, schema, "", inner, 1);
    }
}

fn events(text: &mut String, schema: &Schema<'_>, field: &Value) {
    let inner = schema.items(field).unwrap_or(field);
    let alternatives = schema.alternatives(inner);
    let _ = write!(
        text,
        "\n## Events\n\n{} How each works is on [events and triggers](../concept/events.md).\n",
        sentence(&schema.description(field))
    );
    each_alternative(text, schema, &alternatives, "###");
}

/// One part for each alternative; those with the same properties share one.
fn each_alternative(
    text: &mut String,
    schema: &Schema<'_>,
    alternatives: &[Alternative<'_>],
    level: &str,
) {
    let mut groups: Vec<Vec<&Alternative<'_>>> = Vec::new();
    for alternative in alternatives {
        match groups
            .iter_mut()
            .find(|group| group[0].properties == alternative.properties)
        {
            Some(group) => group.push(alternative),
            None => groups.push(vec![alternative]),
        }
    }
    for group in groups {
        let names: Vec<&str> = group.iter().map(|alternative| alternative.name).collect();
        let _ = write!(text, "\n{level} type: {}\n\n", names.join(", "));
        for alternative in &group {
            let description = sentence(&one_line(alternative.description));
            if group.len() == 1 {
                let _ = writeln!(text, "{description}");
            } else {
                let _ = writeln!(text, "- `{}`: {description}", alternative.name);
            }
        }
        if !schema.fields(group[0].properties).is_empty() {
            text.push('\n');
            text.push_str(HEAD);
            nested(text, schema, "", group[0].properties, 1);
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Rows of an object's fields, with those of objects in it below.
fn nested(text: &mut String, schema: &Schema<'_>, prefix: &str, object: &Value, depth: usize) {
    for (name, field, required) in fields(schema, object) {
        let path = format!("{prefix}{name}");
        row(text, schema, &path, field, required);
        if depth >= DEPTH {
            continue;
        }
        match schema.items(field) {
            Some(items) => nested(text, schema, &format!("{path}[]."), items, depth + 1),
            None => nested(text, schema, &format!("{path}."), field, depth + 1),
        }
    }
}

fn sentence(text: &str) -> String {
    match text.chars().last() {
        None => String::new(),
        Some('.') => text.to_owned(),
        Some(_) => format!("{text}."),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
