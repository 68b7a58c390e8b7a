//! The tools pack deploys to, and the directories it owns files in.

use std::{fmt, path::PathBuf};

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
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
    /// Whether files nobody asked for are reported.
    pub scan_extras: bool,
    /// Whose it is.
    pub scope: RootScope,
}
