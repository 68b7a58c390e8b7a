//! Time: read and waited for through a trait, so that tests drive it.

use futures::future::BoxFuture;
use windlass_types::Timestamp;

/// A clock.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Timestamp;

    /// Resolves once `now()` has reached `deadline`; at once when it has already.
    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<'static, ()>;
}
