//! Which state is in force where: the head of each root.
//!
//! One home serves many projects, so there is no one head. The newest event about a root decides;
//! after a rollback the state in force is the one it went back to.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
};

use windlass_pack_model::{Snapshot, SnapshotKind, SnapshotOp, SnapshotRoot, Target};
use windlass_types::Problem;

use crate::state::{manifest::is_manifest_name, pack_state::PackState};

/// The state in force in a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The newest event about the root.
    pub event_id: String,
    /// The snapshot whose state is in force: of that event, or of the one it went back to.
    pub snapshot: Arc<Snapshot>,
}

/// The heads of some roots.
#[derive(Clone, Debug, Default)]
pub struct Heads {
    /// By root; a root no event was about is missing.
    pub by_root: BTreeMap<SnapshotRoot, Head>,
    /// Snapshots that cannot be read.
    pub warnings: Vec<String>,
}

/// The roots a snapshot is about. Old snapshots do not name them: there they are the directories
/// of the manifests that were written, and of files in none of those.
pub fn roots_of(snapshot: &Snapshot) -> BTreeSet<SnapshotRoot> {
    let mut about = About::of(snapshot);
    about.roots.append(&mut about.bare);
    about.roots
}

/// What a snapshot is about.
#[derive(Debug, Default)]
struct About {
    /// Roots that are known to be roots.
    roots: BTreeSet<SnapshotRoot>,
    /// Directories of files in none of these, from old snapshots: somewhere above is a root.
    bare: BTreeSet<SnapshotRoot>,
}

impl About {
    fn of(snapshot: &Snapshot) -> Self {
        let mut about = Self::default();
        if !snapshot.roots.is_empty() {
            about.roots.extend(snapshot.roots.iter().cloned());
            return about;
        }
        let directory = |target: Target, path: &Path| {
            path.parent().map(|directory| SnapshotRoot {
                target,
                root: directory.to_owned(),
            })
        };
        let (manifests, changes): (Vec<_>, Vec<_>) = snapshot
            .changes
            .iter()
            .partition(|change| is_manifest_name(change.path.file_name()));
        about.roots = manifests
            .into_iter()
            .filter_map(|change| directory(change.target, &change.path))
            .collect();
        let files = snapshot.managed_files.iter();
        let files = files.map(|file| (file.target, file.path.as_path()));
        let changed = changes.iter();
        let changed = changed.map(|change| (change.target, change.path.as_path()));
        for (target, path) in files.chain(changed) {
            if let Some(own) = directory(target, path)
                && !about.bare.contains(&own)
                && !about.has_root_above(target, path)
            {
                about.bare.insert(own);
            }
        }
        about
    }

    /// What an event is about; an old rollback also concerns what it went back to.
    fn of_event(event: &Snapshot, state: impl FnOnce() -> Option<Arc<Snapshot>>) -> Self {
        let mut about = Self::of(event);
        if event.roots.is_empty()
            && rolled_back_to(event).is_some()
            && let Some(target) = state()
        {
            let mut more = Self::of(&target);
            about.roots.append(&mut more.roots);
            about.bare.append(&mut more.bare);
        }
        about
    }

    fn has_root_above(&self, target: Target, path: &Path) -> bool {
        path.ancestors().skip(1).any(|directory| {
            self.roots.contains(&SnapshotRoot {
                target,
                root: directory.to_owned(),
            })
        })
    }

    fn includes(&self, root: &SnapshotRoot) -> bool {
        let below =
            |bare: &SnapshotRoot| bare.target == root.target && bare.root.starts_with(&root.root);
        self.roots.contains(root) || self.bare.iter().any(below)
    }
}

