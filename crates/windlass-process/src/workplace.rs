//! A new directory for one piece of work, and an end to what earlier work left behind.
//!
//! Work that was killed may leave its directory and, for a moment or because its guard was killed
//! too, its processes. The directory says which group works there, and is locked for as long as
//! its owner lives; the next piece of work below the same folder ends and removes what has no
//! owner any more.

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use crate::{Running, guard};

/// The lock of the owner, and in it the groups that work in the directory.
const OWNER: &str = ".owner";

/// A directory of one piece of work, removed with it.
#[derive(Debug)]
pub struct Workplace {
    root: TempDir,
    owner: File,
}

impl Workplace {
    /// A new one, after those of the same prefix that have no owner any more were removed.
    pub fn below(folder: &Path, prefix: &str) -> io::Result<Self> {
        fs_err::create_dir_all(folder)?;
        // Paths are compared, so none may be spelled through a link.
        let folder = fs_err::canonicalize(folder)?;
        sweep(&folder, prefix)?;
        let root = tempfile::Builder::new().prefix(prefix).tempdir_in(folder)?;
        let owner = File::create_new(root.path().join(OWNER))?;
        owner.lock()?;
        Ok(Self { root, owner })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// Notes that a process and its group work here. From now on they end with this program.
    pub fn note(&self, process: &Running) -> io::Result<()> {
        guard::watch(process.pid());
        writeln!(&self.owner, "{}", process.pid().as_raw_nonzero())
    }
}

/// Ends and removes what has no owner any more.
fn sweep(folder: &Path, prefix: &str) -> io::Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(prefix) || !entry.file_type()?.is_dir()
        {
            continue;
        }
        let place = entry.path();
        // One without the file is being made at this moment, or being removed.
        let Ok(owner) = File::options()
            .read(true)
            .write(true)
            .open(place.join(OWNER))
        else {
            continue;
        };
        if owner.try_lock().is_err() {
            continue;
        }
        let groups = fs_err::read_to_string(place.join(OWNER)).unwrap_or_default();
        let groups = groups.lines().filter_map(|line| line.parse().ok());
        for group in groups.filter_map(Pid::from_raw) {
            if works_in(group, &place) {
                // Fails only when it ended just now.
                let _ = kill_process_group(group, Signal::KILL);
            }
        }
        // What cannot be removed now is tried again by the next.
        let _ = fs_err::remove_dir_all(&place);
    }
    Ok(())
}

/// Whether a process of a group works below a directory: an id alone may belong to others by now.
#[cfg(target_os = "linux")]
fn works_in(group: Pid, place: &Path) -> bool {
    let Ok(processes) = fs_err::read_dir("/proc") else {
        return false;
    };
    let of_group = |folder: &PathBuf| {
        let stat = fs_err::read_to_string(folder.join("stat")).ok()?;
        // The name before it may hold anything; it ends with the last bracket.
        let rest = stat.rsplit_once(')')?.1;
        let found: i32 = rest.split_whitespace().nth(2)?.parse().ok()?;
        (found == group.as_raw_nonzero().get()).then_some(())
    };
    processes
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|folder| {
            let name = folder.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        })
        .filter(|folder| of_group(folder).is_some())
        .any(|folder| fs_err::read_link(folder.join("cwd")).is_ok_and(|cwd| cwd.starts_with(place)))
}

/// There is no way to ask; the guard has to do.
#[cfg(not(target_os = "linux"))]
fn works_in(_: Pid, _: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::start;

    #[test]
    fn a_place_is_removed_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let first = Workplace::below(folder.path(), "work-").unwrap();
        let path = first.path().to_owned();
        let second = Workplace::below(folder.path(), "work-").unwrap();
        assert!(path.is_dir(), "its owner lives");
        drop((first, second));
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_dead_owner_left_is_ended_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs_err::canonicalize(folder.path()).unwrap();
        let place = Workplace::below(&root, "work-").unwrap();
        let mut command = Command::new("sleep");
        command.arg("600").current_dir(place.path());
        let running = start(&mut command, None, Command::spawn).unwrap();
        place.note(&running).unwrap();
        // Another process's group is noted as if its id had been used again.
        let mut stranger = Command::new("sleep");
        stranger.arg("600").current_dir("/");
        let stranger = start(&mut stranger, None, Command::spawn).unwrap();
        place.note(&stranger).unwrap();
        let (path, group) = (place.root.keep(), running.pid());
        drop(place.owner);

        let next = Workplace::below(&root, "work-").unwrap();
        assert!(!path.exists());
        assert_ne!(next.path(), path);
        let ended = running.finish(&crate::Bounds {
            time: std::time::Duration::from_secs(60),
            unwanted: &|| false,
            stragglers: crate::Stragglers::Stay,
        });
        let crate::Ended::Itself { code, .. } = ended.unwrap() else {
            panic!("{group:?} was not ended");
        };
        assert_eq!(code, None, "by a signal");
        assert!(!works_in(stranger.pid(), &path));
        assert!(rustix::process::test_kill_process(stranger.pid()).is_ok());
    }

    #[test]
    fn what_is_not_ours_stays() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("other")).unwrap();
        fs_err::create_dir(folder.path().join("work-young")).unwrap();
        fs_err::write(folder.path().join("work-file"), "").unwrap();
        drop(Workplace::below(folder.path(), "work-").unwrap());
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 3);
    }
}
