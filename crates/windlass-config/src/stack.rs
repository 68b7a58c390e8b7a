//! Settings of AWS stacks.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

/// Settings of AWS stacks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a [stack] table")]
pub struct StackSettings {
    /// Refuse every operation that changes something, commands in containers included.
    pub read_only: bool,
    /// The role that questions to deployed stacks are asked with. If it cannot be assumed, the
    /// question is refused; wider credentials are never used instead.
    pub diagnose_role_arn: Option<String>,
    /// A file with the certificates that databases are trusted by; absent: the usual roots.
    pub database_roots: Option<PathBuf>,
    /// Run no code of a project to read its config: custom directives and configs in TypeScript or
    /// JavaScript are refused. For untrusted repositories.
    pub refuse_config_code: bool,
    /// Let file directives read outside the project.
    pub files_outside_project: bool,
}
