//! The bundler of JavaScript and TypeScript that Windlass brings: one pinned version, fetched once.
//!
//! Calls block and may reach a package registry: the caller has a thread for them. Not here: what
//! is bundled, and how.

use std::{fmt, path::PathBuf};

/// Where the bundler comes from.
pub trait Bundler: fmt::Debug + Send + Sync {
    /// The esbuild program. Fetched first where it is not there yet, which `progress` is told.
    fn esbuild(&self, progress: &dyn Fn(&str)) -> Result<PathBuf, BundlerUnavailable>;

    /// What bundling with decorator metadata needs, by the same rules.
    fn decorators(&self, progress: &dyn Fn(&str)) -> Result<DecoratorTools, BundlerUnavailable>;

    /// What a bundle depends on: another text, another bundler. Nothing is fetched for it.
    fn identity(&self) -> String;
}

/// esbuild cannot write decorator metadata; the TypeScript compiler does, file by file, and both
/// run in Node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecoratorTools {
    /// The esbuild program.
    pub esbuild: PathBuf,
    /// Its interface for Node, of the same version.
    pub interface: PathBuf,
    /// The TypeScript compiler as one file.
    pub typescript: PathBuf,
}

/// Why there is no bundler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct BundlerUnavailable {
    /// What happened, as a sentence without its end.
    pub cause: String,
    /// What to do.
    pub next: Vec<String>,
    /// Whether the settings forbid to fetch it, as opposed to an attempt that failed.
    pub is_forbidden: bool,
}
