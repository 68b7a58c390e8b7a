//! A clock that tests move: by hand, timer by timer, or as fast as the work allows.
//!
//! Sleepers wake in the order of their deadlines. `run` moves time whenever nothing else
//! moves, so that a run with a week of timers ends in milliseconds.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use windlass_ports::{BoxFuture, Clock};
use windlass_types::Timestamp;

/// Turns of the scheduler without a look at the clock before the work counts as idle.
const QUIET_TURNS: u32 = 48;
/// Real time given to work on other threads before virtual time moves, and how often in a row
/// before a test that waits for nothing is ended.
const GRACE: Duration = Duration::from_millis(1);
const BLOCKING_ROUNDS: u32 = 3;
const STARVED_AFTER: u32 = 4_000;

/// A clock for tests. Clones show the same time.
#[derive(Clone)]
pub struct FakeClock {
    state: Arc<Mutex<State>>,
    threads: Threads,
}

/// Where else work may happen (files, blocking calls), which no count of turns can see.
#[derive(Clone, Copy, PartialEq)]
enum Threads {
    /// Nowhere.
    None,
    /// On one thread, which takes its work in order.
    One,
    /// On any number of threads.
    Many,
}

struct State {
    /// Steady time, on which sleepers wait.
    now: Timestamp,
    /// How far the wall clock is behind it, in milliseconds.
    behind: i64,
    next_id: u64,
    /// Counts every look at the clock: what still looks is not idle.
    looks: u64,
    sleepers: BTreeMap<(Timestamp, u64), Option<Waker>>,
}

impl FakeClock {
    /// A clock that shows a fixed moment until it is moved.
    pub fn new() -> Self {
        let state = State {
            now: Timestamp::from_millis(1_750_000_000_000),
            behind: 0,
            next_id: 0,
            looks: 0,
            sleepers: BTreeMap::new(),
        };
        Self {
            state: Arc::new(Mutex::new(state)),
            threads: Threads::None,
        }
    }

