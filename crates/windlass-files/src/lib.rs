//! The one writer of files: everything a capability or a command writes into a directory of the
//! user goes through a [`Directory`].
//!
//! A directory is opened once. What is below it is reached component by component from its
//! descriptor, and a component that is a symbolic link is refused, so that nothing can be swapped
//! between a look and a write. A file is replaced whole: written next to its place, flushed,
//! renamed. The path of the directory itself may have links: the caller chose it.
//!
//! Not here: the store's own files, and what other programs write.

mod directory;
mod error;
mod named;
mod remove;
mod walk;

#[cfg(test)]
mod links_tests;

pub use directory::{Access, Directory, Identity};
pub use error::FileError;
pub use named::{create_named, write_from, write_named};
