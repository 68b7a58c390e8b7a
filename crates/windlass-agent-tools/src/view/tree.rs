//! A directory, listed and walked.

use std::{
    fmt::Write as _,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use rustix::fs::FileType;
use windlass_files::Directory;

use super::{MOST_TEXT, ignored::Rules};
use crate::{Code, Failure, Outcome};

/// More entries of one listing help no one.
const MOST_ENTRIES: usize = 1_000;
/// Deeper directories are not searched.
const DEEPEST: usize = 64;
/// More entries are not looked at by one search.
const MOST_WALKED: usize = 200_000;

/// A directory that is open, with what is left out in it.
pub(super) struct Place<'a> {
    pub open: &'a Directory,
    pub path: &'a Path,
    pub rules: Rules,
    pub is_cancelled: &'a dyn Fn() -> bool,
}

/// Something in a directory.
pub(super) struct Entry<'a> {
    /// The open directory that has it.
    pub parent: &'a Directory,
    pub name: &'a Path,
    /// Its path below the directory that is walked.
    pub below: &'a Path,
    pub kind: FileType,
    pub depth: usize,
}

pub(super) fn list(place: &Place<'_>, depth: usize) -> Result<Outcome, Failure> {
    let mut told = String::new();
    let mut count = 0;
    let is_whole = walk(place, depth, &mut |entry| {
        if count >= MOST_ENTRIES || told.len() >= MOST_TEXT {
            return ControlFlow::Break(());
        }
        count += 1;
        let name = entry.name.to_string_lossy();
        let end = match entry.kind {
            FileType::Directory => "/",
            FileType::Symlink => "@",
            _ => "",
        };
        let indent = "  ".repeat(entry.depth);
        let _ = writeln!(told, "{indent}{}{end}", windlass_text::visible(&name));
        ControlFlow::Continue(())
    })?;
    if !is_whole {
        told.push_str("[more entries are left out; view a directory below]\n");
    }
    if count == 0 {
        told.push_str("[nothing but what .gitignore leaves out]\n");
    }
    Ok(Outcome::text(format!("{}/\n{told}", place.path.display())))
}

/// Calls `each` with everything down to a depth, by name, directories before what is in them. Returns
/// whether all was seen.
pub(super) fn walk(
    place: &Place<'_>,
    depth: usize,
    each: &mut dyn FnMut(&Entry<'_>) -> ControlFlow<()>,
) -> Result<bool, Failure> {
    let mut walk = Walk {
        path: place.path,
        left: MOST_WALKED,
        depth: depth.min(DEEPEST),
        is_cancelled: place.is_cancelled,
        each,
    };
    let flow = walk.enter(place.open, Path::new(""), &place.rules, 0)?;
    Ok(flow.is_continue())
}

struct Walk<'a> {
    path: &'a Path,
    left: usize,
    depth: usize,
    is_cancelled: &'a dyn Fn() -> bool,
    each: &'a mut dyn FnMut(&Entry<'_>) -> ControlFlow<()>,
}

impl Walk<'_> {
    fn enter(
        &mut self,
        open: &Directory,
        below: &Path,
        rules: &Rules,
        depth: usize,
    ) -> Result<ControlFlow<()>, Failure> {
        let failed = |error| Failure::of_file(error, Code::ReadError);
        let mut names = open.names().map_err(failed)?;
        names.sort();
        for name in names {
            if self.left == 0 || (self.is_cancelled)() {
                return Ok(ControlFlow::Break(()));
            }
            self.left -= 1;
            let name = PathBuf::from(name);
            // What is gone by now was not there.
            let Ok(Some(kind)) = open.kind(&name) else {
                continue;
            };
            let path = below.join(&name);
            let is_directory = kind == FileType::Directory;
            if rules.hide(&self.path.join(&path), is_directory) {
                continue;
            }
            let entry = Entry {
                parent: open,
                name: &name,
                below: &path,
                kind,
                depth,
            };
            if (self.each)(&entry).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if is_directory && depth + 1 < self.depth {
                // One that may not be read, or was swapped for a link, is listed and not entered.
                let Ok(next) = open.directory(&name) else {
                    continue;
                };
                let mut inner = rules.clone();
                inner.enter(&next, &self.path.join(&path));
                match self.enter(&next, &path, &inner, depth + 1) {
                    Ok(ControlFlow::Continue(())) | Err(_) => {}
                    Ok(flow) => return Ok(flow),
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

pub(super) const ALL: usize = DEEPEST;
