//! The manifest `agentpack.yaml` as values. Reading it is [`crate::parse`]'s job, changing it
//! in place that of [`crate::edit`].

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Target;

/// The name of the file.
pub const MANIFEST_FILE: &str = "agentpack.yaml";

/// The one version there is.
pub const MANIFEST_VERSION: u32 = 1;

/// The profile every manifest has.
pub const DEFAULT_PROFILE: &str = "default";

/// What a configuration repository holds and where it goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The version of the format.
    pub version: u32,
    /// The profiles, `default` among them.
    pub profiles: BTreeMap<String, Profile>,
    /// The targets that are deployed to.
    pub targets: BTreeMap<Target, TargetConfig>,
    /// The modules, in the order of the file.
    pub modules: Vec<Module>,
    /// Whether project outputs are listed in the managed .gitignore block.
    pub gitignore_outputs: bool,
    /// Which file takes the managed .gitignore block.
    pub gitignore_mode: GitignoreMode,
    /// Whether a symbolic link inside a module may leave the repository.
    pub allow_external_symlinks: bool,
}

impl Manifest {
    /// The module of an id.
    pub fn module(&self, id: &str) -> Option<&Module> {
        self.modules.iter().find(|module| module.id == id)
    }
}

/// Which modules are deployed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Modules with one of these tags.
    pub include_tags: Vec<String>,
    /// These modules, whatever their tags.
    pub include_modules: Vec<String>,
    /// Never these.
    pub exclude_modules: Vec<String>,
}

/// How one target is deployed to.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetConfig {
    /// How files get there.
    pub mode: TargetMode,
    /// Whose directories are written.
    pub scope: ConfigScope,
    /// The target's own options.
    pub options: BTreeMap<String, Value>,
}

impl TargetConfig {
    /// A boolean option: a YAML boolean, or one of `true`, `yes`, `1`, `false`, `no`, `0`.
    /// Anything else counts as the default.
    pub fn flag(&self, option: &str, default: bool) -> bool {
        self.options
            .get(option)
            .and_then(crate::target::flag)
            .unwrap_or(default)
    }

    /// A text option; empty text counts as absent.
    pub fn text(&self, option: &str) -> Option<&str> {
        self.options
            .get(option)
            .and_then(Value::as_str)
            .map(str::trim)
            .filter(|text| !text.is_empty())
    }
}

/// How files get to a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetMode {
    /// Written as files.
    #[default]
    Files,
}

/// Whose directories a target is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigScope {
    /// The user's.
    User,
    /// The project's.
    Project,
    /// Both.
    Both,
}

impl ConfigScope {
    /// The name in the manifest.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Both => "both",
        }
    }

    /// Whether the user's directories are included.
    pub const fn has_user(self) -> bool {
        matches!(self, Self::User | Self::Both)
    }

    /// Whether the project's directories are included.
    pub const fn has_project(self) -> bool {
        matches!(self, Self::Project | Self::Both)
    }
}

/// Which file takes the managed .gitignore block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GitignoreMode {
    /// The repository's `.gitignore`.
    #[default]
    Gitignore,
    /// `.git/info/exclude`.
    Exclude,
}

/// A unit of configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The id, unique in the manifest.
    pub id: String,
    /// What it is.
    pub module_type: ModuleType,
    /// Whether it takes part at all.
    pub enabled: bool,
    /// What profiles choose by.
    pub tags: Vec<String>,
    /// The targets it is for; empty means all.
    pub targets: Vec<Target>,
    /// The name of its output, where that is not what its id says.
    pub name: Option<String>,
    /// Where its files come from.
    pub source: Source,
    /// The line of the manifest it starts on, counted from 1; 0 when it comes from elsewhere.
    pub line: usize,
}

impl Module {
    /// Whether it is for a target.
    pub fn is_for(&self, target: Target) -> bool {
        self.targets.is_empty() || self.targets.contains(&target)
    }
}

/// What a module is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModuleType {
    /// Standing instructions (`AGENTS.md`).
    Instructions,
    /// A skill directory (`SKILL.md`).
    Skill,
    /// One prompt file.
    Prompt,
    /// One slash command.
    Command,
    /// An MCP server's configuration.
    McpServer,
    /// A hook.
    Hook,
    /// A sub-agent.
    Subagent,
}

impl ModuleType {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Instructions,
        Self::Skill,
        Self::Prompt,
        Self::Command,
        Self::McpServer,
        Self::Hook,
        Self::Subagent,
    ];

    /// The name in manifests and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Skill => "skill",
            Self::Prompt => "prompt",
            Self::Command => "command",
            Self::McpServer => "mcp_server",
            Self::Hook => "hook",
            Self::Subagent => "subagent",
        }
    }

    /// The type of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Whether agentpack 0.9.1 knows the type.
    pub const fn is_v1(self) -> bool {
        matches!(
            self,
            Self::Instructions | Self::Skill | Self::Prompt | Self::Command
        )
    }
}

impl fmt::Display for ModuleType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Where a module's files come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file or directory, relative to the repository (old manifests may go beyond it).
    LocalPath {
        /// The path as written.
        path: String,
    },
    /// A git repository.
    Git(GitSource),
}

/// A git repository, or a directory in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSource {
    /// The address.
    pub url: String,
    /// Branch, tag or commit.
    pub reference: String,
    /// The directory inside; empty for the root.
    pub subdir: String,
    /// Whether history is left out of the clone.
    pub shallow: bool,
}

impl GitSource {
    /// The reference when none is given.
    pub const DEFAULT_REFERENCE: &'static str = "main";
}
