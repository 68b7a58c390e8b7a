//! What rendering works from: values and two questions it may ask others.

use std::path::{Path, PathBuf};

use windlass_pack_model::{
    GitSource, HashCache, Lockfile, Manifest, Project, Target, home::expand_home,
};
use windlass_types::Problem;

/// Everything a rendering depends on, besides the files of the repository.
#[derive(Clone, Copy)]
pub struct RenderInput<'a> {
    /// The config repository.
    pub repo: &'a Path,
    /// Its manifest.
    pub manifest: &'a Manifest,
    /// Which profile selects the modules.
    pub profile: &'a str,
    /// One target, or all that the manifest names.
    pub target: Option<Target>,
    /// Whose machine overlays apply.
    pub machine_id: &'a str,
    /// Whose project overlays apply and whose directories are written; a server may have none.
    pub project: Option<&'a Project>,
    /// Directories of the user.
    pub places: &'a Places,
    /// Where git sources are checked out.
    pub checkouts: &'a dyn Checkouts,
    /// Which commits are meant.
    pub lockfile: Option<&'a Lockfile>,
    /// Digests that are known already.
    pub hashes: &'a dyn HashCache,
}

/// Directories of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The home directory.
    pub home_dir: PathBuf,
    /// `CODEX_HOME` from the environment; beats the option of the manifest. Empty counts as
    /// absent.
    pub codex_home: Option<PathBuf>,
}

impl Places {
    /// A path as written in a manifest or the environment: a leading `~/` means the home
    /// directory.
    pub fn expand(&self, path: &str) -> PathBuf {
        expand_home(path, &self.home_dir)
    }
}

/// Checked-out git sources.
pub trait Checkouts: Sync {
    /// The directory with a source's files, at the locked commit, or at the one its reference
    /// means now. Clones it when it is absent. The module's id finds checkouts that older
    /// versions filed under it.
    fn checkout(
        &self,
        module_id: &str,
        source: &GitSource,
        locked_commit: Option<&str>,
    ) -> Result<PathBuf, Problem>;
}
