//! Strict TOML: a file is understood completely or refused, with the place and a way out.
//!
//! Used for the settings file and by windlass-policy for the policy file.

use std::{fmt, io, path::Path};

use serde::de::DeserializeOwned;
use windlass_types::{Problem, code};

/// The text of a file that may be missing. Anything else in its place is an error: a link that
/// leads nowhere must not count as a missing file, and a pipe must not be waited for.
pub fn read_if_there(path: &Path) -> io::Result<Option<String>> {
    match fs_err::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    if !fs_err::metadata(path)?.is_file() {
        let message = format!("{} is not a regular file", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    fs_err::read_to_string(path).map(Some)
}

/// Why a file is not understood, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FileError {
    /// The file's name, as the caller gave it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What was probably meant.
    pub hint: Option<String>,
}

impl FileError {
    /// An error at a byte offset of the text.
    pub fn at(file: &str, text: &str, offset: usize, message: impl Into<String>) -> Self {
        let (line, column) = position(text, offset);
        Self {
            file: file.to_owned(),
            line,
            column,
            message: message.into(),
            hint: None,
        }
    }

    /// The same error with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}:{}:{}: {}",
            self.file, self.line, self.column, self.message
        )?;
        match &self.hint {
            Some(hint) => write!(formatter, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        let mut problem = Self::new(&code::CONFIG_INVALID, error.to_string())
            .with("file", error.file)
            .with("line", error.line)
            .with("column", error.column);
        if let Some(hint) = error.hint {
            problem = problem.with("hint", hint);
        }
        problem
    }
}

/// Reads TOML into a type that refuses unknown keys.
pub fn parse<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, FileError> {
    toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let message = error.message().trim().replace('\n', ", ");
        let hint = suggestion(&message).map(|name| format!("did you mean `{name}`?"));
        FileError {
            hint,
            ..FileError::at(file, text, offset, message)
        }
    })
}

/// The line and column, both from 1, of a byte offset.
pub fn position(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (
        before.matches('\n').count() + 1,
        before[line_start..].chars().count() + 1,
    )
}

/// The candidate nearest to a name, if one is near.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Serde names the unknown key first and then what it expected, each in backticks.
fn suggestion(message: &str) -> Option<&str> {
    if !message.starts_with("unknown ") {
        return None;
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let name = quoted.next()?;
    nearest(name, quoted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn positions_count_characters() {
        let text = "a\nüb c\n";
        for (offset, expected) in [
            (0, (1, 1)),
            (2, (2, 1)),
            (4, (2, 2)),
            (3, (2, 1)),
            (99, (3, 1)),
        ] {
            assert_eq!(position(text, offset), expected, "{offset}");
        }
    }

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let names = ["operation", "principal", "decision"];
        assert_eq!(nearest("operatoin", names), Some("operation"));
        assert_eq!(nearest("decison", names), Some("decision"));
        assert_eq!(nearest("colour", names), None);
    }

    proptest! {
        #[test]
        fn any_offset_has_a_position(text in "\\PC{0,20}\n\\PC{0,20}", offset in 0usize..200) {
            let (line, column) = position(&text, offset);
            prop_assert!(line >= 1 && column >= 1);
        }
    }
}
