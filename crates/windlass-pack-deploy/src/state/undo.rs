//! Taking a transaction back: what it changed is brought to its before, what others changed
//! since is left alone. Doing it twice is the same as doing it once.

use std::{io, path::Path};

use windlass_pack_model::fault;

use crate::state::{
    commit::own_path,
    exact::{self, OpenDirectories, create_dirs, remove_empty_dir, remove_if_there, rename_new},
    files, grove,
    journal::{Entry, FileState, Journal},
    observe::{Standing, standing},
    pack_state::PackState,
    probe::{FaultProbe, Step, Stop, step},
    stage::{StagedMode, stage},
};

/// Takes a transaction back. The warnings name what was left alone.
pub(crate) fn undo(
    state: &PackState,
    journal: &Journal,
    probe: &dyn FaultProbe,
) -> Result<Vec<String>, Stop> {
    let mut undo = Undo {
        state,
        journal,
        probe,
        directories: OpenDirectories::default(),
        buffer: Vec::new(),
        warnings: Vec::new(),
    };
    undo.written_files()?;
    undo.temps()?;
    grove::clear(journal, probe)?;
    undo.directories()?;
    undo.replaced_directories()?;
    undo.removed_files()?;
    let temp = journal.snapshot_temp(state);
    step(probe, Step::DropTemp, "remove", &temp, || {
        files::remove_if_there(&temp)
    })?;
    Ok(undo.warnings)
}

struct Undo<'a> {
    state: &'a PackState,
    journal: &'a Journal,
    probe: &'a dyn FaultProbe,
    directories: OpenDirectories,
    buffer: Vec<u8>,
    warnings: Vec<String>,
}

impl<'a> Undo<'a> {
    /// Created files go, updated ones get their old content; last written first.
    fn written_files(&mut self) -> Result<(), Stop> {
        for (index, entry) in self.journal.entries.iter().enumerate().rev() {
            let Some(after) = &entry.after else { continue };
            if entry.before.is_some_and(|before| before.same(after))
                || !self.is_ours_to_undo(entry)?
            {
                continue;
            }
            match entry.before {
                Some(before) => self.restore(index, entry, before)?,
                None => {
                    let real = entry.real();
                    step(self.probe, Step::Remove, "remove", real, || {
                        remove_if_there(real)
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Removed files come back, after created directories of the same name are gone.
    fn removed_files(&mut self) -> Result<(), Stop> {
        for (index, entry) in self.journal.entries.iter().enumerate().rev() {
            let (true, Some(before)) = (entry.is_removal(), entry.before) else {
                continue;
            };
            if !self.is_ours_to_undo(entry)? {
                continue;
            }
            let place = match &entry.link {
                Some(_) => own_path(&entry.path),
                None => Ok(entry.real().to_owned()),
            };
            let place = place.map_err(|error| fault::io("find", &entry.path, &error))?;
            if let Some(parent) = place.parent() {
                create_dirs(parent).map_err(|error| fault::io("create", parent, &error))?;
            }
            match &entry.link {
                Some(text) => step(self.probe, Step::Replace, "write", &entry.path, || {
                    exact::link(text, &place)
                })?,
                None => self.restore(index, entry, before)?,
            }
        }
        Ok(())
    }

    /// Whether a destination is as the transaction left it. Another writer's edit is reported.
    fn is_ours_to_undo(&mut self, entry: &Entry) -> Result<bool, Stop> {
        match standing(entry, &mut self.buffer) {
            Ok(Standing::After) => Ok(true),
            Ok(Standing::Before) => Ok(false),
            Ok(Standing::Foreign) => {
                self.warnings.push(format!(
                    "{} was changed by another process in the meantime and is left as it is",
                    entry.path.display()
                ));
                Ok(false)
            }
            Err(error) => Err(fault::io("read", &entry.path, &error).into()),
        }
    }

    fn restore(&mut self, index: usize, entry: &Entry, before: FileState) -> Result<(), Stop> {
        let bytes = match self.state.blobs().get(&before.sha256) {
            Ok(Some(bytes)) => bytes,
            // Stopping would leave the rest in place as well, permanently.
            Ok(None) | Err(_) => {
                self.warnings.push(format!(
                    "{} cannot be restored: its earlier content {} is missing or damaged in the store",
                    entry.path.display(),
                    before.sha256
                ));
                return Ok(());
            }
        };
        let temp = self.journal.temp(index);
        let mode = StagedMode::Exact(before.mode);
        let fsync = self.journal.fsync;
        stage(
            &temp,
            &bytes,
            mode,
            fsync,
            &mut self.directories,
            self.probe,
        )?;
        let real = entry.real();
        let is_removal = entry.is_removal();
        let back = step(self.probe, Step::Replace, "write", real, || {
            put_back(&temp, real, is_removal)
        })?;
        if !back {
            self.warnings.push(format!(
                "{} was created by another process in the meantime and is left as it is",
                entry.path.display()
            ));
        }
        Ok(())
    }

    fn temps(&mut self) -> Result<(), Stop> {
        for index in 0..self.journal.entries.len() {
            let temp = self.journal.temp(index);
            step(self.probe, Step::DropTemp, "remove", &temp, || {
                remove_if_there(&temp)
            })?;
        }
        Ok(())
    }

    /// Directories that gave way to a file come back, outermost first.
    fn replaced_directories(&mut self) -> Result<(), Stop> {
        for directory in self.journal.replaced_directories.iter().rev() {
            if std::fs::symlink_metadata(directory).is_ok() {
                continue;
            }
            step(
                self.probe,
                Step::CreateDirectory,
                "create",
                directory,
                || create_dirs(directory),
            )?;
        }
        Ok(())
    }

    /// Directories made for the transaction go if they are empty, innermost first.
    fn directories(&mut self) -> Result<(), Stop> {
        let made = self.journal.directories.iter();
        for directory in made.chain(&self.journal.late_directories).rev() {
            step(
                self.probe,
                Step::RemoveDirectory,
                "remove",
                directory,
                || remove_empty_dir(directory),
            )?;
        }
        Ok(())
    }
}

fn put_back(temp: &Path, real: &Path, must_be_new: bool) -> io::Result<bool> {
    if !must_be_new {
        return exact::rename(temp, real).map(|()| true);
    }
    match rename_new(temp, real) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            remove_if_there(temp)?;
            Ok(false)
        }
        moved => moved.map(|()| true),
    }
}
