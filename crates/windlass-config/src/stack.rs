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
    /// Functions that `stack sql` may call beyond those known to read: `schema.function`,
    /// `schema.*` for all of a schema that only read, or `function` for one of the server itself.
    pub allowed_functions: Vec<String>,
    /// Commands that `stack redis` may send beyond those known to read, such as `HVALS` or
    /// `MEMORY STATS`; the server must call them read-only too.
    pub allowed_redis_commands: Vec<String>,
    /// Run no code of a project to read its config: custom directives and configs in TypeScript or
    /// JavaScript are refused. For untrusted repositories.
    pub refuse_config_code: bool,
    /// Regions of AWS that are newer than this release. Others it does not know are refused as
    /// spelling mistakes.
    pub extra_regions: Vec<String>,
    /// Let file directives read outside the project.
    pub files_outside_project: bool,
    /// The esbuild to bundle JavaScript and TypeScript with; absent: the pinned version, fetched
    /// once from the npm registry.
    pub esbuild: Option<PathBuf>,
    /// Fetch no build tools: what is not there already is an error. JavaScript is then packaged
    /// without a bundler.
    pub refuse_downloads: bool,
    /// Let the npm registry that build tools come from be on this machine or a private network,
    /// also without TLS.
    pub allow_private_registry: bool,
}

impl StackSettings {
    /// The first entry of `allowed_functions` that names no function.
    pub(crate) fn unclear_function(&self) -> Option<&str> {
        let is_name = |name: &str| {
            !name.is_empty()
                && !name.contains(|c: char| c.is_whitespace() || "\"`'().*".contains(c))
        };
        let is_clear = |entry: &str| match entry.split_once('.') {
            Some((schema, name)) => is_name(schema) && (name == "*" || is_name(name)),
            None => is_name(entry),
        };
        let entries = self.allowed_functions.iter().map(String::as_str);
        entries.into_iter().find(|entry| !is_clear(entry))
    }
}
