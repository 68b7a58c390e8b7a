//! Who drives: at most one process executes the runs of a home.
//!
//! The lease must be released by the operating system when the process dies in any way,
//! and each acquisition raises the fencing epoch, so that a process which lost the lease
//! without noticing cannot write: the store refuses commits with an old epoch.

use crate::store::StoreError;

/// Proof of being the driver, released on drop.
pub trait DriverLease: Send + Sync + 'static {
    /// The fencing epoch of this acquisition.
    fn epoch(&self) -> u64;
}

/// The right to drive.
pub trait Lease: Send + Sync + 'static {
    /// Takes the lease; `None` when another process holds it.
    fn try_acquire(&self) -> Result<Option<Box<dyn DriverLease>>, StoreError>;

    /// The process id of the holder, as far as it can be told.
    fn holder(&self) -> Option<u32>;
}
