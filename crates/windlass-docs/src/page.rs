//! A page: what its front matter says, and its chunks.
//!
//! Every page that people write opens with front matter, which also lists the error messages that its
//! headings explain. Pages under `reference/` are generated from
//! code and have none: their folder says what they are.

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{chunk::Chunk, errors, markdown};

/// What kind of page it is; the names are the contract's.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum DocType {
    /// Properties of one resource type, or fields of one configuration file.
    ConfigRef,
    /// A complete example for one purpose.
    Recipe,
    /// How something works.
    Concept,
    /// A symptom, its cause and what to do.
    Troubleshooting,
    /// First steps.
    GettingStarted,
    /// Commands, operations, exit codes, environment.
    CliRef,
}

impl DocType {
    fn default_priority(self) -> u8 {
        match self {
            DocType::ConfigRef | DocType::Recipe | DocType::Concept => 1,
            DocType::Troubleshooting | DocType::GettingStarted => 2,
            DocType::CliRef => 3,
        }
    }
}

/// A page that cannot be part of the corpus.
#[derive(Debug, thiserror::Error)]
#[error("docs/{path}: {reason}")]
pub(crate) struct PageError {
    path: String,
    reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FrontMatter {
    doc_type: DocType,
    title: String,
    resource_type: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    priority: Option<u8>,
    /// See [`Page::errors`].
    #[serde(default)]
    errors: BTreeMap<String, Vec<String>>,
    /// Where the page comes from; for readers of the file, not used here.
    #[serde(rename = "source", default)]
    _source: Option<String>,
}

/// A page, read.
#[derive(Debug)]
pub(crate) struct Page {
    /// From `docs/`.
    pub path: String,
    pub title: String,
    pub doc_type: DocType,
    pub resource_type: Option<String>,
    pub tags: Vec<String>,
    /// From 1, the highest, to 3.
    pub priority: u8,
    /// Error messages by the heading that explains them, as programs print them; see `errors`.
    pub errors: BTreeMap<String, Vec<String>>,
    pub chunks: Vec<Chunk>,
}

impl Page {
    pub(crate) fn read(path: &str, text: &str) -> Result<Self, PageError> {
        let fail = |reason: &dyn fmt::Display| PageError {
            path: path.to_owned(),
            reason: reason.to_string(),
        };
        let (front, body) = split(text);
        let chunks = markdown::chunks(body);
        let heading = chunks.first().map(|chunk| chunk.heading.clone());
        let front = match front {
            Some(front) => serde_saphyr::from_str::<FrontMatter>(front)
                .map_err(|error| fail(&format_args!("front matter: {error}")))?,
            None => by_folder(path, heading)
                .ok_or_else(|| fail(&"it has no front matter (docType, title, tags)"))?,
        };
        let priority = front
            .priority
            .unwrap_or_else(|| front.doc_type.default_priority());
        if !(1..=3).contains(&priority) {
            return Err(fail(&"priority is 1, 2 or 3"));
        }
        for (heading, texts) in &front.errors {
            if chunks.iter().all(|chunk| chunk.heading != *heading) {
                return Err(fail(&format_args!("errors: no heading {heading:?}")));
            }
            for text in texts {
                errors::check(text)
                    .map_err(|error| fail(&format_args!("errors: {text:?}: {error}")))?;
            }
        }
        Ok(Self {
            path: path.to_owned(),
            title: front.title,
            doc_type: front.doc_type,
            resource_type: front.resource_type,
            tags: front.tags,
            priority,
            errors: front.errors,
            chunks,
        })
    }
}

fn split(text: &str) -> (Option<&str>, &str) {
    text.strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or((None, text), |(front, body)| (Some(front), body))
}

fn by_folder(path: &str, heading: Option<String>) -> Option<FrontMatter> {
    let doc_type = if path.starts_with("reference/errors") {
        DocType::Troubleshooting
    } else if path.starts_with("reference/") {
        DocType::CliRef
    } else {
        return None;
    };
    Some(FrontMatter {
        doc_type,
        title: heading?,
        resource_type: None,
        tags: Vec::new(),
        priority: None,
        errors: BTreeMap::new(),
        _source: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_matter_of_a_page() {
        let recipe =
            "---\ndocType: recipe\ntitle: Jobs\ntags: [function, schedule]\n---\n# Jobs\n\nRun.\n";
        let cases = [
            (
                "stack/recipe/jobs.md",
                recipe,
                Ok((DocType::Recipe, "Jobs", 1)),
            ),
            (
                "reference/errors/TIMEOUT.md",
                "# TIMEOUT\n\nToo late.\n",
                Ok((DocType::Troubleshooting, "TIMEOUT", 2)),
            ),
            (
                "reference/cli.md",
                "# Command line\n",
                Ok((DocType::CliRef, "Command line", 3)),
            ),
            (
                "pack.md",
                "# Packs\n",
                Err("docs/pack.md: it has no front matter (docType, title, tags)"),
            ),
            (
                "pack.md",
                "---\ndocType: concept\ntitle: Packs\npriority: 4\n---\n# Packs\n",
                Err("docs/pack.md: priority is 1, 2 or 3"),
            ),
            (
                "pack.md",
                "---\ndocType: concept\ntitle: Packs\nerrors:\n  Drfit: [it drifted]\n---\n# Packs\n",
                Err("docs/pack.md: errors: no heading \"Drfit\""),
            ),
            (
                "pack.md",
                "---\ndocType: concept\ntitle: Packs\nerrors:\n  Packs: [failed]\n---\n# Packs\n",
                Err(
                    "docs/pack.md: errors: \"failed\": an error text has two words, or one that is a code",
                ),
            ),
        ];
        for (path, text, expected) in cases {
            let read = Page::read(path, text);
            match (&read, expected) {
                (Ok(page), Ok((doc_type, title, priority))) => {
                    assert_eq!(
                        (page.doc_type, page.title.as_str(), page.priority),
                        (doc_type, title, priority)
                    );
                }
                (Err(error), Err(message)) => assert_eq!(error.to_string(), message),
                other => panic!("{path}: {other:?}"),
            }
        }
    }
}
