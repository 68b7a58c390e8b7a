//! `remove`: a file or a directory, with a copy of everything for undo.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::fs::FileType;
use serde::Deserialize;
use serde_json::Value;
use windlass_files::{Directory, FileError};
use windlass_ports::{BoxFuture, ToolSpec};

use crate::{
    Code, Context, Failure, FileChange, FileState, Look, Outcome, Places, Ran, Tool,
    arguments::read,
    files::{self, MOST_BYTES},
    schema::{filled, flag, login, spec},
    view::remote,
};

/// More than this is not removed here: a copy of it would have to be kept.
const MOST_ENTRIES: usize = 10_000;
const MOST_TOTAL: u64 = 256 << 20;
const DEEPEST: usize = 128;

pub(crate) struct Remove(ToolSpec);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    #[serde(default)]
    recursive: bool,
    password: Option<String>,
    private_key_path: Option<String>,
}

impl Default for Remove {
    fn default() -> Self {
        let mut fields = vec![
            ("path!", filled("Path of the file or directory.")),
            (
                "recursive",
                flag("Remove a directory with everything in it. Needed for one that is not empty."),
            ),
        ];
        fields.extend(login());
        Self(spec(
            "remove",
            "Remove a file or directory inside the work tree. A copy is kept, so it can be undone. \
             A symbolic link is removed itself; what it leads to stays.",
            &fields,
        ))
    }
}

impl Tool for Remove {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn look(&self, input: &Value, places: &Places) -> Result<Look, Failure> {
        let input = checked(input)?;
        let mut look = Look::at_file(&input.path, places)?;
        // Names only; what cannot be listed fails when it runs.
        let listed = list(places, &input);
        look.files = listed.map_or(1, |listed| {
            let files = listed
                .entries
                .iter()
                .filter(|entry| entry.kind != FileType::Directory);
            files.count() as u64
        });
        Ok(look)
    }

    fn run<'a>(&'a self, input: Value, context: &'a Context) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let mut changes = Vec::new();
            let result = remove(input, context, &mut changes).await;
            let mut outcome = Outcome::from(result);
            outcome.changes = changes;
            Ran::Done(outcome)
        })
    }
}

/// The arguments, of a path of this machine.
fn checked(input: &Value) -> Result<Input, Failure> {
    let input: Input = read(input)?;
    remote::refuse(&input.path, &input.password, &input.private_key_path)?;
    Ok(input)
}

struct Entry {
    /// The path below the directory that has what is removed.
    below: PathBuf,
    kind: FileType,
}

struct Listed {
    parent: Directory,
    absolute: PathBuf,
    /// A directory before what is in it.
    entries: Vec<Entry>,
}

fn list(places: &Places, input: &Input) -> Result<Listed, Failure> {
    let located = places.locate_to_write(&input.path)?;
    let shown = located.absolute.display();
    let held = located.hold(false)?;
    let failed = |error| Failure::of_file(error, Code::ReadError);
    let kind = held.parent.kind(&held.name).map_err(failed)?;
    let kind =
        kind.ok_or_else(|| Failure::new(Code::PathNotFound, format!("{shown} does not exist.")))?;
    let mut entries = vec![Entry {
        below: held.name.clone(),
        kind,
    }];
    if kind == FileType::Directory {
        let open = held.parent.directory(&held.name).map_err(failed)?;
        let is_empty = open.names().map_err(failed)?.is_empty();
        if !is_empty && !input.recursive {
            return Err(Failure::new(
                Code::WriteError,
                format!("{shown} is a directory that is not empty. Set recursive to remove it."),
            ));
        }
        below(&open, &held.name, DEEPEST, &mut entries)?;
    }
    let root = located
        .below()
        .map_or(Path::new("/"), |(root, _)| root.path());
    let above = held.absolute.parent().unwrap_or(Path::new("/"));
    for entry in &entries {
        let path = above.join(&entry.below);
        let inside = path.strip_prefix(root).unwrap_or(&path);
        if let Some(why) = places.protected(root, inside) {
            return Err(Failure::new(
                Code::InvalidPath,
                format!("{} is not removed. {why}", path.display()),
            ));
        }
    }
    Ok(Listed {
        parent: held.parent,
        absolute: held.absolute,
        entries,
    })
}

fn below(
    open: &Directory,
    path: &Path,
    deeper: usize,
    entries: &mut Vec<Entry>,
) -> Result<(), Failure> {
    let failed = |error: FileError| Failure::of_file(error, Code::ReadError);
    let mut names = open.names().map_err(failed)?;
    names.sort();
    for name in names {
        if entries.len() >= MOST_ENTRIES || deeper == 0 {
            return Err(too_much());
        }
        let Some(kind) = open.kind(Path::new(&name)).map_err(failed)? else {
            continue;
        };
        let below_it = path.join(&name);
        entries.push(Entry {
            below: below_it.clone(),
            kind,
        });
        if kind == FileType::Directory {
            let next = open.directory(Path::new(&name)).map_err(failed)?;
            below(&next, &below_it, deeper - 1, entries)?;
        }
    }
    Ok(())
}

