//! A store in memory with the semantics of the port, faults included.
//!
//! A `MemoryStore` is one process's hold on a disk that several may share. A process can be
//! made to die at any write: from then on its calls never return, its lease is free, and
//! another process opened on the same disk finds exactly what had been committed.

mod derive;
mod disk;
mod fault;
mod handle;
mod maintain;

pub use fault::Moment;
pub use handle::MemoryStore;
