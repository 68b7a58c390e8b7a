//! Whether a root is there and can be written to. Asks the system; writes nothing to find out.

use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, accessat};
use serde::Serialize;
use windlass_pack_model::{
    Target, TargetRoot, fault,
    next_actions::{Action, NextAction, shell_quote},
};

use crate::authored::shown;

/// What is to be said about a root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RootCheck {
    /// The target.
    pub target: Target,
    /// The directory.
    pub root: String,
    /// The same with `/`.
    pub root_posix: String,
    /// Whether something is there.
    pub exists: bool,
    /// Whether files can be made in it.
    pub writable: bool,
    /// Whether extra files are reported.
    pub scan_extras: bool,
    /// What is wrong: `missing`, `not_a_directory`, `not_writable`.
    pub issues: Vec<&'static str>,
    /// What to do about it.
    pub suggestion: Option<String>,
}

/// Looks at a root; the command that helps, if one does.
pub(super) fn check(root: &TargetRoot) -> (RootCheck, Option<NextAction>) {
    let path = &root.path;
    // Follows links: a root may be one.
    let metadata = std::fs::metadata(path).ok();
    let exists = metadata.is_some();
    let is_dir = metadata.is_some_and(|metadata| metadata.is_dir());
    let writable = is_dir && can_write(path);
    let mut issues = Vec::new();
    let mut suggestion = None;
    let mut action = None;
    if !exists {
        issues.push("missing");
        let command = format!("mkdir -p {}", shell_quote(&shown(path)));
        suggestion = Some(format!("create directory: {command}"));
        action = Some(NextAction {
            action: Action::Other,
            command,
        });
    } else if !is_dir {
        issues.push("not_a_directory");
        suggestion = Some("a file is in the way; move it away".to_owned());
    } else if !writable {
        issues.push("not_writable");
        suggestion = Some("fix permissions (directory not writable)".to_owned());
    }
    let check = RootCheck {
        target: root.target,
        root: shown(path),
        root_posix: fault::posix(path),
        exists,
        writable,
        scan_extras: root.scan_extras,
        issues,
        suggestion,
    };
    (check, action)
}

/// Whether files can be made in a directory.
fn can_write(directory: &Path) -> bool {
    let wanted = Access::WRITE_OK | Access::EXEC_OK;
    accessat(CWD, directory, wanted, AtFlags::EACCESS).is_ok()
}