fn too_much() -> Failure {
    Failure::new(
        Code::BackupError,
        format!(
            "There is more than can be kept for undo ({MOST_ENTRIES} entries, {} MiB). Nothing was \
             removed. Use a command instead.",
            MOST_TOTAL >> 20
        ),
    )
}

async fn remove(
    input: Value,
    context: &Context,
    changes: &mut Vec<FileChange>,
) -> Result<Outcome, Failure> {
    let input = checked(&input)?;
    let places = context.places.clone();
    let listed = Arc::new(files::blocking(move || list(&places, &input)).await?);
    let mut states = Vec::with_capacity(listed.entries.len());
    let mut total = 0;
    for index in 0..listed.entries.len() {
        let same = listed.clone();
        let (state, bytes) = files::blocking(move || same.state(index)).await?;
        if let Some(bytes) = bytes {
            total += bytes.len() as u64;
            if total > MOST_TOTAL {
                return Err(too_much());
            }
            let copy = context.blobs.put(bytes).await;
            copy.map_err(|error| Failure::new(Code::BackupError, error.to_string()))?;
        }
        states.push(state);
    }
    // From here on, what was removed is told even if the rest fails. A directory goes after what is
    // in it, and only what was listed goes: one that has new entries stays.
    for (index, state) in states.into_iter().enumerate().rev() {
        let same = listed.clone();
        changes.push(files::blocking(move || same.take(index, state)).await?);
    }
    let shown = listed.absolute.display();
    Ok(Outcome::text(match listed.entries.len() {
        1 => format!("Removed {shown}. It can be undone."),
        count => format!(
            "Removed {shown} with {} entries. It can be undone.",
            count - 1
        ),
    }))
}

impl Listed {
    fn path(&self, below: &Path) -> PathBuf {
        let above = self.absolute.parent().unwrap_or(Path::new("/"));
        above.join(below)
    }

    /// What an entry is, and the content of a file.
    fn state(&self, index: usize) -> Result<(FileState, Option<Vec<u8>>), Failure> {
        let Some(Entry { below, kind }) = self.entries.get(index) else {
            return Ok((FileState::Absent, None));
        };
        let path = self.path(below);
        let kept = |why: String| {
            Failure::new(
                Code::BackupError,
                format!("{}: {why}. Nothing was removed.", path.display()),
            )
        };
        if below.to_str().is_none() {
            return Err(kept("its name is not UTF-8".to_owned()));
        }
        match kind {
            FileType::RegularFile => {
                let content = files::read(&self.parent, below, MOST_BYTES)
                    .map_err(|error| Failure::of_file(error, Code::BackupError))?
                    .ok_or_else(|| kept("it is gone".to_owned()))?;
                Ok((content.state(), Some(content.bytes)))
            }
            FileType::Directory => {
                let open = self.parent.directory(below);
                let open = open.map_err(|error| Failure::of_file(error, Code::BackupError))?;
                let mode = files::mode_of(&open).map_err(|error| kept(error.to_string()))?;
                Ok((FileState::Directory { mode }, None))
            }
            FileType::Symlink => {
                let above = below.parent().filter(|above| !above.as_os_str().is_empty());
                let parent = self.parent.directory(above.unwrap_or(Path::new(".")));
                let parent = parent.map_err(|error| Failure::of_file(error, Code::BackupError))?;
                let name = Path::new(below.file_name().unwrap_or_default());
                let target = files::link_text(&parent, name);
                let target = target.map_err(|error| kept(error.to_string()))?;
                let target = target.ok_or_else(|| kept("its target is not UTF-8".to_owned()))?;
                Ok((FileState::Link { target }, None))
            }
            _ => Err(kept("no copy can be kept of what it is".to_owned())),
        }
    }

    /// Removes an entry that is still what was kept.
    fn take(&self, index: usize, state: FileState) -> Result<FileChange, Failure> {
        let failed = |error| Failure::of_file(error, Code::WriteError);
        let Some(Entry { below, .. }) = self.entries.get(index) else {
            return Err(Failure::new(Code::WriteError, "The list is too short."));
        };
        let path = self.path(below).display().to_string();
        let is_there = match &state {
            FileState::Directory { .. } => self.parent.remove_directory(below),
            FileState::File { .. } => {
                let (now, _) = self.state(index)?;
                if now != state {
                    let message = format!("{path} was changed in the meantime, so it stays.");
                    return Err(Failure::new(Code::WriteError, message));
                }
                self.parent.remove_file(below)
            }
            _ => self.parent.remove_file(below),
        };
        if !is_there.map_err(failed)? {
            let message = format!("{path} was removed by another program.");
            return Err(Failure::new(Code::WriteError, message));
        }
        Ok(FileChange {
            path,
            before: state,
            after: FileState::Absent,
        })
    }
}

#[cfg(test)]
#[path = "remove_tests.rs"]
mod tests;
