//! The directories that callers from elsewhere may name.
//!
//! The local user can read and write what they name anyway; the holder of a key gets what the
//! installation allows. Every operation that takes a directory has it checked here, before the call
//! does anything: by `Operation::places`, or by `CallContext::require_place` where the directory is
//! known later. The home of the installation is no place for anyone's results.

use std::path::{Component, Path, PathBuf};

use windlass_types::{Principal, PrincipalKind, Problem, code};

/// What the installation allows; everything, unless told otherwise.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    /// Directories that callers with a key may name, with what is below them; all where absent.
    pub allowed: Option<Vec<PathBuf>>,
    /// A directory that they may not, wherever it is: the home with its keys.
    pub home: Option<PathBuf>,
}

impl Roots {
    /// Refuses a file or directory that this caller may not name. It need not exist.
    pub fn check(&self, principal: &Principal, path: &Path) -> Result<(), Problem> {
        if principal.kind != PrincipalKind::Key || self.allows(path) {
            return Ok(());
        }
        Err(Problem::new(
            &code::FORBIDDEN,
            format!(
                "{principal} may not work in {:?}: it is in none of the directories this \
                 installation allows to callers with a key",
                path.display().to_string()
            ),
        )
        .with("setting", "server.roots")
        .next("add the directory to server.roots in config.toml"))
    }

    /// Whether a caller with a key may name it.
    pub fn allows(&self, path: &Path) -> bool {
        let Some(allowed) = &self.allowed else {
            return true;
        };
        resolved(path).is_some_and(|real| {
            allowed.iter().any(|root| is_within(&real, root)) && !self.is_in_home(&real)
        })
    }

    /// Refuses a place for a result inside the home, no matter who asks. A link that leads nowhere is
    /// left to the writer, which follows none.
    pub fn check_result(&self, path: &Path) -> Result<(), Problem> {
        let is_elsewhere =
            parts(path).is_some_and(|(_, real, rest)| !self.is_in_home(&real) && is_plain(&rest));
        if is_elsewhere {
            return Ok(());
        }
        Err(Problem::new(
            &code::FORBIDDEN,
            format!(
                "{:?} is inside the home of this installation, where only Windlass writes",
                path.display().to_string()
            ),
        )
        .next("name another file"))
    }

    fn is_in_home(&self, real: &Path) -> bool {
        self.home.as_ref().is_some_and(|home| is_within(real, home))
    }
}

/// Whether a file or directory, which need not exist, is below a directory, whatever links lead
/// there.
pub fn is_below(path: &Path, directory: &Path) -> bool {
    resolved(path).is_some_and(|real| is_within(&real, directory))
}

fn is_within(real: &Path, root: &Path) -> bool {
    root.canonicalize().is_ok_and(|root| real.starts_with(root))
}

/// The path without links, as far as it exists; none where the rest could lead anywhere.
fn resolved(path: &Path) -> Option<PathBuf> {
    let (there, real, rest) = parts(path)?;
    // A link that leads nowhere yet is there, and what is written would follow it.
    let next = rest.components().next().map(|first| there.join(first));
    let is_dangling = next.is_some_and(|next| next.symlink_metadata().is_ok());
    (is_plain(&rest) && !is_dangling).then(|| real.join(rest))
}

/// What of a path exists, where that really is, and the rest.
fn parts(path: &Path) -> Option<(PathBuf, PathBuf, PathBuf)> {
    let path = std::path::absolute(path).ok()?;
    let (there, real) = path
        .ancestors()
        .find_map(|there| Some((there, there.canonicalize().ok()?)))?;
    let rest = path.strip_prefix(there).ok()?;
    Some((there.to_owned(), real, rest.to_owned()))
}

fn is_plain(rest: &Path) -> bool {
    rest.components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_key_works_in_allowed_directories_only() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        for name in ["scratch/deep", "scratch-2", "scratch/home", "other"] {
            fs_err::create_dir_all(root.join(name)).unwrap();
        }
        symlink(root.join("other"), root.join("scratch/out")).unwrap();
        symlink(root.join("other/later"), root.join("scratch/later")).unwrap();
        symlink(root.join("scratch/deep"), root.join("in")).unwrap();
        let roots = Roots {
            allowed: Some(vec![root.join("scratch"), root.join("missing")]),
            home: Some(root.join("scratch/home")),
        };
        let key = Principal::key("key_1", Vec::new());
        for (name, allowed) in [
            ("scratch", true),
            ("scratch/deep", true),
            ("scratch/deep/new/file.json", true),
            ("scratch/deep/../deep", true),
            ("in", true),
            ("scratch-2", false),
            ("scratch/home", false),
            ("scratch/home/keys", false),
            ("scratch/../other", false),
            ("scratch/none/../../other", false),
            ("scratch/out", false),
            ("scratch/out/new", false),
            ("scratch/later", false),
            ("scratch/later/new", false),
            ("other", false),
        ] {
            let directory = root.join(name);
            let checked = roots.check(&key, &directory);
            assert_eq!(checked.is_ok(), allowed, "{name}");
            assert!(roots.check(&Principal::local("ada"), &directory).is_ok());
            assert!(Roots::default().check(&key, &directory).is_ok());
            if let Err(problem) = checked {
                assert_eq!(problem.code(), &code::FORBIDDEN);
                let text = directory.to_str().unwrap();
                assert!(problem.message().contains(text), "{problem}");
            }
        }
        for (name, allowed) in [
            ("scratch/out.json", true),
            ("other/out.json", true),
            ("scratch/home/policy.toml", false),
            ("scratch/home/new/out.json", false),
            ("scratch/home/new/../policy.toml", false),
            ("other/new/../../scratch/home/policy.toml", false),
            // The link leads nowhere: the writer refuses it by name.
            ("scratch/later", true),
        ] {
            let checked = roots.check_result(&root.join(name));
            assert_eq!(checked.is_ok(), allowed, "{name}");
        }
    }
}
