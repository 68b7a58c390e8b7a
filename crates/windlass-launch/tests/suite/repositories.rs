//! Repositories in memory: commits are file lists under made-up ids. Only what a launch reads.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use windlass_ports::git::{
    Author, Checkout, Exported, Git, GitError, Head, NewCommit, PullMode, RemoteHead, SwitchTo,
    TreeFile,
};
use windlass_types::Timestamp;

/// Commits by id, each a list of files.
pub struct Repositories(pub BTreeMap<String, Vec<(&'static str, &'static str)>>);

fn never<T>() -> Result<T, GitError> {
    panic!("a launch does not ask this of git")
}

impl Git for Repositories {
    fn fetch_commit(&self, _: &Path, url: &str, commit: &str) -> Result<(), GitError> {
        if self.0.contains_key(commit) {
            return Ok(());
        }
        Err(GitError::Missing {
            what: "commit",
            name: commit.to_owned(),
            place: url.to_owned(),
        })
    }

    fn head_of(&self, _: &str) -> Result<RemoteHead, GitError> {
        Ok(RemoteHead {
            branch: Some("main".to_owned()),
            commit: "5".repeat(40),
        })
    }

    fn latest_release_tag(&self, _: &str) -> Result<Option<String>, GitError> {
        Ok(None)
    }

    fn commit_time(&self, _: &Path, _: &str) -> Result<Timestamp, GitError> {
        Ok(Timestamp::from_millis(1_767_312_000_000))
    }

    fn export(&self, _: &Path, commit: &str, directory: &Path) -> Result<Exported, GitError> {
        assert!(!directory.exists(), "an export never writes over something");
        for (name, content) in &self.0[commit] {
            let path = directory.join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, content).unwrap();
        }
        Ok(Exported::default())
    }

    fn user_name(&self, _: &Path) -> Result<Option<String>, GitError> {
        Ok(None)
    }

    fn toplevel(&self, _: &Path) -> Result<Option<PathBuf>, GitError> {
        never()
    }
    fn remote_url(&self, _: &Path, _: &str) -> Result<Option<String>, GitError> {
        never()
    }
    fn head(&self, _: &Path) -> Result<Head, GitError> {
        never()
    }
    fn changed_paths(&self, _: &Path) -> Result<Vec<PathBuf>, GitError> {
        never()
    }
    fn init(&self, _: &Path) -> Result<(), GitError> {
        never()
    }
    fn set_remote(&self, _: &Path, _: &str, _: &str) -> Result<(), GitError> {
        never()
    }
    fn create_branch(&self, _: &Path, _: &str, _: Option<&str>) -> Result<(), GitError> {
        never()
    }
    fn switch(&self, _: &Path, _: &SwitchTo) -> Result<(), GitError> {
        never()
    }
    fn delete_branch(&self, _: &Path, _: &str) -> Result<(), GitError> {
        never()
    }
    fn commit_paths(
        &self,
        _: &Path,
        _: &[&Path],
        _: &str,
        _: Option<&Author>,
    ) -> Result<Option<String>, GitError> {
        never()
    }
    fn resolve(&self, _: &str, _: &str) -> Result<String, GitError> {
        never()
    }
    fn checkout(&self, _: &Checkout<'_>) -> Result<(), GitError> {
        never()
    }
    fn blobs(&self, _: &Path, _: &str, _: &[&Path]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        never()
    }
    fn commit_of(&self, _: &Path, _: &str) -> Result<Option<String>, GitError> {
        never()
    }
    fn files_at(&self, _: &Path, _: &str) -> Result<Vec<TreeFile>, GitError> {
        never()
    }
    fn diff_names(&self, _: &Path, _: &str, _: Option<&str>) -> Result<Vec<PathBuf>, GitError> {
        never()
    }
    fn is_ignored(&self, _: &Path, _: &[&Path]) -> Result<Vec<bool>, GitError> {
        never()
    }
    fn pull(&self, _: &Path, _: &str, _: &str, _: PullMode) -> Result<(), GitError> {
        never()
    }
    fn push(&self, _: &Path, _: &str, _: &str) -> Result<(), GitError> {
        never()
    }
    fn commit_files(&self, _: &Path, _: &NewCommit<'_>) -> Result<String, GitError> {
        never()
    }
    fn branch_commit(&self, _: &Path, _: &str) -> Result<Option<String>, GitError> {
        never()
    }
    fn set_branch(&self, _: &Path, _: &str, _: &str, _: Option<&str>) -> Result<(), GitError> {
        never()
    }
    fn remove_branch(&self, _: &Path, _: &str, _: &str) -> Result<(), GitError> {
        never()
    }
}
