//! The operating system's clocks: wall time, and the steady time of this machine since it booted.

use std::{
    io,
    path::Path,
    sync::{LazyLock, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use fs_err as fs;
use windlass_files::{Access, Directory};
use windlass_ports::{BoxFuture, Clock};
use windlass_types::Timestamp;

/// When the clock is set forwards or the machine sleeps, a long wait notices after at most this
/// long.
const RECHECK: Duration = Duration::from_secs(1);

/// When this process first looked, and for how long the machine had been up then.
static BEGAN: LazyLock<(Instant, Option<i64>)> =
    LazyLock::new(|| (Instant::now(), uptime().map(|(_, uptime)| uptime)));
static STEADY: Mutex<Steady> = Mutex::new(Steady::new());

/// A clock that is ahead for less than this, in milliseconds, is followed at once.
const NEAR: i64 = 1_000;
/// One that jumped further is followed when it has stayed there for so long.
const BELIEVED: i64 = 60_000;

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
        let elapsed = millis(BEGAN.0.elapsed());
        steady().at(self.now().as_millis(), elapsed, || slept(elapsed))
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
    /// Takes the steady clock over from the other processes that share it, and tells them nothing.
    pub fn look_at_steady(&self, path: &Path) -> io::Result<()> {
        self.join_steady(path).map(drop)
    }

    fn join_steady(&self, path: &Path) -> io::Result<Option<Kept>> {
        let Some((boot, uptime)) = uptime() else {
            return Ok(None);
        };
        let kept = match fs::read_to_string(path) {
            Ok(text) => read_kept(&text, &boot),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        // What is kept counts from the start of the machine, what is known here from that of this
        // process.
        if let Some(kept) = &kept {
            steady().take_over(kept, uptime - millis(BEGAN.0.elapsed()));
        }
        let _ = self.steady();
        Ok(kept)
    }

    /// Shares the steady clock with the other processes that use the file, for as long as the
    /// machine runs: a process that starts after the clock was set back continues where those
    /// before it were, and a jump is believed when those before it have seen it for long enough.
    pub fn keep_steady(&self, path: &Path) -> io::Result<()> {
        let Some((boot, uptime)) = uptime() else {
            return Ok(());
        };
        let kept = self.join_steady(path)?;
        let known = steady().kept(uptime - millis(BEGAN.0.elapsed()));
        let is_news = kept.is_none_or(|kept| {
            known.ahead > kept.ahead + NEAR || known.jump.is_some() != kept.jump.is_some()
        });
        if is_news {
            let (home, name) = (path.parent(), path.file_name().unwrap_or_default());
            let home = Directory::open(home.unwrap_or(Path::new("/")))?;
            let text = known.text(&boot);
            home.write(Path::new(name), text.as_bytes(), Access::Private)?;
        }
        Ok(())
    }
}

fn steady() -> std::sync::MutexGuard<'static, Steady> {
    STEADY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long the machine has been suspended since this process began: that passes, and is not in
/// its elapsed time.
fn slept(elapsed: i64) -> i64 {
    match (BEGAN.1, uptime()) {
        (Some(began), Some((_, now))) => (now - began - elapsed).max(0),
        _ => 0,
    }
}

/// The steady clock, in milliseconds.
///
/// It follows the wall clock forwards and elapsed time otherwise. A wall clock that jumps forwards
/// is not believed at once: were it wrong, everything that expires would have expired for good.
/// What is measured meanwhile is the time that elapsed, so nothing lasts longer because of it.
#[derive(Debug)]
struct Steady {
    /// How far the wall clock has been ahead of elapsed time, as far as that is believed.
    ahead: Option<i64>,
    jump: Option<Jump>,
    /// How much of the time that the machine was suspended is in `ahead`.
    slept: i64,
}

/// A wall clock further ahead than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Jump {
    /// The least that it has been ahead by since then.
    ahead: i64,
    since: i64,
}

/// What processes share, counted from the start of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    ahead: i64,
    jump: Option<Jump>,
}

impl Steady {
    const fn new() -> Self {
        Self {
            ahead: None,
            jump: None,
            slept: 0,
        }
    }

    fn at(&mut self, wall: i64, elapsed: i64, slept: impl FnOnce() -> i64) -> Timestamp {
        let now = wall - elapsed;
        let mut known = self.ahead.unwrap_or(now);
        if now > known.saturating_add(NEAR) {
            let slept = slept();
            known = known.saturating_add(slept.saturating_sub(self.slept).max(0));
            self.slept = self.slept.max(slept);
        }
        if now <= known.saturating_add(NEAR) {
            self.jump = None;
            known = known.max(now);
        } else {
            let jump = Jump {
                ahead: self.jump.map_or(now, |jump| jump.ahead.min(now)),
                since: self.jump.map_or(elapsed, |jump| jump.since),
            };
            self.jump = Some(jump);
            if elapsed.saturating_sub(jump.since) >= BELIEVED {
                self.jump = None;
                known = known.max(jump.ahead);
            }
        }
        self.ahead = Some(known);
        Timestamp::from_millis(known.saturating_add(elapsed))
    }

