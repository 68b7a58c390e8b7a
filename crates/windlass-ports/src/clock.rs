//! Time: read and waited for through a trait, so that tests drive it.
//!
//! The wall clock says when something happened; people and other machines read it, and it may be
//! set. What has to happen later (timers, deadlines, expiries) is measured on the steady clock,
//! which follows the wall clock forwards, once that is to be believed, and elapsed time otherwise.

use futures::future::BoxFuture;
use windlass_types::Timestamp;

/// A clock.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Timestamp;

    /// The latest that the wall clock has shown, plus what has elapsed since: it never goes back. A
    /// clock may take its time to believe a wall clock that jumps forwards.
    fn steady(&self) -> Timestamp {
        self.now()
    }

    /// Resolves once `now()` has reached `deadline`, or as much time has elapsed as was left when
    /// this was called: a clock that is set back does not prolong it.
    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<'static, ()>;
}
