//! Where modules come from: source specs on the command line, the rules for git addresses and
//! local paths, and the id a module gets when none is given.

use crate::{GitSource, ModuleType, RelPath, Source, fault, path::PathError, suggest};
use windlass_types::Problem;

/// Why a source is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// Neither `local:` nor `git:`.
    #[error(
        "{0:?} is not a source: write local:<path> or git:<url>[#ref=<ref>&subdir=<dir>&shallow=<true|false>]"
    )]
    Unknown(String),
    /// Something behind `#` that is not understood.
    #[error("{part:?} in the source is not recognised{hint}")]
    Option {
        /// The part.
        part: String,
        /// What may have been meant.
        hint: String,
    },
    /// A git address that is not used.
    #[error("the git address {url:?} {reason}")]
    Url {
        /// The address.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A git reference that is not used.
    #[error("the git reference {reference:?} {reason}")]
    Reference {
        /// The reference.
        reference: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A directory inside a git repository that is not inside.
    #[error("the subdir is not usable: {0}")]
    Subdir(#[from] PathError),
    /// A local path that leaves the repository.
    #[error("the path {path:?} {reason}; allow it with --allow-outside")]
    Outside {
        /// The path.
        path: String,
        /// How it leaves.
        reason: &'static str,
    },
}

impl From<SourceError> for Problem {
    fn from(error: SourceError) -> Self {
        let message = error.to_string();
        match error {
            SourceError::Unknown(_) | SourceError::Option { .. } => {
                fault::unexpected("invalid_arguments", &["retry_command"], message)
            }
            _ => fault::config_invalid(message),
        }
    }
}

/// Whether local paths may leave the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutsidePaths {
    /// They are refused.
    Refuse,
    /// They are taken (`--allow-outside`).
    Allow,
}

/// Reads a source spec: `local:<path>` or `git:<url>[#ref=…&subdir=…&shallow=…]`.
pub fn parse_source(spec: &str, outside: OutsidePaths) -> Result<Source, SourceError> {
    if let Some(path) = spec.strip_prefix("local:") {
        if path.is_empty() || path.contains('\0') {
            return Err(SourceError::Unknown(spec.to_owned()));
        }
        if outside == OutsidePaths::Refuse
            && let Some(reason) = leaves_repository(path)
        {
            return Err(SourceError::Outside {
                path: path.to_owned(),
                reason,
            });
        }
        return Ok(Source::LocalPath {
            path: path.to_owned(),
        });
    }
    let Some(rest) = spec.strip_prefix("git:") else {
        return Err(SourceError::Unknown(spec.to_owned()));
    };
    let (url, options) = rest.split_once('#').unwrap_or((rest, ""));
    let mut git = GitSource {
        url: url.to_owned(),
        reference: GitSource::DEFAULT_REFERENCE.to_owned(),
        subdir: String::new(),
        shallow: true,
    };
    for part in options.split('&').filter(|part| !part.trim().is_empty()) {
        match part.split_once('=') {
            Some(("ref", value)) => git.reference = value.to_owned(),
            Some(("subdir", value)) => git.subdir = value.to_owned(),
            Some(("shallow", value)) => git.shallow = matches!(value, "true" | "1"),
            other => {
                let key = other.map_or(part, |(key, _)| key);
                return Err(SourceError::Option {
                    part: part.to_owned(),
                    hint: suggest::hint(key, ["ref", "subdir", "shallow"]),
                });
            }
        }
    }
    check_git_url(&git.url)?;
    check_git_reference(&git.reference)?;
    git.subdir_path()?;
    Ok(Source::Git(git))
}

/// Only https, ssh, git, file and scp-like addresses are handed to git, and none that git could
/// take for an option or another transport.
pub fn check_git_url(url: &str) -> Result<(), SourceError> {
    let refuse = |reason| {
        Err(SourceError::Url {
            url: url.to_owned(),
            reason,
        })
    };
    if url.is_empty() {
        return refuse("is empty");
    }
    if url.starts_with('-') {
        return refuse("starts with a dash, which git would take for an option");
    }
    if url.chars().any(|part| part.is_control() || part == ' ') {
        return refuse("contains spaces or control characters");
    }
    if let Some((scheme, rest)) = url.split_once("://") {
        if !matches!(
            scheme.to_ascii_lowercase().as_str(),
            "https" | "ssh" | "git" | "file"
        ) {
            return refuse("has a scheme that is not used; https, ssh, git and file are");
        }
        // `ssh://-oProxyCommand=…` reaches ssh as an option.
        if rest.starts_with('-') || rest.contains("@-") {
            return refuse("has a host that starts with a dash");
        }
        return if rest.is_empty() {
            refuse("names no repository")
        } else {
            Ok(())
        };
    }
    // `host:path` or `user@host:path`; `helper::address` would start a remote helper.
    match url.split_once(':') {
        Some((host, path))
            if !host.is_empty()
                && !host.contains('/')
                && !path.is_empty()
                && !path.starts_with(':') =>
        {
            if host.contains("@-") || host.ends_with('@') {
                return refuse("has a host that starts with a dash or is empty");
            }
            Ok(())
        }
        _ => refuse("is neither https://, ssh://, git://, file:// nor host:path"),
    }
}

/// A reference that git cannot take for an option or a pattern.
pub fn check_git_reference(reference: &str) -> Result<(), SourceError> {
    let reason = if reference.is_empty() {
        "is empty"
    } else if reference.starts_with('-') {
        "starts with a dash, which git would take for an option"
    } else if reference.contains("..")
        || reference
            .chars()
            .any(|part| part.is_control() || " ~^:?*[\\".contains(part))
    {
        "has characters a git reference cannot have"
    } else {
        return Ok(());
    };
    Err(SourceError::Reference {
        reference: reference.to_owned(),
        reason,
    })
}

/// How a local path leaves the repository, if it does. Windows forms count everywhere, so that
/// a repository means the same on every machine.
pub fn leaves_repository(path: &str) -> Option<&'static str> {
    let drive = path.as_bytes().get(1) == Some(&b':')
        && path.as_bytes()[0].is_ascii_alphabetic()
        && matches!(path.as_bytes().get(2), Some(b'/' | b'\\'));
    if path.starts_with(['/', '\\']) || drive {
        Some("is absolute")
    } else if path.split(['/', '\\']).any(|part| part == "..") {
        Some("goes up with ..")
    } else {
        None
    }
}