    /// Continues from what other processes kept; this one began `started` after the machine.
    fn take_over(&mut self, kept: &Kept, started: i64) {
        let ahead = kept.ahead.saturating_add(started);
        // An own first look is no more than one look: the others know what time has elapsed.
        self.ahead = Some(match self.ahead {
            Some(own) if own <= ahead.saturating_add(NEAR) => own.max(ahead),
            _ => ahead,
        });
        self.jump = kept.jump.map(|jump| Jump {
            ahead: jump.ahead.saturating_add(started),
            since: jump.since.saturating_sub(started),
        });
    }

    fn kept(&self, started: i64) -> Kept {
        Kept {
            ahead: self.ahead.unwrap_or_default().saturating_sub(started),
            jump: self.jump.map(|jump| Jump {
                ahead: jump.ahead.saturating_sub(started),
                since: jump.since.saturating_add(started),
            }),
        }
    }
}

impl Kept {
    fn text(&self, boot: &str) -> String {
        match self.jump {
            None => format!("{boot} {}\n", self.ahead),
            Some(Jump { ahead, since }) => format!("{boot} {} {ahead} {since}\n", self.ahead),
        }
    }
}

/// What a file keeps, if it was written since the machine booted.
fn read_kept(text: &str, boot: &str) -> Option<Kept> {
    let mut words = text.split_whitespace();
    if words.next() != Some(boot) {
        return None;
    }
    let numbers: Result<Vec<i64>, _> = words.map(str::parse).collect();
    match numbers.ok()?.as_slice() {
        [ahead] => Some(Kept {
            ahead: *ahead,
            jump: None,
        }),
        [ahead, jump, since] => Some(Kept {
            ahead: *ahead,
            jump: Some(Jump {
                ahead: *jump,
                since: *since,
            }),
        }),
        _ => None,
    }
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
        let mut clock = Steady::new();
        for (wall, elapsed, expected) in [
            (1_000_000, 0, 1_000_000),
            (1_001_000, 1_000, 1_001_000),
            // Set back by ten minutes, and running on.
            (402_000, 2_000, 1_002_000),
            (403_000, 3_000, 1_003_000),
            // A little ahead.
            (1_004_500, 4_000, 1_004_500),
            // Far ahead for a moment, and back to what is right: nothing remains of it.
            (5_000_000, 5_000, 1_005_500),
            (1_006_000, 6_000, 1_006_500),
            // Set forwards, to stay.
            (5_000_000, 7_000, 1_007_500),
            (5_050_000, 57_000, 1_057_500),
            (5_060_000, 67_000, 5_060_000),
            (5_061_000, 68_000, 5_061_000),
        ] {
            let steady = clock.at(wall, elapsed, || 0);
            assert_eq!(steady, Timestamp::from_millis(expected), "at {elapsed}");
        }
    }

    #[test]
    fn time_that_the_machine_was_suspended_has_passed() {
        let mut clock = Steady::new();
        clock.at(1_000_000, 0, || 0);
        let awake = clock.at(8_001_000, 1_000, || 7_000_000);
        assert_eq!(awake, Timestamp::from_millis(8_001_000));
        let jumped = clock.at(9_002_000, 2_000, || 7_000_000);
        assert_eq!(jumped, Timestamp::from_millis(8_002_000));
    }

    #[test]
    fn a_jump_is_believed_when_processes_have_seen_it_for_a_minute() {
        let day = 86_400_000;
        let mut kept = Kept {
            ahead: 1_000_000,
            jump: None,
        };
        // Commands that begin so long after the machine; the wall clock is a day ahead.
        for (started, believed) in [(10_000, false), (40_000, false), (71_000, true)] {
            let mut clock = Steady::new();
            let wall = 1_000_000 + started + day;
            clock.at(wall, 0, || 0);
            clock.take_over(&kept, started);
            let steady = clock.at(wall, 0, || 0).as_millis();
            let expected = if believed { wall } else { wall - day };
            assert_eq!(steady, expected, "{started}");
            kept = clock.kept(started);
            assert_eq!(read_kept(&kept.text("boot"), "boot"), Some(kept));
        }
    }

    #[test]
    fn what_another_boot_kept_is_not_taken() {
        let kept = Kept {
            ahead: 17,
            jump: None,
        };
        assert_eq!(read_kept("one 17\n", "one"), Some(kept));
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
        // As if the clock had been an hour ahead for long when another process began.
        let ahead = SystemClock.now().as_millis() - uptime + 3_600_000;
        fs::write(&path, format!("{boot} {ahead}\n")).unwrap();
        SystemClock.keep_steady(&path).unwrap();
        let ahead = SystemClock.steady().since(SystemClock.now());
        assert!((3_540..3_660).contains(&ahead.as_secs()), "{ahead:?}");
    }
}
