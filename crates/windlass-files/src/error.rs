//! Why a file was not written, with the path that is in the way.

use std::{
    io,
    path::{Path, PathBuf},
};

use windlass_types::{Problem, code};

/// Why a file or directory was not touched.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A component is a symbolic link.
    #[error(
        "{} is a symbolic link that leads to {}, so nothing is written through it. Remove the link, or name the directory it leads to",
        path.display(),
        leads_to.display()
    )]
    Link {
        /// The link.
        path: PathBuf,
        /// Where it leads, as far as that can be known.
        leads_to: PathBuf,
    },
    /// A path is absolute, empty or has `..`.
    #[error("{:?} would leave the directory, so it is not written", path.display())]
    Leaves {
        /// The path.
        path: PathBuf,
    },
    /// Something that is not a regular file is where one is to be written or read.
    #[error("{} is not a regular file. Move it away, or choose another name", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// Something that is not a directory is in the way.
    #[error("{} is not a directory. Move it away, or choose another name", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{verb} {}: {source}", path.display())]
    Io {
        /// What was to be done.
        verb: &'static str,
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl FileError {
    pub(crate) fn io(verb: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io {
            verb,
            path: path.to_owned(),
            source: source.into(),
        }
    }

    /// The path that is in the way.
    pub fn path(&self) -> &Path {
        match self {
            Self::Link { path, .. }
            | Self::Leaves { path }
            | Self::NotAFile { path }
            | Self::NotADirectory { path }
            | Self::Io { path, .. } => path,
        }
    }

    /// The kind of the system's refusal; none when the refusal is this crate's.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Io { source, .. } => Some(source.kind()),
            _ => None,
        }
    }

    /// The same as a problem, where it is not an error of the system: a link, a path that leaves,
    /// something in the way. Callers name system errors after what they were doing.
    pub fn into_refusal(self) -> Result<Problem, io::Error> {
        match self {
            Self::Io { .. } => Err(self.into()),
            Self::Link {
                ref path,
                ref leads_to,
            } => Ok(Problem::new(&code::PATH_ESCAPE, self.to_string())
                .with("path", path.display().to_string())
                .with("link_target", leads_to.display().to_string())),
            Self::Leaves { ref path }
            | Self::NotAFile { ref path }
            | Self::NotADirectory { ref path } => {
                Ok(Problem::new(&code::PATH_ESCAPE, self.to_string())
                    .with("path", path.display().to_string()))
            }
        }
    }

    /// The same as a problem; `io` makes one of a system error.
    pub fn into_problem(self, io: impl FnOnce(io::Error) -> Problem) -> Problem {
        self.into_refusal().unwrap_or_else(io)
    }
}

impl FileError {
    /// The system's own error; a refusal of this crate as one that says why.
    pub fn into_source(self) -> io::Error {
        match self {
            Self::Io { source, .. } => source,
            refusal => refusal.into(),
        }
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        let kind = match &error {
            FileError::Io { source, .. } => source.kind(),
            FileError::NotADirectory { .. } => io::ErrorKind::NotADirectory,
            _ => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}