impl PackState {
    /// The heads of some roots. Reads back only as far as it must.
    pub fn heads(&self, roots: &[SnapshotRoot]) -> Result<Heads, Problem> {
        let mut heads = Heads::default();
        let mut wanted: BTreeSet<&SnapshotRoot> = roots.iter().collect();
        let mut targets: HashMap<String, Arc<Snapshot>> = HashMap::new();
        let mut lost = Vec::new();
        if wanted.is_empty() {
            return Ok(heads);
        }
        heads.warnings = self.walk_back(|event| {
            let event = Arc::new(event);
            let mut state = event.clone();
            if let Some(id) = rolled_back_to(&event) {
                let known = targets.get(id).cloned();
                match known.map_or_else(|| self.snapshot(id).map(Arc::new), Ok) {
                    Ok(target) => {
                        targets.insert(id.to_owned(), target.clone());
                        state = target;
                    }
                    Err(problem) => lost.push(format!(
                        "rollback {} went to a snapshot that cannot be read: {}",
                        event.id,
                        problem.message()
                    )),
                }
            }
            let about = About::of_event(&event, || Some(state.clone()));
            wanted.retain(|root| {
                let found = about.includes(root);
                if found {
                    let head = Head {
                        event_id: event.id.clone(),
                        snapshot: state.clone(),
                    };
                    heads.by_root.insert((*root).clone(), head);
                }
                !found
            });
            match wanted.is_empty() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        heads.warnings.append(&mut lost);
        Ok(heads)
    }

    /// Every root any snapshot was about, with the repository and project of the newest one that
    /// says so. For seeding what is known about roots; old snapshots name neither.
    pub fn seen_roots(&self) -> Result<(Vec<SeenRoot>, Vec<String>), Problem> {
        let mut seen = BTreeMap::new();
        let warnings = self.walk_back(|snapshot| {
            for root in roots_of(&snapshot) {
                seen.entry(root)
                    .or_insert_with(|| (snapshot.repo.clone(), snapshot.project_id.clone()));
            }
            ControlFlow::Continue(())
        })?;
        let seen = seen
            .into_iter()
            .map(|(root, (repo, project_id))| SeenRoot {
                root,
                repo,
                project_id,
            })
            .collect();
        Ok((seen, warnings))
    }
}

/// A root some snapshot was about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRoot {
    /// The root.
    pub root: SnapshotRoot,
    /// The configuration repository, if the snapshot names it.
    pub repo: Option<PathBuf>,
    /// The project the command was run in, if the snapshot names it.
    pub project_id: Option<String>,
}

fn rolled_back_to(snapshot: &Snapshot) -> Option<&str> {
    match snapshot.kind {
        SnapshotKind::Rollback => snapshot.rolled_back_to.as_deref(),
        _ => None,
    }
}

/// Finds the heads of all roots in one walk from the newest event back.
#[derive(Debug, Default)]
pub(crate) struct HeadFinder {
    seen: BTreeSet<SnapshotRoot>,
    events: HashSet<String>,
    states: HashSet<String>,
}

impl HeadFinder {
    /// Takes the next older event.
    pub(crate) fn see(&mut self, event: &Snapshot, state: &PackState) {
        let target = rolled_back_to(event);
        let about = About::of_event(event, || {
            target.and_then(|id| state.snapshot(id).ok().map(Arc::new))
        });
        let roots: Vec<_> = about.roots.into_iter().chain(about.bare).collect();
        if roots.iter().any(|root| !self.seen.contains(root)) {
            self.events.insert(event.id.clone());
            self.states
                .insert(target.unwrap_or(event.id.as_str()).to_owned());
        }
        self.seen.extend(roots);
    }

    /// The ids of the states in force.
    pub(crate) fn states(&self) -> HashSet<String> {
        self.states.clone()
    }

    /// The ids of the events that say which state is in force, and of those states.
    pub(crate) fn needed(&self) -> HashSet<String> {
        self.events.union(&self.states).cloned().collect()
    }
}

/// Finds the snapshots that keep originals: files that an adopt replaced. Ours say so. In old
/// ones it is an update of a path that no earlier event had written.
#[derive(Debug, Default)]
pub(crate) struct Originals {
    said: HashSet<String>,
    /// Old updates whose path no earlier (later seen) event has claimed yet.
    guessed: HashMap<(Target, PathBuf), String>,
}

impl Originals {
    /// Takes the next older event.
    pub(crate) fn see(&mut self, event: &Snapshot) {
        if event.changes.iter().any(|change| change.adopted) {
            self.said.insert(event.id.clone());
        }
        for file in &event.managed_files {
            // Managed after this event: no later update of it replaced an original.
            if !self.guessed.is_empty() {
                self.guessed.remove(&(file.target, file.path.clone()));
            }
        }
        if event.run_id.is_some() {
            return;
        }
        for change in &event.changes {
            let replaced = change.op == SnapshotOp::Update && change.before_sha256.is_some();
            if replaced && !is_manifest_name(change.path.file_name()) {
                let key = (change.target, change.path.clone());
                self.guessed.insert(key, event.id.clone());
            }
        }
    }

    /// The ids.
    pub(crate) fn finish(self) -> HashSet<String> {
        self.said
            .into_iter()
            .chain(self.guessed.into_values())
            .collect()
    }
}
