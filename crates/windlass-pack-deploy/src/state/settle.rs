//! What is left to do once a transaction holds: remove directories that became empty, remember
//! roots and directories, drop the journal. Doing it twice is the same as doing it once.

use std::{borrow::Cow, collections::BTreeSet, path::Path};

use crate::state::{
    exact::remove_empty_dir,
    files::remove_if_there,
    journal::Journal,
    pack_state::PackState,
    probe::{FaultProbe, Step, Stop, step},
};

/// Settles a transaction that holds.
pub(crate) fn settle(
    state: &PackState,
    journal: &Journal,
    path: &Path,
    probe: &dyn FaultProbe,
) -> Result<(), Stop> {
    let removals = journal.entries.iter().any(|entry| entry.is_removal());
    let remembers = !journal.directories.is_empty()
        || !journal.late_directories.is_empty()
        || !journal.remember_roots.is_empty()
        || !journal.forget_roots.is_empty();
    if removals || remembers {
        remember(state, journal, probe)?;
    }
    drop_journal(path, probe)
}

/// Removes the journal.
pub(crate) fn drop_journal(path: &Path, probe: &dyn FaultProbe) -> Result<(), Stop> {
    step(probe, Step::DropJournal, "remove", path, || {
        remove_if_there(path)
    })
}

fn remember(state: &PackState, journal: &Journal, probe: &dyn FaultProbe) -> Result<(), Stop> {
    state.update_remembered(probe, |remembered| {
        for gone in &journal.replaced_directories {
            remembered.directories.remove(text(gone).as_ref());
        }
        let made = journal.directories.iter().chain(&journal.late_directories);
        let made = made.map(|directory| text(directory).into_owned());
        remembered.directories.extend(made);
        remove_emptied(journal, &mut remembered.directories, probe)?;
        remembered.add_roots(&journal.remember_roots);
        remembered.drop_roots(&journal.forget_roots);
        Ok(())
    })
}

/// Removes the directories that the removals left empty, upwards as long as pack made them.
fn remove_emptied(
    journal: &Journal,
    ours: &mut BTreeSet<String>,
    probe: &dyn FaultProbe,
) -> Result<(), Stop> {
    let parents: BTreeSet<&Path> = journal
        .entries
        .iter()
        .filter(|entry| entry.is_removal())
        .filter_map(|entry| match entry.link {
            Some(_) => entry.path.parent(),
            None => entry.real().parent(),
        })
        .collect();
    // Innermost first, so that a parent is tried again when its last child is gone.
    for parent in parents.into_iter().rev() {
        let mut next = Some(parent);
        while let Some(directory) = next.filter(|path| ours.contains(text(path).as_ref())) {
            let gone = step(probe, Step::RemoveDirectory, "remove", directory, || {
                remove_empty_dir(directory)
            })?;
            if !gone {
                break;
            }
            ours.remove(text(directory).as_ref());
            next = directory.parent();
        }
    }
    Ok(())
}

/// A path as it is remembered. The journal holds only paths that are text.
fn text(path: &Path) -> Cow<'_, str> {
    path.to_string_lossy()
}
