//! Strict TOML: a file is understood completely or refused, with the place and a way out.
//!
//! Used for the settings file and by windlass-policy for the policy file.

use std::{fmt, io, os::unix::fs::MetadataExt as _, path::Path};

use serde::de::DeserializeOwned;
use windlass_text::suggest::nearest;
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
    check_writers(path)?;
    fs_err::read_to_string(path).map(Some)
}

/// Refuses a file or directory that decides what may be done, where another user could change it.
/// One that is missing is fine.
pub fn check_writers(path: &Path) -> io::Result<()> {
    let metadata = match fs_err::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let refuse = |message: String| Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    let owner = metadata.uid();
    let user = rustix::process::geteuid().as_raw();
    let path = path.display();
    if owner != 0 && owner != user {
        return refuse(format!(
            "{path} belongs to another user (uid {owner}), who could change what is allowed; \
             type: chown {user} {path}"
        ));
    }
    if metadata.mode() & 0o022 != 0 {
        return refuse(format!(
            "others may write {path} (mode {:o}) and so change what is allowed; \
             type: chmod go-w {path}",
            metadata.mode() & 0o777
        ));
    }
    Ok(())
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
    fn a_file_that_others_may_write_is_refused_with_what_to_type() {
        use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("policy.toml");
        assert!(read_if_there(&path).unwrap().is_none());
        fs_err::write(&path, "version = 1").unwrap();
        for (mode, is_taken) in [(0o600, true), (0o644, true), (0o664, false), (0o646, false)] {
            fs_err::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let read = read_if_there(&path);
            assert_eq!(read.is_ok(), is_taken, "{mode:o}");
            if let Err(error) = read {
                let wanted = format!("chmod go-w {}", path.display());
                assert!(error.to_string().contains(&wanted), "{error}");
            }
        }
        fs_err::set_permissions(directory.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(check_writers(directory.path()).is_err());
    }

    proptest! {
        #[test]
        fn any_offset_has_a_position(text in "\\PC{0,20}\n\\PC{0,20}", offset in 0usize..200) {
            let (line, column) = position(&text, offset);
            prop_assert!(line >= 1 && column >= 1);
        }
    }
}
