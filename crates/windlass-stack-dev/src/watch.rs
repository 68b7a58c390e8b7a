//! Changes of source files: watched folder by folder, gathered until it is quiet.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, CreateKind, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;
use windlass_types::Problem;

/// Quiet for this long, and a change is taken to be complete: editors write in several steps.
const QUIET: Duration = Duration::from_millis(80);

/// Folders that hold no sources, and may hold very many files.
const SKIPPED: [&str; 6] = [
    "node_modules",
    "__pycache__",
    "target",
    "venv",
    "dist",
    "coverage",
];

/// Watches a folder and all below it.
pub(crate) struct SourceWatch {
    watcher: RecommendedWatcher,
    changes: mpsc::UnboundedReceiver<notify::Event>,
}

impl SourceWatch {
    pub fn start(root: &Path) -> Result<Self, Problem> {
        let fault = |error| Problem::internal("dev watch", error);
        let (sender, changes) = mpsc::unbounded_channel();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if let Ok(event) = event {
                // Nobody listens once the session stops.
                let _ = sender.send(event);
            }
        })
        .map_err(fault)?;
        let mut watch = Self { watcher, changes };
        watch
            .watcher
            .watch(root, RecursiveMode::NonRecursive)
            .map_err(fault)?;
        watch.follow(root);
        Ok(watch)
    }

    /// Adds the folders below one; those that cannot be read are left out.
    fn follow(&mut self, folder: &Path) {
        let mut open = vec![folder.to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs_err::read_dir(&folder).into_iter().flatten().flatten() {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder && !is_skipped(&entry.path()) {
                    let _ = self
                        .watcher
                        .watch(&entry.path(), RecursiveMode::NonRecursive);
                    open.push(entry.path());
                }
            }
        }
    }

    /// The files that changed, once it is quiet again; none any more at the end.
    pub async fn changed(&mut self) -> Option<BTreeSet<PathBuf>> {
        let mut files = BTreeSet::new();
        loop {
            let event = if files.is_empty() {
                self.changes.recv().await?
            } else {
                match tokio::time::timeout(QUIET, self.changes.recv()).await {
                    Ok(event) => event?,
                    Err(_) => return Some(files),
                }
            };
            let is_change = match event.kind {
                EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
                EventKind::Access(_) => false,
                EventKind::Create(CreateKind::Folder) => {
                    for folder in &event.paths {
                        let _ = self.watcher.watch(folder, RecursiveMode::NonRecursive);
                        self.follow(folder);
                        // What was put into it before it was watched.
                        files.extend(files_of(folder));
                    }
                    false
                }
                EventKind::Any
                | EventKind::Create(_)
                | EventKind::Modify(_)
                | EventKind::Remove(_)
                | EventKind::Other => true,
            };
            if is_change {
                files.extend(
                    event
                        .paths
                        .into_iter()
                        .filter(|path| !is_skipped(path) && !path.is_dir()),
                );
            }
        }
    }
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect()
}

fn is_skipped(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    // `.env` files are sources; other hidden ones are editors' and tools'.
    (name.starts_with('.') && !name.starts_with(".env"))
        || name.ends_with('~')
        || SKIPPED.contains(&name)
}
