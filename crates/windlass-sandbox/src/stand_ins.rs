//! What takes the place of protected paths that do not exist, while a program is confined.
//!
//! A mount needs something to be mounted on, so an empty folder or a neutral file is created outside
//! and removed afterwards. Several sandboxes may need the same one: each holds a shared lock, and
//! whichever can lock it alone removes it. One that a killed supervisor left is recognised by its
//! mode, used by the next and removed then.

use std::{
    fs::File,
    io::{self, Read as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FlockOperation, Mode, OFlags, flock, mkdirat, open, openat, statat, unlinkat},
    io::Errno,
};
use windlass_ports::sandbox::{Protected, StandIn};

/// The sticky bit marks what is ours: nothing else sets it without write permission.
const FOLDER: u32 = 0o1555;
const FILE: u32 = 0o1444;

/// Whether a folder is a stand-in.
pub fn is_folder_of_ours(path: &Path) -> bool {
    fs_err::symlink_metadata(path)
        .is_ok_and(|found| found.is_dir() && found.mode() & 0o7777 == FOLDER)
}

/// The stand-ins of one sandbox. Removed when dropped.
pub struct StandIns(Vec<Held>);

struct Held {
    above: File,
    name: std::ffi::OsString,
    file: File,
    is_folder: bool,
    text: String,
}

impl StandIns {
    /// Creates what is missing. Where this user may create nothing, neither may the program.
    pub fn create(protected: &[Protected]) -> io::Result<Self> {
        let mut held = Vec::new();
        for entry in protected {
            if let Some(stand_in) = hold(entry)
                .map_err(|error| io::Error::other(format!("{}: {error}", entry.path.display())))?
            {
                held.push(stand_in);
            }
        }
        Ok(Self(held))
    }
}

impl Drop for StandIns {
    fn drop(&mut self) {
        for stand_in in self.0.drain(..).rev() {
            // What cannot be removed now is removed by the next sandbox here.
            let _ = stand_in.release();
        }
    }
}

