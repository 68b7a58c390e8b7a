//! The tools pack deploys to, and the directories it owns files in.

use std::{fmt, path::PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// A directory for anything else.
    ExportDir,
    /// JetBrains Junie.
    Jetbrains,
    /// VS Code Copilot.
    Vscode,
    /// Zed.
    Zed,
}

impl Target {
    /// All of them, in the order of their names.
    pub const ALL: [Self; 7] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Cursor,
        Self::ExportDir,
        Self::Jetbrains,
        Self::Vscode,
        Self::Zed,
    ];

    /// The name in manifests and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude_code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::ExportDir => "export_dir",
            Self::Jetbrains => "jetbrains",
            Self::Vscode => "vscode",
            Self::Zed => "zed",
        }
    }

    /// The target of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.as_str() == name)
    }

    /// Whether it has no directories of the user's.
    pub const fn is_project_only(self) -> bool {
        matches!(
            self,
            Self::Cursor | Self::Jetbrains | Self::Vscode | Self::Zed
        )
    }

    /// The options it understands.
    pub const fn options(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &[
                "write_user_commands",
                "write_repo_commands",
                "write_user_skills",
                "write_repo_skills",
                "write_claude_md_repo",
                "write_claude_md_user",
                "claude_md",
            ],
            Self::Codex => &[
                "codex_home",
                "write_agents_global",
                "write_user_prompts",
                "write_user_skills",
                "write_agents_repo_root",
                "write_repo_skills",
                "write_agents_skills_user",
                "write_agents_skills_repo",
            ],
            Self::Cursor | Self::Zed => &["write_rules"],
            Self::ExportDir => &["root", "scan_extras"],
            Self::Jetbrains => &["write_guidelines"],
            Self::Vscode => &["write_instructions", "write_prompts"],
        }
    }

    /// What a value of a known option should have been, when it is something else.
    pub(crate) fn option_mismatch(self, option: &str, value: &Value) -> Option<&'static str> {
        match option {
            "codex_home" | "root" => (!value.is_string()).then_some("a path"),
            "claude_md" => {
                (!matches!(value.as_str(), Some("import" | "inline"))).then_some("import or inline")
            }
            _ => flag(value).is_none().then_some("true or false"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A boolean as the manifest has them: a YAML boolean, or one of `true`, `yes`, `1`, `false`,
/// `no`, `0` as text (in any case) or number.
pub(crate) fn flag(value: &Value) -> Option<bool> {
    let text = match value {
        Value::Bool(flag) => return Some(*flag),
        Value::String(text) => text.trim().to_ascii_lowercase(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    match text.as_str() {
        "true" | "yes" | "1" => Some(true),
        "false" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// Whether a root belongs to the user or to a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RootScope {
    /// The user's home.
    User,
    /// One project.
    Project,
}

/// A directory in which a target's files are managed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TargetRoot {
    /// The target.
    pub target: Target,
    /// The directory, absolute.
    pub path: PathBuf,
    /// Whether extra files are reported.
    pub scan_extras: bool,
    /// Whose it is.
    pub scope: RootScope,
}
