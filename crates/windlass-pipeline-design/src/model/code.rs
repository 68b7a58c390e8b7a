//! `aios_generate_code`: files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{Coverage, Generator, QualityReport, Trace};

/// A file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GeneratedFile {
    /// Relative, with `/`.
    pub path: String,
    /// All of it.
    pub content: String,
    /// `typescript`, `css`, `sql`, …
    pub language: String,
    /// The SHA-256 of the content.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// What the project needs, with exact versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Dependencies {
    /// At run time.
    pub production: BTreeMap<String, String>,
    /// For building and testing.
    pub development: BTreeMap<String, String>,
}

/// The answer of `aios_generate_code`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CodeOutput {
    /// The files, by path.
    pub files: Vec<GeneratedFile>,
    /// What they need.
    pub dependencies: Dependencies,
    /// How to get it running.
    pub setup_instructions: String,
    /// What was checked when the files were generated, and what was not.
    #[serde(default)]
    pub checks: BTreeMap<String, Value>,
    /// By what.
    pub generator: Generator,
    /// What became of the spec.
    pub coverage: Coverage,
    /// How good it is.
    pub quality_report: QualityReport,
}

/// What a project does for a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Served {
    /// It records that something happened.
    Recorded,
    /// A page does it.
    Works,
}
