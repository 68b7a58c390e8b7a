//! `snippet_catalog.json`: code that may be shown, because it is in the product repository.

use serde::{Deserialize, Serialize};

/// One piece of code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Snippet {
    /// 64 hex characters over code, language, path and range.
    pub snippet_id: String,
    /// The language, as a fence names it.
    pub language: String,
    /// What it shows, sorted.
    pub tags: Vec<String>,
    /// Where it is from.
    pub source: SnippetSource,
    /// The code.
    pub code: String,
    /// What it needs.
    #[serde(default)]
    pub requirements: Vec<String>,
    /// What was found out about it.
    pub validation: SnippetValidation,
}

/// What was found out about a snippet.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct SnippetValidation {
    /// Whether it parses; null for languages without a parser.
    pub syntax_ok: Option<bool>,
}

/// Where a snippet is from.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct SnippetSource {
    /// `example`, `readme`, `docs`, `test` or `docstring`.
    pub r#type: String,
    /// The file.
    pub path: String,
    /// The first line, from 1.
    pub start_line: u64,
    /// The last line.
    pub end_line: u64,
}

/// All of them, in the order of their sources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SnippetCatalog {
    /// The version of this format.
    pub schema_version: String,
    /// The snippets.
    pub snippets: Vec<Snippet>,
}

impl SnippetCatalog {
    /// The snippet of an id.
    pub fn snippet(&self, snippet_id: &str) -> Option<&Snippet> {
        self.snippets
            .iter()
            .find(|snippet| snippet.snippet_id == snippet_id)
    }
}