fn hold(entry: &Protected) -> io::Result<Option<Held>> {
    let (Some(above), Some(name)) = (entry.path.parent(), entry.path.file_name()) else {
        return Ok(None);
    };
    let folder = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let above = match open(above, folder, Mode::empty()) {
        Ok(above) => File::from(above),
        Err(Errno::ACCESS | Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let (is_folder, text) = match &entry.stand_in {
        StandIn::Folder => (true, String::new()),
        StandIn::File(text) => (false, text.clone()),
    };
    // Another sandbox may remove its stand-in between any two of these steps.
    for _ in 0..100 {
        let created = match is_folder {
            true => mkdirat(&above, name, Mode::from_raw_mode(FOLDER)),
            false => create_file(&above, name, &text),
        };
        match created {
            Ok(()) | Err(Errno::EXIST) => {}
            // Nobody with these rights can create it.
            Err(Errno::ACCESS | Errno::ROFS | Errno::PERM) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match openat(&above, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => continue,
            // It exists and is not ours; it is protected as it is.
            Err(_) => return Ok(None),
        };
        if is_folder && created.is_ok() {
            // The mask of this process may have taken bits away.
            rustix::fs::fchmod(&file, Mode::from_raw_mode(FOLDER))?;
        }
        let stand_in = Held {
            above: above.try_clone()?,
            name: name.to_owned(),
            file,
            is_folder,
            text: text.clone(),
        };
        if !stand_in.is_ours()? {
            return Ok(None);
        }
        flock(&stand_in.file, FlockOperation::LockShared)?;
        if stand_in.is_in_place() {
            return Ok(Some(stand_in));
        }
    }
    Err(io::Error::other("it is created and removed all the time"))
}

/// A file is written before it gets its name, so that no other sandbox sees it unfinished.
fn create_file(above: &File, name: &std::ffi::OsStr, text: &str) -> Result<(), Errno> {
    if statat(above, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
        return Err(Errno::EXIST);
    }
    let mut passed = name.to_owned();
    passed.push(format!(".{}.new", std::process::id()));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(above, &passed, flags, Mode::from_raw_mode(FILE))?;
    let written = rustix::io::write(&file, text.as_bytes())
        .and_then(|_| rustix::fs::fchmod(&file, Mode::from_raw_mode(FILE)))
        .and_then(|()| rustix::fs::linkat(above, &passed, above, name, AtFlags::empty()));
    unlinkat(above, &passed, AtFlags::empty())?;
    written
}

impl Held {
    /// Whether it is a stand-in, and not something that was there before.
    fn is_ours(&self) -> io::Result<bool> {
        let found = self.file.metadata()?;
        let wanted = if self.is_folder { FOLDER } else { FILE };
        if found.is_dir() != self.is_folder || found.mode() & 0o7777 != wanted {
            return Ok(false);
        }
        if self.is_folder {
            return Ok(rustix::fs::Dir::read_from(&self.file)?
                .filter_map(Result::ok)
                .all(|entry| matches!(entry.file_name().to_bytes(), b"." | b"..")));
        }
        let mut text = String::new();
        let limit = self.text.len() as u64 + 1;
        // Another reader of the same file has a place of its own.
        let read = (&self.file).take(limit).read_to_string(&mut text);
        Ok(read.is_ok() && text == self.text)
    }

    /// Whether the path still leads to what was locked.
    fn is_in_place(&self) -> bool {
        let found = statat(&self.above, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let own = rustix::fs::fstat(&self.file);
        matches!((found, own), (Ok(found), Ok(own)) if found.st_ino == own.st_ino && found.st_dev == own.st_dev)
    }

    fn release(self) -> io::Result<()> {
        // Removing it would take it out of the sandboxes of others, so only the last one does.
        if flock(&self.file, FlockOperation::NonBlockingLockExclusive).is_err()
            || !self.is_in_place()
        {
            return Ok(());
        }
        let flags = if self.is_folder {
            AtFlags::REMOVEDIR
        } else {
            AtFlags::empty()
        };
        Ok(unlinkat(&self.above, &self.name, flags)?)
    }
}

/// The paths, for messages.
impl std::fmt::Debug for StandIns {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.0.iter().map(|held| PathBuf::from(&held.name));
        formatter.debug_list().entries(names).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protected(folder: &Path) -> Vec<Protected> {
        vec![
            Protected::new(folder.join("hooks"), StandIn::Folder),
            Protected::new(folder.join("commondir"), StandIn::File(".\n".to_owned())),
            Protected::new(folder.join("config"), StandIn::File(String::new())),
        ]
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs_err::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_last_sandbox_removes_them() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("config"), "[core]").unwrap();
        let first = StandIns::create(&protected(folder.path())).unwrap();
        let all = ["commondir", "config", "hooks"];
        assert_eq!(names(folder.path()), all);
        let second = StandIns::create(&protected(folder.path())).unwrap();
        drop(first);
        assert_eq!(names(folder.path()), all, "the second one needs them");
        drop(second);
        assert_eq!(names(folder.path()), ["config"]);
    }

    #[test]
    fn what_a_killed_supervisor_left_is_removed_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let left = StandIns::create(&protected(folder.path())).unwrap();
        for mut held in std::mem::ManuallyDrop::new(left).0.drain(..) {
            // Its locks end with it.
            held.file = File::open("/dev/null").unwrap();
            std::mem::forget(held.above);
        }
        assert_eq!(names(folder.path()), ["commondir", "config", "hooks"]);
        drop(StandIns::create(&protected(folder.path())).unwrap());
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn what_was_there_before_stays() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("hooks")).unwrap();
        fs_err::write(folder.path().join("commondir"), ".\n").unwrap();
        drop(StandIns::create(&protected(folder.path())[..2]).unwrap());
        assert_eq!(names(folder.path()), ["commondir", "hooks"]);
    }
}
