//! What directives are answered from: values that are known, and questions that are asked.

use std::path::PathBuf;

use serde_json::{Map, Value};
use windlass_types::{Problem, code};

use super::GitInfo;

/// What directives are answered from.
pub struct Context<'a> {
    /// The project's name, when the command gave one.
    pub project_name: Option<String>,
    /// The stage.
    pub stage: Option<String>,
    /// The region.
    pub region: Option<String>,
    /// The AWS profile.
    pub profile: Option<String>,
    /// The command's arguments, by their camel-case names.
    pub arguments: Map<String, Value>,
    /// Files stay beneath this directory.
    pub project_root: PathBuf,
    /// Paths are relative to this directory: the config's.
    pub config_directory: PathBuf,
    /// What the installation lets configs do.
    pub allowed: Allowed,
    /// What has to be asked for.
    pub lookups: &'a dyn Lookups,
}

/// What the installation lets configs do. A repository cannot allow itself anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Directives may read files outside the project.
    pub files_outside_project: bool,
    /// Reading a config may run code of the project: directives of its own, and configs that are
    /// programs.
    pub code: bool,
}

impl Default for Allowed {
    fn default() -> Self {
        Self {
            files_outside_project: false,
            code: true,
        }
    }
}

impl Context<'_> {
    /// Refuses code of the project where none may run: by the installation's settings, or because
    /// the user has not trusted the project.
    pub fn require_code(&self, what: &str) -> Result<(), Problem> {
        if self.allowed.code {
            return self.lookups.require_trust(what);
        }
        Err(Problem::new(
            &code::POLICY_DENIED,
            format!("{what} is code, and this installation runs none to read a config"),
        )
        .with("reason", "policy_denied")
        .with("setting", "stack.refuse_config_code")
        .next("write the value into a YAML config, or set stack.refuse_config_code = false"))
    }
}

/// A directive of the user's own, called.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomCall {
    /// The directive's name.
    pub name: String,
    /// The file, inside the project.
    pub file: PathBuf,
    /// The function in it; its default export, or the one named like the directive, without.
    pub function: Option<String>,
    /// The arguments.
    pub arguments: Vec<Value>,
}

/// Answers that need an external service. They may block.
pub trait Lookups {
    /// Refuses to run `what`, which is code of the project, unless the user has trusted it.
    fn require_trust(&self, what: &str) -> Result<(), Problem>;
    /// The AWS account.
    fn account_id(&self) -> Result<String, Problem>;
    /// What git says about the project.
    fn git(&self) -> Result<GitInfo, Problem>;
    /// An output of another stack.
    fn stack_output(
        &self,
        stack: &str,
        output: &str,
        region: Option<&str>,
    ) -> Result<Value, Problem>;
    /// What a directive of the user's own returns.
    fn custom_directive(&self, call: &CustomCall) -> Result<Value, Problem>;
}

/// No external services: for checks that need no access to anything.
#[derive(Clone, Copy, Debug)]
pub struct NoLookups;

impl NoLookups {
    fn refuse<T>(what: &str) -> Result<T, Problem> {
        Err(
            Problem::new(&code::INVALID_INPUT, format!("{what} cannot be asked here"))
                .with("reason", "directive_error"),
        )
    }
}

impl Lookups for NoLookups {
    fn require_trust(&self, what: &str) -> Result<(), Problem> {
        Self::refuse(&format!("whether {what} is trusted"))
    }

    fn account_id(&self) -> Result<String, Problem> {
        Self::refuse("the AWS account")
    }

    fn git(&self) -> Result<GitInfo, Problem> {
        Self::refuse("git")
    }

    fn stack_output(&self, _: &str, _: &str, _: Option<&str>) -> Result<Value, Problem> {
        Self::refuse("another stack")
    }

    fn custom_directive(&self, call: &CustomCall) -> Result<Value, Problem> {
        Self::refuse(&format!("the custom directive ${}", call.name))
    }
}
