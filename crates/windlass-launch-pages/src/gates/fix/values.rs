//! Values for keys of the front matter and for template tokens, out of defaults, plan and facts.

use serde_json::{Value, json};

use windlass_launch_model::markdown::{Document, frontmatter::is_type};

use crate::{
    draft::canonical_url,
    gates::{
        checks::{template_tokens::tokens, truth_lock},
        input::GateInput,
    },
};

/// A value for a key a page must have.
pub(super) fn for_key(input: &GateInput, path: &str, key: &str) -> Value {
    let contract = input.section_contract(path);
    let expected = contract
        .key_types
        .get(key)
        .map_or("unknown", String::as_str);
    // An empty value or a template's token is what the fix removes.
    let says = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => tokens(&Document::parse_body(text)).is_empty(),
        _ => true,
    };
    let fits = |value: &Value| is_type(value, expected) && says(value);
    let default = contract.default_values.get(key).cloned();
    default
        .filter(fits)
        .or_else(|| planned(input, path, key).filter(fits))
        .or_else(|| like_others(input, path, key).filter(fits))
        .unwrap_or_else(|| neutral(input, path, expected))
}

/// What the plan or the facts say about a key.
fn planned(input: &GateInput, path: &str, key: &str) -> Option<Value> {
    let page = input.planned(path);
    let facts = &input.facts;
    let value = match key.to_ascii_lowercase().as_str() {
        "title" | "linktitle" => json!(title(input, path)),
        "slug" => json!(page?.slug),
        "url" => json!(page?.url_path),
        "type" | "section" => json!(input.section(path)?.as_str()),
        "keywords" | "tags" => json!(page?.seo_keywords),
        "description" | "summary" => json!(description(input, path)?),
        "product" | "product_name" => json!(facts.product_name),
        "family" => json!(facts.product_slug),
        "package" | "package_name" => {
            let first = facts.distribution.first();
            json!(first.map_or(&facts.product_slug, |way| &way.identifier))
        }
        "canonical" | "canonicalurl" | "canonical_url" => {
            json!(canonical_url(
                page?,
                &input.plan,
                &input.settings.canonical_urls
            )?)
        }
        "draft" => json!(false),
        "lang" | "language" | "locale" => json!(page?.locale),
        _ => return None,
    };
    Some(value)
}

/// The title a page is planned to have; else its first heading, else its file's name.
pub(super) fn title(input: &GateInput, path: &str) -> String {
    if let Some(page) = input.planned(path) {
        return page.title.clone();
    }
    let heading = input.document(path).and_then(|page| page.headings.first());
    heading.map_or_else(|| words(path), |heading| heading.text.clone())
}

/// A claim that says what a page is about and may be shown.
pub(super) fn description(input: &GateInput, path: &str) -> Option<String> {
    let planned = input
        .planned(path)
        .into_iter()
        .flat_map(|page| &page.required_claim_ids);
    let ids = input.facts.positioning_claim_id.iter().chain(planned);
    ids.filter_map(|id| input.claim(id))
        .find(|claim| truth_lock::stands(input, &claim.claim_id))
        .map(|claim| claim.claim_text.clone())
}

/// The largest value of the key on the section's pages; for dates that is the newest.
fn like_others(input: &GateInput, path: &str, key: &str) -> Option<Value> {
    let section = input.section(path)?;
    let pages = input.documents().iter();
    pages
        .filter(|(other, _)| other.as_str() != path && input.section(other) == Some(section))
        .filter_map(|(_, document)| document.key(key).cloned())
        .filter(|value| !value.is_object())
        .max_by_key(ToString::to_string)
}

fn neutral(input: &GateInput, path: &str, expected: &str) -> Value {
    match expected {
        "integer" => json!(1),
        "number" => json!(1.0),
        "boolean" => json!(false),
        "array_string" => json!([]),
        "object" => json!({}),
        // No clock here: the first day is plainly no real date, and the same every time.
        "date" => json!("1970-01-01"),
        // Of a key that pages leave blank nothing can be said.
        "unknown" => json!(""),
        _ => json!(title(input, path)),
    }
}

/// A value of another type that means the same.
pub(super) fn converted(value: &Value, expected: &str) -> Option<Value> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    let new = match expected {
        "string" if !value.is_object() && !value.is_array() => json!(text),
        "string" => {
            let items = value.as_array()?.iter().filter_map(Value::as_str);
            json!(items.collect::<Vec<_>>().join(", "))
        }
        "integer" => text.parse::<i64>().map(|number| json!(number)).ok()?,
        "number" => json!(text.parse::<f64>().ok()?),
        "boolean" => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => json!(true),
            "false" | "no" | "off" | "0" => json!(false),
            _ => return None,
        },
        "array_string" => match value {
            Value::Array(items) => items
                .iter()
                .map(|item| {
                    json!(
                        item.as_str()
                            .map_or_else(|| item.to_string(), str::to_owned)
                    )
                })
                .collect(),
            Value::String(text) => text
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(|item| json!(item))
                .collect(),
            other => json!([other.to_string()]),
        },
        _ => return None,
    };
    is_type(&new, expected).then_some(new)
}

/// The value of a template token.
pub(super) fn for_token(input: &GateInput, path: &str, token: &str) -> Option<String> {
    let name = token.trim_matches(|c: char| matches!(c, '_' | '{' | '}' | ' ' | '.' | '-' | '$'));
    if let Some(value) = input.settings.token_values.get(name) {
        return Some(value.clone());
    }
    let facts = &input.facts;
    let page = input.planned(path);
    let first = facts.distribution.first();
    let value = match name
        .to_ascii_uppercase()
        .replace(['.', '-', ' '], "_")
        .as_str()
    {
        "PRODUCT" | "PRODUCT_NAME" | "NAME" => facts.product_name.clone(),
        "PRODUCT_SLUG" | "SLUG_PRODUCT" | "FAMILY" => facts.product_slug.clone(),
        "REPO_URL" | "REPOSITORY_URL" | "GITHUB_REPO_URL" | "REPOSITORY" => facts.repo_url.clone(),
        "LICENSE" => facts.license.clone()?,
        "PACKAGE" | "PACKAGE_NAME" => first?.identifier.clone(),
        "INSTALL_COMMAND" => first?.install_commands.first()?.clone(),
        "TITLE" | "PAGE_TITLE" => page?.title.clone(),
        "SLUG" => page?.slug.clone(),
        "SECTION" => page?.section.as_str().to_owned(),
        "LOCALE" | "LANG" => page?.locale.clone(),
        _ => return None,
    };
    Some(value)
}

/// The words of a file's name.
pub(super) fn words(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let mut words = stem
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}
