//! The problems that scripts have in common.

use windlass_text::suggest::closest;
use windlass_types::{Problem, code};

/// Input or state that does not allow it.
pub(crate) fn refused(reason: &str, message: impl Into<String>) -> Problem {
    Problem::new(&code::INVALID_INPUT, message).with("reason", reason)
}

/// Something of a name that does not exist, with the names nearest to it.
pub(crate) fn not_found<'a>(
    kind: &str,
    name: &str,
    message: impl Into<String>,
    known: impl IntoIterator<Item = &'a str>,
) -> Problem {
    Problem::new(&code::NOT_FOUND, message)
        .with("reason", "not_found")
        .with("kind", kind)
        .with("name", name)
        .with("closest", closest(name, known))
}
