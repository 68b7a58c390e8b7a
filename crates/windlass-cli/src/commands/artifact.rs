//! Bytes of an artifact, written to a file, a pipe or a terminal.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use windlass_files::{Access, write_named};
use windlass_types::Problem;

use crate::{output::counted, session::Session};

/// The content of an artifact.
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    is_text: bool,
}

impl Content {
    /// What an answer holds: text, or Base64 of anything else.
    pub(super) fn read(content: String, is_text: bool) -> Result<Self, Problem> {
        let bytes = if is_text {
            content.into_bytes()
        } else {
            STANDARD
                .decode(content)
                .map_err(|error| Problem::internal("artifact content", error))?
        };
        Ok(Self { bytes, is_text })
    }

    /// Writes it to a file, or to standard output where people read. `flag` names the file;
    /// `command` is what to type for a file.
    pub(super) fn deliver(
        &self,
        session: &Session,
        name: &str,
        file: Option<&Path>,
        (flag, command): (&str, &str),
    ) -> Result<(), Problem> {
        let printer = &session.printer;
        match file {
            Some(path) => {
                let keep = Keep::of(session, &self.bytes);
                save(path, &self.bytes, flag, keep)?;
                let size = counted(self.bytes.len(), "byte");
                printer.notice(&format!(
                    "{size} written to {}{}",
                    path.display(),
                    keep.remark()
                ));
            }
            None if printer.is_human() => {
                if !self.is_text && printer.data_is_seen() {
                    let message = format!("{name:?} is not text");
                    return Err(Problem::invalid(flag, "text", message)
                        .next(format!("{command} --{flag} FILE")));
                }
                printer.raw_bytes(&self.bytes);
            }
            None => {}
        }
        Ok(())
    }
}

/// Who may read a file that is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Those whom the user's mask lets.
    Shared,
    /// Its owner alone: it holds secrets, or may.
    Private,
}

impl Keep {
    /// Private where the bytes hold what looks like a secret.
    pub(super) fn of(session: &Session, bytes: &[u8]) -> Self {
        match session.engine().redactor.finds_in(bytes) {
            true => Self::Private,
            false => Self::Shared,
        }
    }

    pub(super) const fn access(self) -> Access {
        match self {
            Self::Shared => Access::Usual,
            Self::Private => Access::Private,
        }
    }

    /// What is said about the file.
    pub(super) const fn remark(self) -> &'static str {
        match self {
            Self::Shared => "",
            Self::Private => "; it may hold secrets, so only you can read it (mode 0600)",
        }
    }
}

/// Writes a file a user asked for with a flag.
pub(super) fn save(path: &Path, bytes: &[u8], flag: &str, keep: Keep) -> Result<(), Problem> {
    write_named(path, bytes, keep.access()).map_err(|error| {
        error.into_problem(|error| {
            let message = format!("the file cannot be written: {error}");
            Problem::invalid(flag, "writable", message)
        })
    })
}
