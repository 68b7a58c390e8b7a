//! The operating system's clocks: wall time, and the steady time of this machine since it booted.

use std::{
    io,
    path::Path,
    sync::{
        LazyLock,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use fs_err as fs;
use windlass_files::{Access, Directory};
use windlass_ports::{BoxFuture, Clock};
use windlass_types::Timestamp;

/// When the clock is set forwards or the machine sleeps, a long wait notices after at most this
/// long.
const RECHECK: Duration = Duration::from_secs(1);

/// When this process first looked.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
/// How far the wall clock has been ahead of the time since then, at most, in milliseconds.
static AHEAD: AtomicI64 = AtomicI64::new(i64::MIN);

/// The operating system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the Clock port's one implementation over the system"
    )]
    fn now(&self) -> Timestamp {
        let millis = match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => {
                i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis)
            }
        };
        Timestamp::from_millis(millis)
    }

    fn steady(&self) -> Timestamp {
        let elapsed = millis(BEGAN.elapsed());
        steady_at(&AHEAD, self.now().as_millis(), elapsed)
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<'static, ()> {
        let clock = *self;
        let began = Instant::now();
        let elapsed = move || began.elapsed();
        Box::pin(sleep_by(
            move || clock.now(),
            elapsed,
            tokio::time::sleep,
            deadline,
        ))
    }
}

impl SystemClock {
    /// Shares the steady clock with the other processes that use the file, for as long as the
    /// machine runs: a process that starts after the clock was set back continues where those
    /// before it were.
    pub fn keep_steady(&self, path: &Path) -> io::Result<()> {
        let Some((boot, uptime)) = uptime() else {
            return Ok(());
        };
        let kept = match fs::read_to_string(path) {
            Ok(text) => read_kept(&text, &boot),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(kept) = kept {
            let since_start = millis(BEGAN.elapsed());
            AHEAD.fetch_max(kept.saturating_add(uptime - since_start), Ordering::Relaxed);
        }
        let ahead = self.steady().as_millis() - uptime;
        if kept.is_none_or(|kept| ahead > kept + 1000) {
            let (home, name) = (path.parent(), path.file_name().unwrap_or_default());
            let home = Directory::open(home.unwrap_or(Path::new("/")))?;
            let text = format!("{boot} {ahead}\n");
            home.write(Path::new(name), text.as_bytes(), Access::Private)?;
        }
        Ok(())
    }
}

fn steady_at(ahead: &AtomicI64, wall: i64, elapsed: i64) -> Timestamp {
    let now = wall - elapsed;
    let most = ahead.fetch_max(now, Ordering::Relaxed).max(now);
    Timestamp::from_millis(most.saturating_add(elapsed))
}

/// What a file keeps, if it was written since the machine booted.
fn read_kept(text: &str, boot: &str) -> Option<i64> {
    let (written_in, ahead) = text.trim().split_once(' ')?;
    ahead.parse().ok().filter(|_| written_in == boot)
}

/// Which boot of the machine this is, and for how long it has been up, in milliseconds. Linux
/// tells; elsewhere the steady clock is each process's own.
fn uptime() -> Option<(String, i64)> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let (seconds, hundredths) = uptime.split_whitespace().next()?.split_once('.')?;
    let seconds: i64 = seconds.parse().ok()?;
    let hundredths: i64 = hundredths.parse().ok()?;
    Some((boot.trim().to_owned(), seconds * 1000 + hundredths * 10))
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Sleeps until `now` says that the deadline has come, or as much time has elapsed as was left.
async fn sleep_by<S: Future<Output = ()>>(
    now: impl Fn() -> Timestamp,
    elapsed: impl Fn() -> Duration,
    sleep: impl Fn(Duration) -> S,
    deadline: Timestamp,
) {
    let whole = deadline.since(now());
    loop {
        let left = whole.saturating_sub(elapsed()).min(deadline.since(now()));
        if left.is_zero() {
            return;
        }
        sleep(left.min(RECHECK)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    #[test]
    fn time_passes_and_is_after_this_was_written() {
        let now = SystemClock.now();
        assert!(now > "2026-01-01T00:00:00Z".parse().unwrap());
        assert!(SystemClock.now() >= now);
    }

    #[tokio::test]
    async fn sleeping_reaches_the_deadline_and_never_ends_early() {
        let deadline = SystemClock.now().after(Duration::from_millis(20));
        SystemClock.sleep_until(deadline).await;
        assert!(SystemClock.now() >= deadline);
        SystemClock.sleep_until(Timestamp::EPOCH).await;
    }

    /// How long a sleep takes in all, in milliseconds, when the wall clock says `wall(elapsed)`.
    async fn time_slept(wall: impl Fn(i64) -> i64, deadline: i64) -> i64 {
        let elapsed = AtomicI64::new(0);
        let passed = || Duration::from_millis(elapsed.load(Ordering::Relaxed).unsigned_abs());
        let now = || Timestamp::from_millis(wall(elapsed.load(Ordering::Relaxed)));
        let sleep = |time: Duration| {
            elapsed.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::Relaxed);
            std::future::ready(())
        };
        sleep_by(now, passed, sleep, Timestamp::from_millis(deadline)).await;
        elapsed.into_inner()
    }

    #[tokio::test]
    async fn a_clock_set_forward_ends_a_long_sleep_within_a_second() {
        let an_hour = 3_600_000;
        let wall = |elapsed| if elapsed < 2_000 { elapsed } else { an_hour };
        assert_eq!(time_slept(wall, an_hour).await, 2_000);
    }

    #[tokio::test]
    async fn a_clock_set_back_does_not_prolong_the_sleep() {
        for back in [10_000, 3_600_000, 86_400_000] {
            let wall = |elapsed| elapsed - if elapsed < 2_000 { 0 } else { back };
            assert_eq!(time_slept(wall, 3_000).await, 3_000);
        }
    }

    #[test]
    fn steady_time_follows_the_wall_clock_forwards_and_elapsed_time_otherwise() {
        let ahead = AtomicI64::new(i64::MIN);
        for (wall, elapsed, expected) in [
            (1_000_000, 0, 1_000_000),
            (1_001_000, 1_000, 1_001_000),
            // Set back by ten minutes, and running on.
            (402_000, 2_000, 1_002_000),
            (403_000, 3_000, 1_003_000),
            // Set forwards, beyond where it was.
            (5_000_000, 4_000, 5_000_000),
            // And back to what is right.
            (1_005_000, 5_000, 5_001_000),
        ] {
            let steady = steady_at(&ahead, wall, elapsed);
            assert_eq!(steady, Timestamp::from_millis(expected), "at {elapsed}");
        }
    }

    #[test]
    fn what_another_boot_kept_is_not_taken() {
        assert_eq!(read_kept("one 17\n", "one"), Some(17));
        for text in ["one 17", "", "two", "two x", "two 1 2"] {
            assert_eq!(read_kept(text, "two"), None, "{text:?}");
        }
    }

    #[test]
    fn processes_share_the_steady_clock_of_a_boot() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("clock");
        SystemClock.keep_steady(&path).unwrap();
        let Some((boot, uptime)) = uptime() else {
            return;
        };
        // As if the clock had been an hour ahead when another process began.
        let ahead = SystemClock.now().as_millis() - uptime + 3_600_000;
        fs::write(&path, format!("{boot} {ahead}\n")).unwrap();
        SystemClock.keep_steady(&path).unwrap();
        let ahead = SystemClock.steady().since(SystemClock.now());
        assert!((3_599..3_601).contains(&ahead.as_secs()), "{ahead:?}");
    }
}
