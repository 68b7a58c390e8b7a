//! Archives that can prove what is in them.

mod archive;
mod checksum;
pub mod format;

pub use archive::{Archive, ArchiveError};
pub use checksum::checksum;

/// The version of this crate.
pub const VERSION: &str = "0.9.3";
