//! Which process holds a lock of the store, for those who wait for it.
//!
//! SQLite lets one process write at a time. One that is stopped inside its commit keeps the lock
//! until it runs again or ends; nobody can take it away, so it is at least named. Linux lists
//! every lock with its process. The lists are read instead of asking for the lock: closing a
//! descriptor of a file of SQLite would drop the locks of this process on it.

use std::{
    fmt,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use fs_err as fs;
use windlass_ports::StoreError;

use crate::home::Home;

/// The byte of the shared index that a writer locks.
const WRITE_LOCK: u64 = 120;
/// A command is named by no more than this.
const LONGEST_COMMAND: usize = 80;

/// A process that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    process: u32,
    command: String,
    is_stopped: bool,
}

impl Holder {
    /// The process that writes to the store now, if it is another one and can be known.
    pub(crate) fn of_store(home: &Home) -> Option<Self> {
        let mut index = home.database().into_os_string();
        index.push("-shm");
        Self::of_file(&PathBuf::from(index), Some(WRITE_LOCK))
    }

    /// The process that has locked a file, or the byte of it.
    pub(crate) fn of_file(path: &Path, byte: Option<u64>) -> Option<Self> {
        let file = fs::metadata(path).ok()?;
        let locks = fs::read_to_string("/proc/locks").ok()?;
        let process = find(&locks, file.dev(), file.ino(), byte)?;
        (process != std::process::id()).then(|| Self::read(process))
    }

    fn read(process: u32) -> Self {
        let of = |name: &str| fs::read(format!("/proc/{process}/{name}")).unwrap_or_default();
        let command = String::from_utf8_lossy(&of("cmdline")).replace('\0', " ");
        // After the name of the program, which may hold anything: `) T ...`.
        let status = String::from_utf8_lossy(&of("stat")).into_owned();
        let state = status
            .rsplit_once(") ")
            .and_then(|(_, rest)| rest.chars().next());
        Self {
            process,
            command: shorten(command.trim()),
            is_stopped: matches!(state, Some('T' | 't')),
        }
    }

    pub(crate) const fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// What those hear who have waited long enough.
    pub(crate) fn into_error(self) -> StoreError {
        StoreError::HeldBy(self.to_string())
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            process, command, ..
        } = self;
        write!(formatter, "process {process}")?;
        if !command.is_empty() {
            write!(formatter, " ({command})")?;
        }
        match self.is_stopped {
            true => write!(
                formatter,
                " is stopped and holds the store; continue it (kill -CONT {process}) or end it"
            ),
            false => write!(formatter, " writes and holds it"),
        }
    }
}

/// The program without its directory, and its arguments as far as there is room.
fn shorten(command: &str) -> String {
    let (program, rest) = command.split_once(' ').unwrap_or((command, ""));
    let program = program.rsplit('/').next().unwrap_or(program);
    let text = format!("{program} {rest}");
    let visible = text.trim_end().chars().filter(|char| !char.is_control());
    visible.take(LONGEST_COMMAND).collect()
}

/// The process that has a lock for writing, in the list of all locks:
/// `1: POSIX  ADVISORY  WRITE 1234 08:01:5678 120 120`.
fn find(locks: &str, device: u64, inode: u64, byte: Option<u64>) -> Option<u32> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        // Those who wait for a lock have an arrow in their second column.
        let [_, _, _, "WRITE", process, file, start, end] = words[..] else {
            return None;
        };
        let mut parts = file.split(':');
        let mut hex = || u32::from_str_radix(parts.next()?, 16).ok();
        let is_device = hex()? == major && hex()? == minor;
        let is_inode = parts.next()?.parse() == Ok(inode);
        let is_inside = byte.is_none_or(|byte| {
            let from = start.parse().is_ok_and(|start: u64| start <= byte);
            from && (end == "EOF" || end.parse().is_ok_and(|end: u64| end >= byte))
        });
        (is_device && is_inode && is_inside)
            .then(|| process.parse().ok())
            .flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_writer_is_found_among_all_locks() {
        let locks = "1: POSIX  ADVISORY  READ  11 08:01:77 120 127\n\
                     2: POSIX  ADVISORY  WRITE 12 08:01:78 120 120\n\
                     3: POSIX  ADVISORY  WRITE 13 08:01:77 121 127\n\
                     4: FLOCK  ADVISORY  WRITE 14 08:01:79 0 EOF\n\
                     5: POSIX  ADVISORY  WRITE 15 08:01:77 120 120\n\
                     5: -> POSIX  ADVISORY  WRITE 16 08:01:77 120 120\n\
                     garbage\n";
        let device = rustix::fs::makedev(8, 1);
        assert_eq!(find(locks, device, 77, Some(120)), Some(15));
        assert_eq!(find(locks, device, 79, None), Some(14));
        assert_eq!(find(locks, device, 80, None), None);
        assert_eq!(find(locks, rustix::fs::makedev(8, 2), 77, Some(120)), None);
    }

    #[test]
    fn a_holder_says_what_to_do() {
        let holder = |is_stopped| Holder {
            process: 1234,
            command: shorten("/usr/local/bin/windlass serve"),
            is_stopped,
        };
        assert_eq!(
            holder(true).to_string(),
            "process 1234 (windlass serve) is stopped and holds the store; continue it \
             (kill -CONT 1234) or end it"
        );
        assert_eq!(
            holder(false).into_error().to_string(),
            "the store is busy: process 1234 (windlass serve) writes and holds it"
        );
    }
}
