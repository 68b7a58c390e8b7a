//! The formats of archives.

/// The formats that can be read.
pub const READ_FORMATS: [&str; 2] = ["crn", "tar"];

/// The format that is written.
pub const WRITE_FORMATS: [&str; 1] = ["crn"];

/// A format of archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The own format.
    Crn,
    /// The format of tape archives.
    Tar,
}
