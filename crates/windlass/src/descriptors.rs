//! File descriptors of a serving process: as many as the system allows, and some of them kept for
//! the store and for running work.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use windlass_types::{Problem, code};

/// More are never needed, and programs started from here count to their limit.
const ENOUGH: u64 = 65_536;
/// What connections leave: the store, artifacts, webhooks, programs that steps start, and the
/// places that are kept for questions about health.
const RESERVE: std::ops::RangeInclusive<u64> = 112..=512;
/// With fewer, nothing would be left for connections.
const LEAST: u64 = 128;

/// Raises the soft limit towards the hard one. Gives the limit in force.
pub(crate) fn raise() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let soft = limit.current.unwrap_or(ENOUGH);
    let wanted = limit.maximum.unwrap_or(ENOUGH).min(ENOUGH);
    if wanted <= soft {
        return soft;
    }
    let raised = Rlimit {
        current: Some(wanted),
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => wanted,
        Err(error) => {
            tracing::warn!(%error, soft, "the limit of open files stays as it is");
            soft
        }
    }
}

/// As many connections as leave descriptors for everything else; refused where none are left.
pub(crate) fn connections_within(limit: u64, wanted: usize) -> Result<usize, Problem> {
    if limit < LEAST {
        return Err(Problem::new(
            &code::STORE_UNAVAILABLE,
            format!("this process may open {limit} files; a server needs at least {LEAST}"),
        )
        .with("limit", limit)
        .next("ulimit -n 1024")
        .next("as a service: LimitNOFILE=1024"));
    }
    let reserve = (limit / 4).clamp(*RESERVE.start(), *RESERVE.end());
    let left = limit.saturating_sub(reserve).max(1);
    Ok(wanted.min(usize::try_from(left).unwrap_or(usize::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_the_store() {
        for (limit, wanted, expected) in [
            (1024, 1024, 768),
            (1024, 100, 100),
            (256, 1024, 144),
            (128, 1024, 16),
            (65_536, 1024, 1024),
        ] {
            let found = connections_within(limit, wanted).unwrap();
            assert_eq!(found, expected, "{limit}");
        }
        for limit in [0, 32, 127] {
            let refused = connections_within(limit, 1).unwrap_err();
            assert_eq!(refused.next_actions()[0], "ulimit -n 1024", "{limit}");
        }
    }
}
