//! Where symbolic links may lead: nowhere outside the repository, unless the manifest says so.
//!
//! Answers questions about paths; walking is `walk`'s work.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Mutex,
};

use windlass_pack_model::fault;
use windlass_types::Problem;

/// The directories a link may lead into.
#[derive(Debug)]
pub(crate) struct Fence {
    /// Real paths.
    inside: Vec<PathBuf>,
    allow_external: bool,
}

impl Fence {
    pub(crate) fn new(inside: Vec<PathBuf>, allow_external: bool) -> Self {
        Self {
            inside,
            allow_external,
        }
    }

    /// Whether a link may lead to a real path; the refusal names the link.
    pub(crate) fn admit(&self, link: &Path, target: &Path) -> Result<(), Problem> {
        let Some(root) = self.inside.iter().find(|root| target.starts_with(root)) else {
            if self.allow_external {
                return Ok(());
            }
            return Err(refuse(
                link,
                target,
                format!(
                    "symbolic link {} leads out of the repository, to {}",
                    link.display(),
                    target.display()
                ),
            )
            .with(
                "hint",
                "copy the file into the module, or set allow_external_symlinks: true in agentpack.yaml",
            ));
        };
        let below = target.strip_prefix(root).unwrap_or(target);
        if below
            .components()
            .any(|part| part.as_os_str() == ".git" || part.as_os_str() == ".agentpack")
        {
            return Err(refuse(
                link,
                target,
                format!(
                    "symbolic link {} leads into {}, which is never copied",
                    link.display(),
                    target.display()
                ),
            ));
        }
        Ok(())
    }
}

/// `E_CONFIG_INVALID` for a link.
pub(crate) fn refuse(link: &Path, target: &Path, message: String) -> Problem {
    fault::config_invalid(message)
        .with("path", link.display().to_string())
        .with("link_target", target.display().to_string())
}

/// Real paths of the directories modules lie in. Many modules share few, so each is resolved
/// once.
#[derive(Debug, Default)]
pub(crate) struct RealParents(Mutex<HashMap<PathBuf, PathBuf>>);

impl RealParents {
    /// The path with every link above its last component resolved.
    pub(crate) fn resolve(&self, path: &Path) -> std::io::Result<PathBuf> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return std::fs::canonicalize(path);
        };
        let mut known = match self.0.lock() {
            Ok(known) => known,
            // A map of answers is as good after a panic as before it.
            Err(poisoned) => poisoned.into_inner(),
        };
        if let Some(real) = known.get(parent) {
            return Ok(real.join(name));
        }
        let real = std::fs::canonicalize(parent)?;
        let resolved = real.join(name);
        known.insert(parent.to_owned(), real);
        Ok(resolved)
    }
}
