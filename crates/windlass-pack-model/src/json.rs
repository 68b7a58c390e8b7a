//! How the JSON files with a fixed shape are written: two spaces and a final newline.

use serde::Serialize;

/// The bytes of a file. Only for types that hold nothing but texts, numbers and lists of them:
/// writing those to memory cannot fail.
pub(crate) fn pretty<T: Serialize>(value: &T) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}
