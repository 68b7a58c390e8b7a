//! A question and its answer, in the shape of contract 000's documentation tool.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::page::DocType;

/// What kind of answer is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Statements of the pages, each with its place.
    #[default]
    Answer,
    /// Titles and places with one line each.
    Reference,
    /// Code of the pages.
    Snippet,
}

/// A question.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Query {
    /// The question as text; an error message or a log may be pasted into it.
    #[schemars(length(min = 1, max = 1_048_576))]
    pub query: String,
    /// What kind of answer is wanted.
    #[serde(default)]
    pub mode: Mode,
    /// Only pages about this resource type, such as `function` or `web-service`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<String>,
    /// How many pages the answer may come from.
    #[serde(default = "three")]
    #[schemars(range(min = 1, max = 20))]
    pub max_items: u32,
}

fn three() -> u32 {
    3
}

impl Query {
    /// A question with the defaults.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            mode: Mode::Answer,
            resource_type: None,
            max_items: three(),
        }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Answer {
    /// The answer, with places as `[path#heading]`; or that nothing fits.
    pub answer: String,
    /// The pages it comes from, best first; none when nothing fits.
    pub references: Vec<Reference>,
    /// Code that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippets: Option<Vec<Snippet>>,
    /// What to ask next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_queries: Option<Vec<String>>,
}

/// A page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reference {
    /// Its title.
    pub title: String,
    /// Its path in the documentation.
    pub path: String,
    /// What kind of page it is.
    pub doc_type: DocType,
}

/// Code of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Snippet {
    /// `yaml` or `typescript`.
    #[schemars(extend("enum" = ["yaml", "typescript"]))]
    pub language: String,
    /// The code.
    pub code: String,
}
