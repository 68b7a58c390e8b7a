//! An analysis as compact text, for snapshots.

use std::fmt::Write as _;

use windlass_pipeline_design::model::{
    Analysis, Requirements,
    analysis::{Stated, StatedField},
};

fn name<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap().replace('"', "")
}

/// Requirements, one per line.
pub fn requirements(requirements: &Requirements) -> String {
    let mut out = String::new();
    for item in &requirements.functional {
        let _ = writeln!(
            out,
            "{} {}: {}",
            item.id,
            name(&item.priority),
            item.description
        );
    }
    for item in &requirements.non_functional {
        let metric = item
            .metric
            .as_ref()
            .map(|metric| format!(" [{metric}]"))
            .unwrap_or_default();
        let _ = writeln!(
            out,
            "{} {}: {}{metric}",
            item.id,
            name(&item.category),
            item.description
        );
    }
    for item in &requirements.constraints {
        let _ = writeln!(
            out,
            "{} {}: {}",
            item.id,
            name(&item.kind),
            item.description
        );
    }
    trimmed(&out)
}

/// Without the space that an empty list leaves at the end of its line.
fn trimmed(text: &str) -> String {
    text.lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
}

fn field(field: &StatedField) -> String {
    let mut text = format!("{} {}", field.name, name(&field.kind));
    if !field.values.is_empty() {
        text = format!("{text}[{}]", field.values.join("|"));
    }
    if field.unique {
        text.push_str(" unique");
    }
    if field.optional {
        text.push_str(" optional");
    }
    text
}

fn list(items: &[Stated]) -> String {
    items
        .iter()
        .map(|item| item.text.as_str())
        .collect::<Vec<_>>()
        .join(" · ")
}

/// Everything that is found besides the requirements.
pub fn findings(analysis: &Analysis) -> String {
    let mut out = String::new();
    let product = analysis
        .product
        .as_ref()
        .map_or("-", |product| product.text.as_str());
    let _ = writeln!(out, "product {product}");
    let roles: Vec<&str> = analysis
        .roles
        .iter()
        .map(|role| role.name.as_str())
        .collect();
    let _ = writeln!(out, "roles {}", roles.join(" · "));
    for entity in &analysis.entities {
        let fields: Vec<String> = entity.fields.iter().map(field).collect();
        let also = if entity.synonyms.is_empty() {
            String::new()
        } else {
            format!(" (also {})", entity.synonyms.join(", "))
        };
        let _ = writeln!(out, "entity {}{also}: {}", entity.name, fields.join(", "));
    }
    for relation in &analysis.relations {
        let _ = writeln!(
            out,
            "relation {} {} {}",
            relation.from,
            name(&relation.kind),
            relation.to
        );
    }
    for rule in &analysis.access {
        let when = rule
            .only_when
            .as_ref()
            .map(|when| format!(" when {}={}", when.field, when.value))
            .unwrap_or_default();
        let _ = writeln!(
            out,
            "access {} {}{when}",
            rule.entity.as_deref().unwrap_or("*"),
            name(&rule.rule)
        );
    }
    for colour in &analysis.colours {
        let _ = writeln!(
            out,
            "colour {} {} ({})",
            colour.role, colour.value, colour.text
        );
    }
    let _ = writeln!(out, "pages {}", list(&analysis.pages));
    let _ = writeln!(out, "fonts {}", list(&analysis.fonts));
    let _ = writeln!(out, "styles {}", list(&analysis.styles));
    let _ = writeln!(out, "numbers {}", list(&analysis.numbers));
    let _ = writeln!(out, "names {}", list(&analysis.names));
    let integrations: Vec<String> = analysis
        .integrations
        .iter()
        .map(|item| format!("{} {}", item.kind, item.text))
        .collect();
    let _ = writeln!(out, "integrations {}", integrations.join(" · "));
    let _ = writeln!(out, "sign-in {}", analysis.sign_in.join(" "));
    for weakness in &analysis.weaknesses {
        let _ = writeln!(out, "weak {} {}", weakness.check, weakness.message);
    }
    for span in analysis.spans.iter().filter(|span| {
        span.dropped
            .as_deref()
            .is_some_and(|reason| reason != "a heading")
    }) {
        let _ = writeln!(
            out,
            "dropped {} {:?}: {}",
            span.id,
            span.dropped.as_deref().unwrap_or_default(),
            span.text
        );
    }
    trimmed(&out)
}
