//! The frontmatter a module's file must have, with faults that name the module.

use serde_json::Value;
use windlass_pack_model::{Frontmatter, FrontmatterError, Module};
use windlass_types::Problem;

use crate::render::shape::broken;

/// The frontmatter of a module's file.
#[derive(Debug)]
pub(crate) struct Head<'t> {
    path: &'t str,
    matter: Frontmatter<'t>,
}

impl<'t> Head<'t> {
    /// Reads the frontmatter of a file.
    pub(crate) fn read(module: &Module, path: &'t str, text: &'t str) -> Result<Self, Problem> {
        let matter = Frontmatter::parse(text).map_err(|error| {
            let what = format!("needs frontmatter in {path}: {error}");
            let problem = broken(module, &what)
                .with("path", path)
                .with("field", "frontmatter")
                .with("expected", "a line ---, a YAML mapping, a line ---");
            match error {
                FrontmatterError::Missing => problem.with("missing", "frontmatter"),
                _ => problem,
            }
        })?;
        Ok(Self { path, matter })
    }

    /// What follows the frontmatter.
    pub(crate) fn body(&self) -> &'t str {
        self.matter.body
    }

    /// A field that must be text, and not blank.
    pub(crate) fn required(&self, module: &Module, field: &str) -> Result<&str, Problem> {
        if let Some(text) = self.matter.text(field) {
            return Ok(text);
        }
        let path = self.path;
        let absent = !self.matter.fields.contains_key(field);
        let what = if absent {
            format!("has no {field} in the frontmatter of {path}")
        } else {
            format!("has a {field} in the frontmatter of {path} that is not text, or blank")
        };
        let problem = broken(module, &what)
            .with("path", path)
            .with("field", field)
            .with("expected", "a non-empty string");
        Err(if absent {
            problem.with("missing", field)
        } else {
            problem
        })
    }

    /// Whether a field, text or a list of texts, contains something.
    pub(crate) fn mentions(&self, field: &str, what: &str) -> bool {
        match self.matter.fields.get(field) {
            Some(Value::String(text)) => text.contains(what),
            Some(Value::Array(items)) => items
                .iter()
                .any(|item| item.as_str().is_some_and(|text| text.contains(what))),
            _ => false,
        }
    }
}