impl GitSource {
    /// The directory inside the repository; none for its root. `./` and a slash at the end are
    /// taken away.
    pub fn subdir_path(&self) -> Result<Option<RelPath>, PathError> {
        let subdir = self.subdir.trim();
        let parts: Vec<&str> = subdir
            .trim_end_matches('/')
            .split('/')
            .filter(|part| *part != ".")
            .collect();
        let cleaned = parts.join("/");
        if cleaned.is_empty() && !subdir.starts_with('/') {
            return Ok(None);
        }
        RelPath::new(cleaned).map(Some).map_err(|error| PathError {
            path: self.subdir.clone(),
            reason: error.reason,
        })
    }
}

/// The id of a module added without one: `<type>:<name>`.
pub fn default_module_id(module_type: ModuleType, source: &Source) -> String {
    let name = match source {
        Source::LocalPath { path } => {
            let path = std::path::Path::new(path);
            path.file_stem()
                .and_then(|stem| stem.to_str())
                .unwrap_or("module")
        }
        Source::Git(git) if !git.subdir.is_empty() => {
            let last = git.subdir.trim_end_matches('/').rsplit('/').next();
            last.filter(|name| !name.is_empty()).unwrap_or("module")
        }
        Source::Git(git) => {
            let last = git.url.rsplit('/').next().unwrap_or(&git.url);
            last.trim_end_matches(".git")
        }
    };
    format!("{module_type}:{name}")
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