    /// The same clock for work that also uses other threads: time moves only after those had a
    /// moment of real time to continue.
    #[must_use]
    pub fn with_threads(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
            threads: Threads::Many,
        }
    }

    /// The same clock on a runtime with a single blocking thread, which can be waited for exactly
    /// instead of for a moment.
    pub(crate) fn on_one_thread(&self) -> Self {
        let threads = match self.threads {
            Threads::None => Threads::None,
            Threads::One | Threads::Many => Threads::One,
        };
        Self {
            state: Arc::clone(&self.state),
            threads,
        }
    }

    /// Shows another moment at once; who should have woken by then wakes.
    pub fn set(&self, now: Timestamp) {
        let mut state = self.lock();
        state.now = now;
        wake_due(&mut state);
    }

    /// Sets the wall clock without any time passing: forwards, or back by a negative number of
    /// seconds.
    pub fn jump(&self, seconds: i64) {
        let mut state = self.lock();
        state.behind -= seconds * 1000;
        if state.behind < 0 {
            // Steady time is never behind the wall clock.
            let ahead = Duration::from_millis(state.behind.unsigned_abs());
            state.now = state.now.after(ahead);
            state.behind = 0;
        }
        wake_due(&mut state);
    }

    /// Moves on, stopping at every timer on the way and letting its sleeper do what it woke for.
    pub async fn advance(&self, duration: Duration) {
        self.idle().await;
        let target = self.steady().after(duration);
        while let Some(next) = self.next_timer().filter(|next| *next <= target) {
            self.set(next);
            self.idle().await;
        }
        self.set(target);
        self.idle().await;
    }

    /// Moves to the next timer; `false` when nobody sleeps.
    pub fn advance_to_next_timer(&self) -> bool {
        let next = self.next_timer();
        if let Some(next) = next {
            self.set(next);
        }
        next.is_some()
    }

    /// When the next sleeper wakes; those that have been woken are no longer sleepers.
    pub fn next_timer(&self) -> Option<Timestamp> {
        let state = self.lock();
        state
            .sleepers
            .keys()
            .map(|(deadline, _)| *deadline)
            .find(|deadline| *deadline > state.now)
    }

    /// Does the work, moving time whenever the work waits for it.
    pub async fn run<F: Future>(&self, work: F) -> F::Output {
        let mut work = pin!(work);
        let mut starved = 0;
        loop {
            tokio::select! {
                biased;
                output = &mut work => return output,
                () = self.idle() => {}
            }
            if self.advance_to_next_timer() {
                starved = 0;
                continue;
            }
            starved += 1;
            assert!(
                starved < STARVED_AFTER,
                "the work waits for something that never comes: no timer is pending"
            );
            tokio::select! {
                biased;
                output = &mut work => return output,
                () = tokio::time::sleep(GRACE) => {}
            }
        }
    }

    /// Resolves once every task of this (single-threaded) runtime waits for something.
    pub async fn idle(&self) {
        loop {
            self.quiet().await;
            let looks = self.lock().looks;
            match self.threads {
                Threads::None => return,
                Threads::One => {
                    // Each round is over when everything before it is; several of them see through
                    // work that begins other work without a look at the clock.
                    for _ in 0..BLOCKING_ROUNDS {
                        let _ = tokio::task::spawn_blocking(|| {}).await;
                        self.quiet().await;
                    }
                }
                Threads::Many => tokio::time::sleep(GRACE).await,
            }
            if self.lock().looks == looks {
                return;
            }
        }
    }

    async fn quiet(&self) {
        let mut looks = self.lock().looks;
        let mut quiet = 0;
        while quiet < QUIET_TURNS {
            tokio::task::yield_now().await;
            let seen = self.lock().looks;
            quiet = if seen == looks { quiet + 1 } else { 0 };
            looks = seen;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for FakeClock {
    fn default() -> Self {
        Self::new()
    }
}

fn wall(state: &State) -> Timestamp {
    Timestamp::from_millis(state.now.as_millis() - state.behind)
}

fn wake_due(state: &mut State) {
    for ((deadline, _), waker) in &mut state.sleepers {
        if *deadline > state.now {
            return;
        }
        if let Some(waker) = waker.take() {
            waker.wake();
        }
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        let mut state = self.lock();
        state.looks += 1;
        wall(&state)
    }

    fn steady(&self) -> Timestamp {
        let mut state = self.lock();
        state.looks += 1;
        state.now
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<'static, ()> {
        let mut state = self.lock();
        state.looks += 1;
        state.next_id += 1;
        let id = state.next_id;
        // Where the wall clock is right this is the deadline itself.
        let deadline = Timestamp::from_millis(deadline.as_millis().saturating_add(state.behind));
        drop(state);
        Box::pin(Sleep {
            state: Arc::clone(&self.state),
            key: (deadline, id),
        })
    }
}

/// A sleep; forgotten by the clock when it is dropped, so that time never moves for nobody.
struct Sleep {
    state: Arc<Mutex<State>>,
    key: (Timestamp, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.now >= self.key.0 {
            state.looks += 1;
            state.sleepers.remove(&self.key);
            return Poll::Ready(());
        }
        state
            .sleepers
            .insert(self.key, Some(context.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .sleepers
            .remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[tokio::test]
    async fn sleepers_wake_in_order_and_not_before() {
        let clock = FakeClock::new();
        let start = clock.now();
        let woken = Arc::new(Mutex::new(Vec::new()));
        for delay in [30, 10, 20, 10] {
            let (clock, woken) = (clock.clone(), Arc::clone(&woken));
            tokio::spawn(async move {
                clock.sleep_until(start.after(seconds(delay))).await;
                woken
                    .lock()
                    .unwrap()
                    .push((delay, clock.now().since(start)));
            });
        }
        clock.advance(seconds(9)).await;
        assert!(woken.lock().unwrap().is_empty());
        clock.advance(seconds(100)).await;
        let expected = [
            (10, seconds(10)),
            (10, seconds(10)),
            (20, seconds(20)),
            (30, seconds(30)),
        ];
        assert_eq!(*woken.lock().unwrap(), expected);
    }

    #[tokio::test]
    async fn run_moves_time_only_for_those_who_wait() {
        let clock = FakeClock::new();
        let start = clock.now();
        let dropped = clock.sleep_until(start.after(seconds(1)));
        drop(dropped);
        clock
            .run(async {
                for _ in 0..3 {
                    clock.sleep_until(clock.now().after(seconds(3600))).await;
                }
            })
            .await;
        assert_eq!(clock.now().since(start), seconds(3 * 3600));
        assert!(!clock.advance_to_next_timer());
    }
}
