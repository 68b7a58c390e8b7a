//! What no mode switches off: dangerous things are found in a call whatever allows it.
//!
//! A guard asks or refuses. Only a rule that names it (`guard = "force-push"`) and allows lifts it,
//! for the calls that rule matches.

mod changes;
mod credentials;
mod git;
mod machine;
mod production;

use windlass_shell::{Kind, Word};

use super::{
    Site, ToolClass, ToolRequest,
    paths::{Paths, Where},
    read_only,
};
use crate::decide::Answer;

pub(crate) use changes::is_protected;
pub(crate) use production::reaches_out;

/// A kind of danger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guard {
    /// Deletes outside the work tree, or nobody knows where.
    DeleteOutside,
    /// Writes outside the work tree, or nobody knows where.
    WriteOutside,
    /// Touches more than a few files or resources.
    BlastRadius,
    /// Changes something that is called production.
    Production,
    /// Overwrites what others have fetched.
    ForcePush,
    /// Loses commits or uncommitted work.
    HistoryRewrite,
    /// Formats, overwrites or removes a disk.
    Disk,
    /// Stops a service or the machine.
    Service,
    /// Destroys resources of a cloud, a cluster or a container engine.
    Infrastructure,
    /// Removes data of a database.
    Database,
    /// Reads credentials.
    Credentials,
    /// Writes files that start programs or hold Windlass's own state.
    ProtectedFiles,
}

impl Guard {
    /// Every guard.
    pub const ALL: [Self; 12] = [
        Self::DeleteOutside,
        Self::WriteOutside,
        Self::BlastRadius,
        Self::Production,
        Self::ForcePush,
        Self::HistoryRewrite,
        Self::Disk,
        Self::Service,
        Self::Infrastructure,
        Self::Database,
        Self::Credentials,
        Self::ProtectedFiles,
    ];

    /// The name that rules use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DeleteOutside => "delete-outside",
            Self::WriteOutside => "write-outside",
            Self::BlastRadius => "blast-radius",
            Self::Production => "production",
            Self::ForcePush => "force-push",
            Self::HistoryRewrite => "history-rewrite",
            Self::Disk => "disk",
            Self::Service => "service",
            Self::Infrastructure => "infrastructure",
            Self::Database => "database",
            Self::Credentials => "credentials",
            Self::ProtectedFiles => "protected-files",
        }
    }

    /// What it says where no rule names it.
    pub(crate) const fn answer(self) -> Answer {
        match self {
            Self::Disk | Self::Credentials | Self::ProtectedFiles => Answer::Deny,
            _ => Answer::Ask,
        }
    }
}

/// Something dangerous in a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind.
    pub guard: Guard,
    /// Which command, by its place in the script; the whole call when absent.
    pub command: Option<usize>,
    /// What exactly, for the question.
    pub what: String,
}

impl Finding {
    pub(crate) fn is_about(&self, command: usize) -> bool {
        self.command.is_none_or(|index| index == command)
    }
}

/// What one command does, as findings.
pub(crate) struct Found {
    findings: Vec<Finding>,
    command: Option<usize>,
}

impl Found {
    pub(crate) fn add(&mut self, guard: Guard, what: impl Into<String>) {
        let finding = Finding {
            guard,
            command: self.command,
            what: what.into(),
        };
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }
}

/// Every danger in a call.
pub(crate) fn find(
    request: &ToolRequest<'_>,
    sites: &[Site<'_>],
    paths: &Paths<'_>,
) -> Vec<Finding> {
    let mut found = Found {
        findings: Vec::new(),
        command: None,
    };
    of_call(request, paths, &mut found);
    for (index, site) in sites.iter().enumerate() {
        found.command = Some(index);
        changes::find(site, request.place, &mut found);
        credentials::find(site, request.place, &mut found);
        git::find(site, &mut found);
        machine::find(site, &mut found);
        if read_only::covers(site, true).is_none() {
            production::find(site, &mut found);
        }
    }
    found.findings
}

/// What the call itself says, without commands.
fn of_call(request: &ToolRequest<'_>, paths: &Paths<'_>, found: &mut Found) {
    let extent = request.extent;
    if extent.files > extent.most_files {
        let what = format!(
            "it changes {} files, more than {}",
            extent.files, extent.most_files
        );
        found.add(Guard::BlastRadius, what);
    }
    if extent.resources > extent.most_resources {
        let what = format!(
            "it changes {} resources, more than {}",
            extent.resources, extent.most_resources
        );
        found.add(Guard::BlastRadius, what);
    }
    for path in request.paths {
        if credentials::is_credential(path, request.place) {
            found.add(Guard::Credentials, format!("{path} holds credentials"));
        }
        let changes = matches!(request.class, ToolClass::Write | ToolClass::Destructive);
        if !changes {
            continue;
        }
        match paths.literal(path) {
            Where::Inside(plain) if is_protected(&plain) => {
                found.add(Guard::ProtectedFiles, format!("{path} may start programs"));
            }
            Where::Outside(plain)
                if changes::is_own(&plain, request.place) || is_protected(&plain) =>
            {
                found.add(Guard::ProtectedFiles, format!("{path} is protected"));
            }
            Where::Inside(_) => {}
            _ => {
                let guard = match request.class {
                    ToolClass::Destructive => Guard::DeleteOutside,
                    _ => Guard::WriteOutside,
                };
                found.add(guard, format!("{path} is outside the work tree"));
            }
        }
    }
    let changes = !request.class.only_reads() && request.class != ToolClass::Network;
    if changes
        && let Some(host) = request
            .hosts
            .iter()
            .find(|host| production::is_production(host))
    {
        found.add(Guard::Production, format!("{host} is a production host"));
    }
}

/// Devices that take everything and keep nothing.
pub(crate) fn is_harmless_device(word: &Word) -> bool {
    word.kind == Kind::Literal
        && matches!(
            word.text.as_str(),
            "/dev/null"
                | "/dev/stdout"
                | "/dev/stderr"
                | "/dev/stdin"
                | "/dev/tty"
                | "/dev/zero"
                | "/dev/fd/0"
                | "/dev/fd/1"
                | "/dev/fd/2"
        )
}
