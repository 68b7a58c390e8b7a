//! Where a run keeps its checkouts, and that nobody works there while they are taken away.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedRwLockReadGuard, RwLock};
use windlass_engine::run::Sweep;
use windlass_launch_model::ids::parse_run_id;
use windlass_types::{Problem, RunId};

use super::site::Worktree;

/// The folders of all runs.
pub(super) struct Folders {
    root: PathBuf,
    known: Mutex<HashMap<RunId, RunFolder>>,
}

impl Folders {
    pub(super) fn new(root: PathBuf) -> Self {
        Self {
            root,
            known: Mutex::default(),
        }
    }

    /// The folder of a run. Work that a cancelled run left behind in another thread holds the
    /// same lock as the run's next execution.
    pub(super) fn of(&self, run_id: &RunId) -> RunFolder {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = known.entry(run_id.clone()).or_insert_with(|| RunFolder {
            root: self.root.join(run_id.as_str()),
            lock: Arc::default(),
            worktree: Arc::default(),
        });
        folder.clone()
    }

    /// Removes the folders of runs that are gone.
    pub(super) async fn sweep(&self, sweep: &Sweep) -> Result<(), Problem> {
        let entries = match fs_err::read_dir(&self.root) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(|error| Problem::internal("run folders", error))?,
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        for run_id in names.filter_map(|name| parse_run_id(&name)) {
            if sweep.is_gone(&run_id).await? {
                self.of(&run_id).remove().await?;
                let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                known.remove(&run_id);
            }
        }
        Ok(())
    }
}

/// The folder of one run.
#[derive(Clone)]
pub(crate) struct RunFolder {
    root: PathBuf,
    lock: Arc<RwLock<()>>,
    /// What the site's worktree holds, as far as this process made it so.
    pub(super) worktree: Arc<Mutex<Option<Arc<Worktree>>>>,
}

impl RunFolder {
    /// The product's files.
    pub(crate) fn product(&self) -> PathBuf {
        self.root.join("repo")
    }

    /// The site's worktree.
    pub(crate) fn site(&self) -> PathBuf {
        self.root.join("site")
    }

    /// The workflows' files.
    pub(crate) fn workflows(&self) -> PathBuf {
        self.root.join("workflows")
    }

    /// Our own bare clone of a repository.
    pub(crate) fn bare(&self, name: &str) -> PathBuf {
        self.root.join("git").join(format!("{name}.git"))
    }

    /// What Hugo has rendered, a folder for every validation.
    fn rendered(&self) -> PathBuf {
        self.root.join("rendered")
    }

    /// A folder to render to in which nothing else has written, nor does: a build that was
    /// interrupted may still be ending.
    pub(crate) fn fresh_rendered(&self) -> PathBuf {
        let rendered = self.rendered();
        let mut number = 1_u32;
        loop {
            let folder = rendered.join(number.to_string());
            if fs_err::symlink_metadata(&folder).is_err() {
                return folder;
            }
            number += 1;
        }
    }

    /// Removes what earlier validations have rendered. What another still writes to stays for the
    /// next time.
    pub(crate) fn clear_rendered(&self) {
        let _ = fs_err::remove_dir_all(self.rendered());
    }

    /// Where the local adapter writes pull requests.
    pub(crate) fn pull_requests(&self) -> PathBuf {
        self.root.join("pr")
    }

    /// The site as the run wrote it, to find what a person has edited since.
    pub(crate) fn unedited(&self) -> PathBuf {
        self.root.join("unedited")
    }

    /// Which bundle the worktree holds; absent while it is being changed.
    pub(crate) fn site_mark(&self) -> PathBuf {
        self.root.join("site.holds")
    }

    /// From now on the worktree is taken for unknown, so that the next look creates it again: what
    /// others changed in it is gone.
    pub(crate) fn distrust(&self) {
        let mut held = self.worktree.lock().unwrap_or_else(PoisonError::into_inner);
        *held = None;
    }

    pub(crate) fn make(&self) -> Result<(), Problem> {
        fs_err::create_dir_all(&self.root).map_err(|error| Problem::internal("run folder", error))
    }

    /// Held while something reads or writes below the folder.
    pub(crate) async fn busy(&self) -> OwnedRwLockReadGuard<()> {
        Arc::clone(&self.lock).read_owned().await
    }

    /// Takes the whole folder away, once nobody works there.
    pub(crate) async fn remove(self) -> Result<(), Problem> {
        let _alone = self.lock.write().await;
        remove(&self.root)
    }

    /// Takes away what only a run under way needs.
    pub(crate) async fn tidy(&self) -> Result<(), Problem> {
        let _alone = self.lock.write().await;
        let checkouts = [
            self.product(),
            self.site(),
            self.workflows(),
            self.rendered(),
            self.bare("repo"),
            self.bare("workflows"),
        ];
        checkouts.iter().try_for_each(|folder| remove(folder))
    }
}

/// Removes a folder; harmless when there is none.
pub(super) fn remove(folder: &Path) -> Result<(), Problem> {
    match fs_err::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Problem::internal("run folder", error))
        }
        _ => Ok(()),
    }
}
