//! Refuses two contents for one file: wanted by two targets, or behind a symbolic link.

use std::{
    collections::HashMap,
    path::{Component, Path},
};

use windlass_pack_model::{Desired, DesiredFile, fault};
use windlass_types::Problem;

use crate::{
    change::shown,
    disk::{Disk, OnDisk},
};

/// Two targets may want one path, but only with the same bytes.
pub(crate) fn one_content(existing: &DesiredFile, new: &DesiredFile) -> Result<(), Problem> {
    if existing.digest == new.digest {
        return Ok(());
    }
    let side = |file: &DesiredFile| {
        serde_json::json!({
            "sha256": file.digest.to_string(),
            "module_ids": file.module_ids,
        })
    };
    Err(fault::desired_state_conflict(format!(
        "{} and {} want different contents at {}; let only one of them write it",
        existing.target,
        new.target,
        new.path.display()
    ))
    .with("target", new.target.as_str())
    .with("path", shown(&new.path))
    .with("existing", side(existing))
    .with("new", side(new)))
}

/// A path may be a link to another that is written, but only for the same bytes: otherwise one
/// would be written over the other. Often `CLAUDE.md` is a link to `AGENTS.md`.
pub(crate) fn one_content_behind_links(
    desired: &Desired,
    contents: &HashMap<&Path, &DesiredFile>,
    disk: &Disk,
) -> Result<(), Problem> {
    for file in &desired.files {
        let path = file.path.as_path();
        let OnDisk::Symlink { to, .. } = disk.at(path) else {
            continue;
        };
        let mut leads_to = path.parent().map(Path::to_owned).unwrap_or_default();
        for part in to.components() {
            match part {
                Component::ParentDir => drop(leads_to.pop()),
                Component::CurDir => {}
                part => leads_to.push(part),
            }
        }
        let Some(other) = contents.get(leads_to.as_path()) else {
            continue;
        };
        if other.digest != file.digest {
            return Err(fault::desired_state_conflict(format!(
                "{} is a symbolic link to {}, and both are written with different contents; remove the link, or switch off one of them",
                path.display(),
                leads_to.display()
            ))
            .with("target", file.target.as_str())
            .with("path", shown(path))
            .with("link_target", shown(&leads_to)));
        }
    }
    Ok(())
}
