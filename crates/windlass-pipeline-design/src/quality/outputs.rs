//! The outputs that are looked at: those of a phase and of the ones before it.

use std::collections::BTreeMap;

use crate::model::code::{Dependencies, Served};
use crate::model::{Analysis, Architecture, GeneratedFile, Requirements, UxSpec};

/// Which of them the caller brought along. What is not ours is never held against us: its defects
/// are reported and do not block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The requirements.
    pub requirements: bool,
    /// The architecture.
    pub architecture: bool,
    /// The UX specification.
    pub ux: bool,
}

/// The outputs.
#[derive(Clone, Copy, Debug)]
pub struct Outputs<'a> {
    /// What the spec says.
    pub analysis: &'a Analysis,
    /// What is required.
    pub requirements: &'a Requirements,
    /// The summary of the strategy.
    pub strategy_summary: Option<&'a str>,
    /// The architecture.
    pub architecture: Option<&'a Architecture>,
    /// Its document.
    pub architecture_markdown: Option<&'a str>,
    /// The UX specification.
    pub ux: Option<&'a UxSpec>,
    /// Its document.
    pub ux_markdown: Option<&'a str>,
    /// The files: all of them, also when only some were asked for.
    pub files: Option<&'a [GeneratedFile]>,
    /// What they need.
    pub dependencies: Option<&'a Dependencies>,
    /// What the project does for each requirement, by its id.
    pub served: Option<&'a BTreeMap<String, Served>>,
    /// What the static checks of the files found wrong.
    pub code_problems: &'a [String],
    /// How many files have a feature in them, where that is planned already.
    pub planned_files: Option<usize>,
    /// What the caller brought.
    pub given: Given,
}

impl<'a> Outputs<'a> {
    /// Those of the first phase; later ones are set as members.
    pub fn new(analysis: &'a Analysis, requirements: &'a Requirements) -> Self {
        Self {
            analysis,
            requirements,
            strategy_summary: None,
            architecture: None,
            architecture_markdown: None,
            ux: None,
            ux_markdown: None,
            files: None,
            dependencies: None,
            served: None,
            code_problems: &[],
            planned_files: None,
            given: Given::default(),
        }
    }
}
