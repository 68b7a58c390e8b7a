//! What a machine can run out of for a while: disk space, descriptors, memory, processes.
//!
//! A failure for lack of one of these says nothing about the work that met it: the same work
//! succeeds once there is enough again. This is the one place that decides which failures are of
//! that kind.

use std::io;

use crate::{Problem, code};

/// The key in a problem's details that names what was short.
const DETAIL: &str = "shortage";

/// Something the machine has run out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// Disk space or quota.
    Space,
    /// File descriptors of the process or the system.
    Descriptors,
    /// Memory.
    Memory,
    /// Processes, threads or another resource of the kernel.
    Processes,
    /// The store cannot be reached; it may be out of any of the above.
    Store,
}

impl Shortage {
    const ALL: [Self; 5] = [
        Self::Space,
        Self::Descriptors,
        Self::Memory,
        Self::Processes,
        Self::Store,
    ];

    /// What an operating system's failure was short of.
    pub fn of_io(error: &io::Error) -> Option<Self> {
        // Without a kind of their own; the numbers are the same on every Unix.
        const ENFILE: i32 = 23;
        const EMFILE: i32 = 24;
        match (error.raw_os_error(), error.kind()) {
            (Some(ENFILE | EMFILE), _) => Some(Self::Descriptors),
            (_, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => Some(Self::Space),
            (_, io::ErrorKind::OutOfMemory) => Some(Self::Memory),
            // A socket or a lock that would block is not short of anything; it has no such error
            // where work waits for it.
            (Some(_), io::ErrorKind::WouldBlock) => Some(Self::Processes),
            // Wrapped, to name a path.
            _ => error
                .get_ref()
                .and_then(std::error::Error::source)
                .and_then(<dyn std::error::Error>::downcast_ref)
                .and_then(Self::of_io),
        }
    }

    /// What a problem was short of: as it says itself, by its code, or by the number of the
    /// operating system's error that its message quotes.
    pub fn of(problem: &Problem) -> Option<Self> {
        let named = problem.details().get(DETAIL).and_then(|name| name.as_str());
        if let Some(name) = named {
            return Self::ALL
                .into_iter()
                .find(|shortage| shortage.name() == name);
        }
        if *problem.code() == code::STORE_FULL {
            return Some(Self::Space);
        }
        if *problem.code() == code::STORE_UNAVAILABLE {
            return Some(Self::Store);
        }
        let (_, quoted) = problem.message().rsplit_once("(os error ")?;
        let (number, _) = quoted.split_once(')')?;
        Self::of_io(&io::Error::from_raw_os_error(number.parse().ok()?))
    }

    /// The problem, with what it was short of.
    #[must_use]
    pub fn note(self, problem: Problem) -> Problem {
        problem.with(DETAIL, self.name())
    }

    /// What work waits for.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Space => "waiting: disk is full",
            Self::Descriptors => "waiting: too many open files",
            Self::Memory => "waiting: out of memory",
            Self::Processes => "waiting: out of processes or threads",
            Self::Store => "waiting: the store cannot be reached",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Space => "space",
            Self::Descriptors => "descriptors",
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::Store => "store",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortages_are_told_from_other_failures() {
        for (number, expected) in [
            (2, None),
            (13, None),
            (5, None),
            (28, Some(Shortage::Space)),
            // A file that may not grow any more does not pass by waiting.
            (27, None),
            (24, Some(Shortage::Descriptors)),
            (23, Some(Shortage::Descriptors)),
            (12, Some(Shortage::Memory)),
            (11, Some(Shortage::Processes)),
        ] {
            // The number of EAGAIN is Linux's.
            if number == 11 && !cfg!(target_os = "linux") {
                continue;
            }
            let error = || io::Error::from_raw_os_error(number);
            assert_eq!(Shortage::of_io(&error()), expected, "{number}");
            let problem = Problem::internal("file", error());
            assert_eq!(Shortage::of(&problem), expected, "{problem}");
            if let Some(shortage) = expected {
                let noted = shortage.note(Problem::internal("file", "hidden"));
                assert_eq!(Shortage::of(&noted), Some(shortage));
            }
        }
        assert_eq!(Shortage::of_io(&io::ErrorKind::WouldBlock.into()), None);
    }

    #[test]
    fn codes_and_wrapped_errors_count() {
        let of = |code| Shortage::of(&Problem::new(code, "x"));
        assert_eq!(of(&code::STORE_FULL), Some(Shortage::Space));
        assert_eq!(of(&code::STORE_UNAVAILABLE), Some(Shortage::Store));
        assert_eq!(of(&code::NOT_FOUND), None);
        #[derive(Debug, thiserror::Error)]
        #[error("at a path")]
        struct Named(#[source] io::Error);
        let wrapped = io::Error::other(Named(io::Error::from_raw_os_error(24)));
        assert_eq!(Shortage::of_io(&wrapped), Some(Shortage::Descriptors));
    }
}
