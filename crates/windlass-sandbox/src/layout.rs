//! What a confined program sees as its files, as a list of mounts in order. Pure: what exists is
//! looked up by the caller (`prepare`).

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// One step. Paths are absolute and hold no symbolic links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mount {
    /// The same path as outside.
    Same {
        /// Where.
        path: PathBuf,
        /// Whether it may be changed there.
        writable: bool,
    },
    /// An empty directory in memory.
    Memory {
        /// Where.
        path: PathBuf,
        /// How much fits, in bytes.
        size: Option<u64>,
    },
    /// A link, as outside.
    Link {
        /// Where.
        path: PathBuf,
        /// What it says.
        target: PathBuf,
    },
    /// Processes of the sandbox, at `/proc`.
    Processes,
    /// A few devices, at `/dev`.
    Devices,
    /// Nothing can be read there.
    HiddenFolder(PathBuf),
    /// The same for a file.
    HiddenFile(PathBuf),
}

/// What exists outside, as far as it matters.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// Read roots, without links.
    pub read: Vec<PathBuf>,
    /// Links by which read roots are known, and what they say.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Write roots.
    pub write: Vec<PathBuf>,
    /// Folders that may not be read.
    pub hidden_folders: Vec<PathBuf>,
    /// Files and sockets that may not be read.
    pub hidden_files: Vec<PathBuf>,
    /// Protected paths, which exist by the time of mounting.
    pub protected: Vec<PathBuf>,
    /// How large the temporary directory may become.
    pub temporary: Option<u64>,
}

/// Memory that programs expect to share; the sandbox has its own.
const PRIVATE: [&str; 3] = ["/tmp", "/var/tmp", "/run"];

/// The mounts. Later ones are on top of earlier ones, so what is hidden or protected comes last.
pub fn plan(outside: &Outside) -> Vec<Mount> {
    let mut mounts = Vec::new();
    let whole = outside.read.iter().any(|root| root == Path::new("/"));
    let same = |path: &PathBuf, writable| Mount::Same {
        path: path.clone(),
        writable,
    };
    if whole {
        mounts.push(same(&PathBuf::from("/"), false));
    }
    for path in PRIVATE {
        mounts.push(Mount::Memory {
            path: path.into(),
            size: outside.temporary,
        });
    }
    mounts.extend([Mount::Processes, Mount::Devices]);
    let mut roots: Vec<(&PathBuf, bool)> = outside
        .read
        .iter()
        .filter(|root| root.as_path() != Path::new("/"))
        // Part of the whole, unless one of the private directories is over it.
        .filter(|root| !whole || PRIVATE.iter().any(|private| root.starts_with(private)))
        .filter(|root| !root.starts_with("/proc") && !root.starts_with("/dev"))
        .map(|root| (root, false))
        .chain(outside.write.iter().map(|root| (root, true)))
        .collect();
    // Parents first: a write root inside a read root is on top of it, and the other way round.
    roots.sort();
    roots.dedup_by(|later, earlier| {
        let repeated = later.0 == earlier.0;
        earlier.1 |= repeated && later.1;
        repeated
    });
    mounts.extend(
        roots
            .into_iter()
            .map(|(path, writable)| same(path, writable)),
    );
    for (path, target) in outside.links.iter().filter(|_| !whole) {
        mounts.push(Mount::Link {
            path: path.clone(),
            target: target.clone(),
        });
    }
    mounts.extend(pinned(outside).iter().map(|path| same(path, true)));
    mounts.extend(outside.protected.iter().map(|path| same(path, false)));
    let folders = outside.hidden_folders.iter().cloned();
    mounts.extend(folders.map(Mount::HiddenFolder));
    let files = outside.hidden_files.iter().cloned();
    mounts.extend(files.map(Mount::HiddenFile));
    mounts
}

/// Whether a path is seen in the sandbox: through a root of its own, or as part of the whole where
/// no private directory is over it.
pub fn shows(roots: &[PathBuf], path: &Path) -> bool {
    let is_private = ["/proc", "/dev"]
        .iter()
        .chain(&PRIVATE)
        .any(|own| path.starts_with(own));
    roots
        .iter()
        .any(|root| path.starts_with(root) && (!is_private || root != Path::new("/")))
}

/// The folders between a write root and what is protected below it. A mount point cannot be
/// renamed, so nobody can move such a folder away and put another in its place.
fn pinned(outside: &Outside) -> Vec<PathBuf> {
    let mut pinned = Vec::new();
    let kept = outside.protected.iter();
    let hidden = outside.hidden_folders.iter().chain(&outside.hidden_files);
    for path in kept.chain(hidden) {
        for root in &outside.write {
            let between = path.ancestors().skip(1);
            pinned.extend(
                between
                    .take_while(|above| above.starts_with(root) && *above != root)
                    .map(Path::to_path_buf),
            );
        }
    }
    pinned.sort();
    pinned.dedup();
    pinned
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(outside: &Outside) -> String {
        let lines = plan(outside).into_iter().map(|mount| match mount {
            Mount::Same { path, writable } => {
                format!(
                    "{} {}\n",
                    if writable { "rw" } else { "ro" },
                    path.display()
                )
            }
            Mount::Memory { path, .. } => format!("mem {}\n", path.display()),
            Mount::Link { path, target } => {
                format!("link {} -> {}\n", path.display(), target.display())
            }
            Mount::Processes => "proc\n".to_owned(),
            Mount::Devices => "dev\n".to_owned(),
            Mount::HiddenFolder(path) | Mount::HiddenFile(path) => {
                format!("hide {}\n", path.display())
            }
        });
        lines.collect()
    }

    #[test]
    fn the_whole_system_with_a_project() {
        let outside = Outside {
            read: vec!["/".into(), "/tmp/given".into(), "/usr".into()],
            write: vec!["/home/ada/shop".into()],
            hidden_folders: vec!["/home/ada/.ssh".into()],
            protected: vec!["/home/ada/shop/.git/hooks".into()],
            ..Outside::default()
        };
        insta::assert_snapshot!(shown(&outside), @r"
        ro /
        mem /tmp
        mem /var/tmp
        mem /run
        proc
        dev
        rw /home/ada/shop
        ro /tmp/given
        rw /home/ada/shop/.git
        ro /home/ada/shop/.git/hooks
        hide /home/ada/.ssh
        ");
    }

    #[test]
    fn named_roots_only() {
        let outside = Outside {
            read: vec!["/usr".into(), "/srv/a".into(), "/srv/a/b/c".into()],
            links: vec![("/bin".into(), "usr/bin".into())],
            write: vec!["/srv/a/b".into(), "/usr".into()],
            hidden_files: vec!["/srv/a/b/.env".into()],
            ..Outside::default()
        };
        insta::assert_snapshot!(shown(&outside), @r"
        mem /tmp
        mem /var/tmp
        mem /run
        proc
        dev
        ro /srv/a
        rw /srv/a/b
        ro /srv/a/b/c
        rw /usr
        link /bin -> usr/bin
        hide /srv/a/b/.env
        ");
    }
}
