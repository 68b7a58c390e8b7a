//! The bundler behind the `Bundler` port: esbuild, and for decorator metadata the TypeScript
//! compiler, each in one pinned version.
//!
//! The first use fetches a package from the user's npm registry. What arrives has to have the
//! SHA-512 that is pinned here, and every file that is kept the SHA-256, also each time a process
//! uses it first: neither a registry, nor a mirror, nor a damaged disk decides what runs. Nothing
//! of a project is run or read for it, its `.npmrc` included. Not here: what is bundled, and how.

mod download;
mod registry;
mod release;
mod source;
mod tarball;

pub use registry::Registry;
pub use release::{ESBUILD, Package, PackedFile, Release, TYPESCRIPT};
pub use source::{BundlerOptions, PinnedBundler};
