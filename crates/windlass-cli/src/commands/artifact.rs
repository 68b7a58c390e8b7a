//! Bytes of an artifact, written to a file, a pipe or a terminal.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use windlass_types::Problem;

use crate::output::{Printer, counted};

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
        printer: &Printer,
        name: &str,
        file: Option<&Path>,
        (flag, command): (&str, &str),
    ) -> Result<(), Problem> {
        match file {
            Some(path) => {
                save(path, &self.bytes, flag)?;
                let size = counted(self.bytes.len(), "byte");
                printer.notice(&format!("{size} written to {}", path.display()));
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

/// Writes a file a user asked for with a flag.
pub(super) fn save(path: &Path, bytes: &[u8], flag: &str) -> Result<(), Problem> {
    fs_err::write(path, bytes).map_err(|error| {
        let message = format!("the file cannot be written: {error}");
        Problem::invalid(flag, "writable", message)
    })
}
