//! The layout of `$AGENTPACK_HOME`. Names paths; touches none.

use std::path::{Path, PathBuf};

use windlass_types::Digest;

use crate::{Target, fault, module_id};

/// The pack home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackHome {
    root: PathBuf,
}

impl PackHome {
    /// The home at a directory.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The configuration repository unless another is named.
    pub fn default_repo(&self) -> PathBuf {
        self.root.join("repo")
    }

    /// The checkout of a commit of a git repository.
    pub fn checkout(&self, url: &str, commit: &str) -> PathBuf {
        let key = Digest::of(url.as_bytes()).to_string();
        self.checkouts().join(key).join(commit)
    }

    /// Where older versions kept that checkout, by module; found there, it is renamed into
    /// place.
    pub fn older_checkouts(&self, module_id: &str, commit: &str) -> Vec<PathBuf> {
        module_id::checkout_keys(module_id)
            .into_iter()
            .map(|key| self.checkouts().join(key).join(commit))
            .collect()
    }

    /// All checkouts.
    pub fn checkouts(&self) -> PathBuf {
        self.root.join("cache/git")
    }

    /// The digests of files by what `stat` says about them.
    pub fn stat_cache(&self) -> PathBuf {
        self.root.join("cache/stat")
    }

    /// Everything pack remembers.
    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// The snapshots.
    pub fn snapshots(&self) -> PathBuf {
        self.root.join("state/snapshots")
    }

    /// The record of one snapshot.
    pub fn snapshot_file(&self, id: &str) -> PathBuf {
        self.snapshots().join(format!("{id}.json"))
    }

    /// The pre-image of a path in a snapshot of agentpack.
    pub fn v1_backup(&self, id: &str, target: Target, path: &Path) -> PathBuf {
        self.v1_image(id, "backup", target, &path.to_string_lossy())
    }

    /// The post-image of a path in a snapshot of agentpack.
    pub fn v1_state(&self, id: &str, target: Target, path: &Path) -> PathBuf {
        self.v1_image(id, "state", target, &fault::posix(path))
    }

    fn v1_image(&self, id: &str, kind: &str, target: Target, path: &str) -> PathBuf {
        self.snapshots()
            .join(id)
            .join(kind)
            .join(target.as_str())
            .join(short_key(path))
    }

    /// The content-addressed blobs.
    pub fn blobs(&self) -> PathBuf {
        self.root.join("state/blobs/sha256")
    }

    /// The blob of a digest.
    pub fn blob(&self, digest: Digest) -> PathBuf {
        let hex = digest.to_string();
        self.blobs().join(&hex[..2]).join(&hex[2..])
    }

    /// The journals of applies that have not ended.
    pub fn journal(&self) -> PathBuf {
        self.root.join("state/journal")
    }

    /// The locks.
    pub fn locks(&self) -> PathBuf {
        self.root.join("state/locks")
    }

    /// The lock of a root, given without symbolic links.
    pub fn lock(&self, canonical_root: &Path) -> PathBuf {
        let key = short_key(&canonical_root.to_string_lossy());
        self.locks().join(format!("{key}.lock"))
    }

    /// Known roots and consents.
    pub fn pack_state(&self) -> PathBuf {
        self.root.join("state/pack.json")
    }

    /// The log of `record`.
    pub fn events(&self) -> PathBuf {
        self.root.join("state/logs/events.jsonl")
    }
}

/// The first 16 hex characters of the digest of a path.
fn short_key(path: &str) -> String {
    let mut key = Digest::of(path.as_bytes()).to_string();
    key.truncate(16);
    key
}

/// A path as users write it: only a leading `~/` is expanded.
pub fn expand_home(path: &str, home_dir: &Path) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => home_dir.join(rest),
        None => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_layout() {
        let home = PackHome::at("/h");
        let digest = Digest::of(b"x");
        let hex = digest.to_string();
        let key = &Digest::of(b"/p/a.md").to_string()[..16];
        let url_key = Digest::of(b"https://h/r").to_string();
        for (path, expected) in [
            (home.default_repo(), "/h/repo".to_owned()),
            (
                home.snapshot_file("17"),
                "/h/state/snapshots/17.json".into(),
            ),
            (
                home.blob(digest),
                format!("/h/state/blobs/sha256/{}/{}", &hex[..2], &hex[2..]),
            ),
            (
                home.v1_backup("17", Target::Codex, Path::new("/p/a.md")),
                format!("/h/state/snapshots/17/backup/codex/{key}"),
            ),
            (
                home.v1_state("17", Target::ClaudeCode, Path::new("/p/a.md")),
                format!("/h/state/snapshots/17/state/claude_code/{key}"),
            ),
            (
                home.lock(Path::new("/p/a.md")),
                format!("/h/state/locks/{key}.lock"),
            ),
            (
                home.checkout("https://h/r", "c0ffee"),
                format!("/h/cache/git/{url_key}/c0ffee"),
            ),
            (home.events(), "/h/state/logs/events.jsonl".into()),
            (home.pack_state(), "/h/state/pack.json".into()),
            (home.journal(), "/h/state/journal".into()),
        ] {
            assert_eq!(path, PathBuf::from(expected));
        }
        let older = home.older_checkouts("skill:demo", "c0ffee");
        assert_eq!(
            older,
            [
                PathBuf::from("/h/cache/git/skill_demo--f2b4dd2c0d/c0ffee"),
                PathBuf::from("/h/cache/git/skill_demo/c0ffee"),
            ]
        );
    }

    #[test]
    fn only_a_leading_tilde_is_the_home() {
        let home = Path::new("/home/u");
        for (text, expected) in [
            ("~/x", "/home/u/x"),
            ("~", "~"),
            ("~other/x", "~other/x"),
            ("/a/~/b", "/a/~/b"),
        ] {
            assert_eq!(expand_home(text, home), PathBuf::from(expected), "{text}");
        }
    }
}
