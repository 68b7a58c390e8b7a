//! What a line that a stack says is like: how bad, how long, without terminal escapes.

pub use windlass_text::without_escapes;

/// The longest message, in characters.
pub const LONGEST_MESSAGE: usize = 8_000;

/// How bad a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// News.
    Info,
    /// Something to look at.
    Warn,
    /// Something that failed.
    Error,
}

impl Level {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}
