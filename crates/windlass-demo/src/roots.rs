//! The directories that callers from elsewhere may name.
//!
//! A plan tells the digest of a file before it is changed, so a caller who may plan in a directory may
//! guess the content of its files. The local user can read them anyway; the holder of a key gets
//! what the installation allows.

use std::path::{Component, Path, PathBuf};

use windlass_types::{Principal, PrincipalKind, Problem, code};

/// What the installation allows.
#[derive(Clone, Debug)]
pub struct Roots {
    /// Directories that may be named, with what is below them.
    pub allowed: Vec<PathBuf>,
    /// A directory that may not, wherever it is: the home with its keys.
    pub home: PathBuf,
}

impl Roots {
    /// Refuses a directory, by its path without symbolic links, that this caller may not name.
    pub(crate) fn check(&self, principal: &Principal, directory: &str) -> Result<(), Problem> {
        if principal.kind != PrincipalKind::Key {
            return Ok(());
        }
        let directory = Path::new(directory);
        let is_within = |root: &PathBuf| {
            let root = root.canonicalize();
            root.is_ok_and(|root| directory.starts_with(root))
        };
        let climbs = directory
            .components()
            .any(|part| part == Component::ParentDir);
        if !climbs && self.allowed.iter().any(is_within) && !is_within(&self.home) {
            return Ok(());
        }
        Err(Problem::new(
            &code::FORBIDDEN,
            format!(
                "{principal} may not work in {directory:?}: it is in none of the directories this \
                 installation allows to callers with a key"
            ),
        )
        .with("field", "dir")
        .with("setting", "server.roots")
        .next("add the directory to server.roots in config.toml"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_works_in_allowed_directories_only() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        for name in ["scratch/deep", "scratch-2", "scratch/home", "other"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        let roots = Roots {
            allowed: vec![root.join("scratch"), root.join("missing")],
            home: root.join("scratch/home"),
        };
        let key = Principal::key("key_1", Vec::new());
        for (name, allowed) in [
            ("scratch", true),
            ("scratch/deep", true),
            ("scratch-2", false),
            ("scratch/home", false),
            ("other", false),
        ] {
            let directory = root.join(name);
            let directory = directory.to_str().unwrap();
            let checked = roots.check(&key, directory);
            assert_eq!(checked.is_ok(), allowed, "{name}");
            assert!(roots.check(&Principal::local("ada"), directory).is_ok());
            if let Err(problem) = checked {
                assert_eq!(problem.code(), &code::FORBIDDEN);
                assert!(problem.message().contains(directory), "{problem}");
            }
        }
    }
}
