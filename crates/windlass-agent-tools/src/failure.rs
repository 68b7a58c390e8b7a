//! Why a call failed: a code that models and programs know, and a sentence.

use std::io;

use serde::{Deserialize, Serialize};
use windlass_files::FileError;

macro_rules! codes {
    ($($name:ident = $text:literal),* $(,)?) => {
        /// What kind of failure it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Code {
            $(#[doc = $text] #[serde(rename = $text)] $name),*
        }

        impl Code {
            /// The code as models see it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

codes! {
    CommandFailed = "COMMAND_FAILED",
    CommandError = "COMMAND_ERROR",
    CommandCancelled = "COMMAND_CANCELLED",
    CommandTimedOut = "COMMAND_TIMED_OUT",
    FileExists = "FILE_EXISTS",
    FileNotFound = "FILE_NOT_FOUND",
    PathNotFound = "PATH_NOT_FOUND",
    InvalidPath = "INVALID_PATH",
    StringNotFound = "STRING_NOT_FOUND",
    StringNotUnique = "STRING_NOT_UNIQUE",
    OldStrNewStrIdentical = "OLD_STR_NEW_STR_IDENTICAL",
    ReadError = "READ_ERROR",
    WriteError = "WRITE_ERROR",
    CreateError = "CREATE_ERROR",
    BackupError = "BACKUP_ERROR",
    InvalidRegex = "INVALID_REGEX",
    InvalidGlob = "INVALID_GLOB",
    GrepError = "GREP_ERROR",
    InvalidRemoteConnection = "INVALID_REMOTE_CONNECTION",
    InsecureUrl = "INSECURE_URL",
    InvalidUrl = "INVALID_URL",
    HttpError = "HTTP_ERROR",
    TaskNotFound = "TASK_NOT_FOUND",
    InteractiveRequired = "INTERACTIVE_REQUIRED",
    LoadSkillError = "LOAD_SKILL_ERROR",
    SearchDocsError = "SEARCH_DOCS_ERROR",
    InvalidArguments = "INVALID_ARGUMENTS",
}

/// A call that failed. Nothing was changed, unless the outcome lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind.
    pub code: Code,
    /// What happened, and what to do instead.
    pub message: String,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// The failure of a file operation; what the path itself is to blame for has codes of its own.
    pub(crate) fn of_file(error: FileError, otherwise: Code) -> Self {
        match &error {
            FileError::Link { path, leads_to } => Self::new(
                Code::InvalidPath,
                format!(
                    "{} is a symbolic link that leads to {}. Links are not followed: name that \
                     path instead, if it is inside the work tree.",
                    path.display(),
                    leads_to.display()
                ),
            ),
            FileError::Leaves { .. }
            | FileError::NotAFile { .. }
            | FileError::NotADirectory { .. } => Self::new(Code::InvalidPath, error.to_string()),
            FileError::Io { path, .. } => match error.io_kind() {
                Some(io::ErrorKind::NotFound) => Self::new(
                    Code::PathNotFound,
                    format!("{} does not exist.", path.display()),
                ),
                Some(io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename) => {
                    Self::new(Code::InvalidPath, error.to_string())
                }
                _ => Self::new(otherwise, error.to_string()),
            },
        }
    }
}
