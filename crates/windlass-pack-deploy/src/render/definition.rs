//! Modules that are one YAML or JSON file: how it is read, and what its texts may hold.

use serde::de::DeserializeOwned;
use serde_json::json;
use windlass_pack_model::{Module, Tree};
use windlass_secrets::Redactor;
use windlass_types::Problem;

use crate::render::shape::{broken, only_file, text};

/// Reads a definition.
pub(crate) fn read<T: DeserializeOwned>(
    module: &Module,
    tree: &Tree,
    expected: &str,
) -> Result<T, Problem> {
    let (path, content) = only_file(module, tree, &["yaml", "yml", "json"])?;
    let text = text(module, path.as_str(), content)?;
    let parsed = if path.as_str().ends_with(".json") {
        serde_json::from_str(text).map_err(|error| error.to_string())
    } else {
        serde_saphyr::from_str(text).map_err(|error| error.to_string())
    };
    parsed.map_err(|error| {
        broken(
            module,
            &format!("has {path}, which cannot be read: {error}"),
        )
        .with("path", path.as_str())
        .with("expected", expected)
    })
}

/// A part of a text: as written, or a reference to an environment variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'t> {
    Plain(&'t str),
    Variable(&'t str),
}

/// The parts of a text; the fault where `${` does not begin a reference.
pub(crate) fn parts(text: &str) -> Result<Vec<Part<'_>>, &str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (plain, reference) = rest.split_at(start);
        if !plain.is_empty() {
            parts.push(Part::Plain(plain));
        }
        let end = reference.find('}').ok_or(reference)?;
        let name = &reference[2..end];
        let named = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !named || name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(&reference[..=end]);
        }
        parts.push(Part::Variable(name));
        rest = &reference[end + 1..];
    }
    if !rest.is_empty() {
        parts.push(Part::Plain(rest));
    }
    Ok(parts)
}

/// Refuses a text with a malformed reference, or with a secret that is not a reference. The
/// secret itself is never repeated.
pub(crate) fn check_text(
    module: &Module,
    field: &str,
    name: &str,
    value: &str,
) -> Result<(), Problem> {
    let parts = parts(value).map_err(|fault| {
        broken(
            module,
            &format!("has {fault:?} in {field}; a reference is ${{NAME}}"),
        )
        .with("field", field)
        .with("expected", "${NAME}: letters, digits and _")
    })?;
    let literal: String = parts
        .iter()
        .filter_map(|part| match part {
            Part::Plain(text) => Some(*text),
            Part::Variable(_) => None,
        })
        .collect();
    let only_references = parts.len() == 1 && literal.is_empty();
    if !only_references && is_secret(name, &literal) {
        return Err(broken(
            module,
            &format!(
                "has what looks like a secret in {field}; name an environment variable instead"
            ),
        )
        .with("field", field)
        .with("expected", "a reference such as ${NAME}"));
    }
    Ok(())
}

fn is_secret(name: &str, literal: &str) -> bool {
    // What stands before a token is none.
    let scheme = ["bearer", "basic", "token", "apikey"];
    let literal = literal.trim();
    if literal.is_empty() || scheme.contains(&literal.to_ascii_lowercase().as_str()) {
        return false;
    }
    // A path to a secret is none.
    let is_path = ["/", "./", "../", "~/"]
        .iter()
        .any(|start| literal.starts_with(start));
    let credentials = ["authorization", "proxy-authorization", "cookie"];
    if credentials.contains(&name.to_ascii_lowercase().as_str()) {
        return true;
    }
    let redactor = Redactor::new();
    let name = if is_path { "" } else { name };
    let named = json!({ name: literal });
    redactor.redact_value(named.clone()) != named
}
