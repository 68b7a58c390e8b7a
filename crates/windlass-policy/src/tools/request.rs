//! What is asked and what is answered.

use windlass_shell::Script;
use windlass_types::{EffectClass, Principal, Timestamp};

use super::{Finding, Grant};
use crate::decide::Verdict;

/// What kind of thing a tool call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolClass {
    /// Reads inside the work tree.
    Read,
    /// Reads other files.
    ReadOutside,
    /// Writes inside the work tree; it can be undone.
    Write,
    /// Runs a command.
    Exec,
    /// Reaches a host.
    Network,
    /// Works on another machine.
    Remote,
    /// Is given the value of a secret.
    Secret,
    /// Deletes, destroys, forces.
    Destructive,
    /// Tasks, subagents, questions.
    Meta,
    /// Nobody has said.
    Unknown,
}

impl ToolClass {
    /// The word that rules and decisions use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::ReadOutside => "read-outside",
            Self::Write => "write",
            Self::Exec => "exec",
            Self::Network => "network",
            Self::Remote => "remote",
            Self::Secret => "secret",
            Self::Destructive => "destructive",
            Self::Meta => "meta",
            Self::Unknown => "unknown",
        }
    }

    /// The effect that rules with `effect` are compared with.
    pub(crate) const fn effect(self) -> EffectClass {
        match self {
            Self::Read | Self::ReadOutside | Self::Meta => EffectClass::Read,
            Self::Destructive => EffectClass::Destructive,
            _ => EffectClass::Write,
        }
    }

    /// Whether it changes nothing.
    pub(crate) const fn only_reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadOutside | Self::Meta)
    }
}

/// How much is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Reads in the work tree and plain read-only commands proceed; the rest asks.
    #[default]
    Ask,
    /// Reads anywhere proceed, except of credentials.
    AutoRead,
    /// Only reads; nothing can change that.
    Plan,
    /// Writes in the work tree and sandboxed commands proceed, too.
    Auto,
}

/// What a session may do at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Everything that policy does not forbid.
    #[default]
    Default,
    /// Reads, and what rules allow by name, without writing.
    ReadOnly,
}

/// Whether there is a person to ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attendance {
    /// There is.
    #[default]
    Attended,
    /// There is not: what would ask is refused.
    Unattended,
}

/// Where the arguments come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Taint {
    /// From the user, or they cannot be told.
    #[default]
    Clean,
    /// First seen in text from outside.
    Tainted,
}

/// Whether commands run in a sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// They do.
    On,
    /// They do not, or nobody has said.
    #[default]
    Off,
}

/// Where the call is made; absolute paths.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The directory that may be changed.
    pub work_tree: &'a str,
    /// Where relative paths start.
    pub directory: &'a str,
    /// The user's home directory.
    pub home: &'a str,
    /// Windlass's own directory.
    pub own_home: &'a str,
    /// Other directories that may be written, such as a private temporary one.
    pub scratch: &'a [String],
}

/// How much a call would touch, and how much may be without asking.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Files that would be changed or removed.
    pub files: u64,
    /// Resources elsewhere that would be changed or removed.
    pub resources: u64,
    /// The most files.
    pub most_files: u64,
    /// The most resources.
    pub most_resources: u64,
}

impl Default for Extent {
    fn default() -> Self {
        Self {
            files: 0,
            resources: 0,
            most_files: 50,
            most_resources: 10,
        }
    }
}

/// A call of a tool to be decided.
#[derive(Clone, Copy, Debug)]
pub struct ToolRequest<'a> {
    /// The tool's full name: `run_command`, `server__tool`.
    pub tool: &'a str,
    /// What it does.
    pub class: ToolClass,
    /// The commands, where it runs some.
    pub script: Option<&'a Script>,
    /// The files it names.
    pub paths: &'a [String],
    /// The hosts it reaches.
    pub hosts: &'a [String],
    /// Who asks.
    pub principal: &'a Principal,
    /// How much is asked about.
    pub mode: Mode,
    /// What the session may do.
    pub profile: Profile,
    /// Whether there is a person to ask.
    pub attendance: Attendance,
    /// Where the arguments come from.
    pub taint: Taint,
    /// Whether commands are sandboxed.
    pub sandbox: Sandbox,
    /// Where it happens.
    pub place: Place<'a>,
    /// How much it would touch.
    pub extent: Extent,
    /// What was allowed for this session or project.
    pub grants: &'a [Grant],
    /// The present moment.
    pub now: Timestamp,
}

/// What the policy says about a call, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolDecision {
    /// What the policy says.
    pub verdict: Verdict,
    /// The rule: its id where it has one, else its place, else `built-in: …`.
    pub rule: String,
    /// Where the rule is written: `rules.toml:12` or `built-in`.
    pub source: String,
    /// Why.
    pub reason: Option<String>,
    /// Whether only a person may answer, never another model or a remembered answer.
    pub is_always_human: bool,
    /// Whether the answer may be remembered for calls like it.
    pub may_be_remembered: bool,
    /// What the guards found.
    pub findings: Vec<Finding>,
}
