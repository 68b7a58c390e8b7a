//! New directories, created next to their place with everything in them and moved there at once.
//!
//! A first deploy creates whole trees. Made this way a tree costs one rename instead of one for
//! each file, and half of it is never visible.

use std::{
    ffi::OsString,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use crate::state::{
    exact,
    journal::Journal,
    prepare::changed,
    probe::{FaultProbe, Step, Stop, step},
};

/// Creates the directories of all groves next to their places.
pub(crate) fn plant(
    journal: &Journal,
    groves: &[usize],
    probe: &dyn FaultProbe,
) -> Result<(), Stop> {
    let mut directories = exact::OpenDirectories::default();
    for (directory, grove) in journal.directories.iter().zip(groves) {
        let made = inside(journal, *grove, directory);
        step(probe, Step::CreateDirectory, "create", &made, || {
            match directories.create_dir(&made) {
                // Two roots share it.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
                created => created,
            }
        })?;
    }
    Ok(())
}

/// Where a path inside a grove is while the grove is being made.
pub(crate) fn inside(journal: &Journal, grove: usize, path: &Path) -> PathBuf {
    let mut made = journal.grove_temp(grove).into_os_string().into_vec();
    let place = journal
        .groves
        .get(grove)
        .map_or(0, |place| place.as_os_str().len());
    let rest = path.as_os_str().as_bytes().get(place..);
    made.extend_from_slice(rest.unwrap_or_default());
    PathBuf::from(OsString::from_vec(made))
}

/// Gives every grove its name.
pub(crate) fn move_in(journal: &Journal, probe: &dyn FaultProbe) -> Result<(), Stop> {
    for (index, place) in journal.groves.iter().enumerate() {
        let made = journal.grove_temp(index);
        let moved = step(
            probe,
            Step::Replace,
            "create",
            place,
            || match exact::rename_new(&made, place) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
                moved => moved.map(|()| true),
            },
        )?;
        if !moved {
            return Err(changed(place).into());
        }
    }
    Ok(())
}

/// Removes groves that did not get their name.
pub(crate) fn clear(journal: &Journal, probe: &dyn FaultProbe) -> Result<(), Stop> {
    for index in 0..journal.groves.len() {
        let made = journal.grove_temp(index);
        step(probe, Step::DropTemp, "remove", &made, || {
            exact::remove_tree(&made)
        })?;
    }
    Ok(())
}
