//! Drift: where the disk differs from what pack deployed and still wants.
//!
//! Pure. The extra files are found by `scan` and passed in.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
};

use serde::{Serialize, Serializer, ser::SerializeStruct};
use windlass_pack_model::{Desired, DesiredFile, FileMode, RelPath, Target};
use windlass_types::{Digest, Problem};

use crate::{
    change::{KeyChange, Op, posix, with_execute},
    disk::{Disk, FoundFile, OnDisk},
    owned::{Owned, OwnedFile},
    plan::{PlanOptions, Purpose, place},
    roots::{Roots, Slot},
    scan::Scanned,
    shared::{SharedFile, Theirs},
    shared_files::shared_files,
};

/// The mode 0.9.1 gave every file.
const V1_MODE: FileMode = FileMode::new(0o600);

/// A kind of drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftKind {
    /// It is there and not as it should be.
    Modified,
    /// It is not there.
    Missing,
    /// It is there and should not be.
    Extra,
}

impl DriftKind {
    /// The kind of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "modified" => Some(Self::Modified),
            "missing" => Some(Self::Missing),
            "extra" => Some(Self::Extra),
            _ => None,
        }
    }
}

/// One path that drifted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftItem {
    /// How.
    pub kind: DriftKind,
    /// The target.
    pub target: Target,
    /// The root it belongs to.
    pub root: PathBuf,
    /// The absolute path.
    pub path: PathBuf,
    /// The digest it should have.
    pub expected: Option<Digest>,
    /// The digest it has.
    pub actual: Option<Digest>,
    /// The mode it should have, where that is what drifted.
    pub expected_mode: Option<FileMode>,
    /// The mode it has, where that is what drifted.
    pub actual_mode: Option<FileMode>,
    /// Whether pack ever wrote it.
    pub deployed: bool,
    /// The keys that drifted, when the file is shared with others.
    pub keys: Vec<KeyChange>,
}

impl Serialize for DriftItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (path, root) = (self.path.to_string_lossy(), self.root.to_string_lossy());
        let prefixed = |digest: Option<Digest>| digest.map(|digest| format!("sha256:{digest}"));
        let mut view = serializer.serialize_struct("DriftItem", 12)?;
        view.serialize_field("actual", &prefixed(self.actual))?;
        if let Some(mode) = &self.actual_mode {
            view.serialize_field("actual_mode", mode)?;
        }
        if !self.deployed {
            view.serialize_field("deployed", &false)?;
        }
        view.serialize_field("expected", &prefixed(self.expected))?;
        if let Some(mode) = &self.expected_mode {
            view.serialize_field("expected_mode", mode)?;
        }
        if !self.keys.is_empty() {
            view.serialize_field("keys", &self.keys)?;
        }
        view.serialize_field("kind", &self.kind)?;
        view.serialize_field("path", &path)?;
        view.serialize_field("path_posix", &posix(&path))?;
        view.serialize_field("root", &root)?;
        view.serialize_field("root_posix", &posix(&root))?;
        view.serialize_field("target", &self.target)?;
        view.end()
    }
}

/// How many of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DriftSummary {
    /// Extra files.
    pub extra: u64,
    /// Missing files.
    pub missing: u64,
    /// Modified files.
    pub modified: u64,
}

impl DriftSummary {
    fn count(&mut self, kind: DriftKind) {
        match kind {
            DriftKind::Modified => self.modified += 1,
            DriftKind::Missing => self.missing += 1,
            DriftKind::Extra => self.extra += 1,
        }
    }

    /// The count of some items.
    pub fn of<'a>(items: impl IntoIterator<Item = &'a DriftItem>) -> Self {
        let mut summary = Self::default();
        for item in items {
            summary.count(item.kind);
        }
        summary
    }

    /// Whether there is none.
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }
}

/// The count in one root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RootSummary {
    /// The root.
    pub root: String,
    /// The same with `/`.
    pub root_posix: String,
    /// The count.
    pub summary: DriftSummary,
    /// The target.
    pub target: Target,
}

/// All drift.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftReport {
    /// The paths: root by root, the managed ones first.
    pub items: Vec<DriftItem>,
    /// Their count.
    pub summary: DriftSummary,
    /// The count of everything, when only some kinds are shown.
    pub summary_total: Option<DriftSummary>,
    /// Whether any root has a manifest.
    pub any_manifest: bool,
    /// Whether a root that holds something desired has none.
    pub needs_deploy: bool,
    /// Warnings for people.
    pub warnings: Vec<String>,
}

impl DriftReport {
    /// The counts per root that has drift, by target and root.
    pub fn summary_by_root(&self) -> Vec<RootSummary> {
        let mut roots: BTreeMap<(Target, String), RootSummary> = BTreeMap::new();
        for item in &self.items {
            let root = item.root.to_string_lossy().into_owned();
            let root_posix = posix(&root);
            roots
                .entry((item.target, root_posix.clone()))
                .or_insert_with(|| RootSummary {
                    root,
                    root_posix,
                    summary: DriftSummary::default(),
                    target: item.target,
                })
                .summary
                .count(item.kind);
        }
        roots.into_values().collect()
    }

    /// The same with some kinds only; no kinds means all.
    #[must_use]
    pub fn only(mut self, kinds: &[DriftKind]) -> Self {
        if kinds.is_empty() {
            return self;
        }
        self.summary_total = Some(self.summary);
        self.items.retain(|item| kinds.contains(&item.kind));
        self.summary = DriftSummary::of(&self.items);
        self
    }
}

/// Compares what is desired and owned with what is there.
pub fn drift(
    desired: &Desired,
    owned: &Owned,
    disk: &Disk,
    scanned: &[Scanned],
    options: &PlanOptions,
) -> Result<DriftReport, Problem> {
    let roots = Roots::new(desired, owned);
    let mut by_root: Vec<Vec<(RelPath, &DesiredFile)>> = vec![Vec::new(); roots.slots.len()];
    for file in &desired.files {
        let (root, below) = place(&roots, file.target, &file.path)?;
        by_root[root].push((below, file));
    }
    let shared = shared_files(desired, &roots, disk, Purpose::Deploy)?;
    let any_manifest = roots
        .slots
        .iter()
        .any(|slot| slot.owned.is_some_and(|owned| owned.has_manifest()));
    let mut report = DriftReport {
        items: Vec::new(),
        summary: DriftSummary::default(),
        summary_total: None,
        any_manifest,
        needs_deploy: false,
        warnings: owned.warnings.clone(),
    };
    let whole: HashSet<&Path> = desired
        .files
        .iter()
        .map(|file| file.path.as_path())
        .collect();
    let keyed: HashSet<&Path> = shared.iter().map(|(_, file)| file.path.as_path()).collect();
    for (index, slot) in roots.slots.iter().enumerate() {
        let mut items = Vec::new();
        let wanted = &by_root[index];
        let keys: Vec<&SharedFile> = shared
            .iter()
            .filter(|(root, file)| *root == index && !whole.contains(file.path.as_path()))
            .map(|(_, file)| file)
            .collect();
        let has_manifest = slot.owned.is_some_and(|owned| owned.has_manifest());
        let holds_something =
            !wanted.is_empty() || keys.iter().any(|file| !file.desired.is_empty());
        if holds_something && !has_manifest {
            report.needs_deploy = true;
            if any_manifest {
                report.warnings.push(format!(
                    "no usable target manifest for {} {}; drift may be incomplete (run deploy \
                     --apply to write it)",
                    slot.target,
                    slot.path.display()
                ));
            }
        }
        let mut look = Look {
            slot,
            disk,
            options,
            items: &mut items,
        };
        look.files(wanted, &whole, &keyed, has_manifest)?;
        for file in keys {
            look.keys(file)?;
        }
        items.sort_by(order);
        report.items.append(&mut items);
        if has_manifest && slot.scan_extras {
            extras(
                slot,
                index,
                &roots,
                scanned,
                &whole,
                &keyed,
                &mut report.items,
            );
        }
    }
    if !any_manifest && report.needs_deploy {
        report.warnings.push(
            "no target manifests found; drift may be inaccurate (run deploy --apply to write \
             manifests)"
                .to_owned(),
        );
    }
    report.summary = DriftSummary::of(&report.items);
    Ok(report)
}

fn order(left: &DriftItem, right: &DriftItem) -> Ordering {
    (left.target, left.path.as_os_str().as_encoded_bytes())
        .cmp(&(right.target, right.path.as_os_str().as_encoded_bytes()))
}

struct Look<'a> {
    slot: &'a Slot<'a>,
    disk: &'a Disk,
    options: &'a PlanOptions,
    items: &'a mut Vec<DriftItem>,
}

impl Look<'_> {
    fn files(
        &mut self,
        wanted: &[(RelPath, &DesiredFile)],
        whole: &HashSet<&Path>,
        keyed: &HashSet<&Path>,
        has_manifest: bool,
    ) -> Result<(), Problem> {
        let owned: HashMap<&RelPath, &OwnedFile> = self
            .slot
            .owned
            .iter()
            .flat_map(|owned| &owned.files)
            .map(|file| (&file.path, file))
            .collect();
        for (below, file) in wanted {
            self.wanted(file, owned.get(below).copied())?;
        }
        if !has_manifest {
            return Ok(());
        }
        for file in owned.into_values() {
            let path = file.path.under(&self.slot.path);
            // Operator assets are wanted, just not by a module.
            if file.is_operator()
                || whole.contains(path.as_path())
                || keyed.contains(path.as_path())
            {
                continue;
            }
            if let Some(found) = self.found(&path)? {
                self.items.push(DriftItem {
                    actual: Some(found.digest),
                    ..self.item(DriftKind::Extra, path)
                });
            }
        }
        Ok(())
    }

    fn wanted(&mut self, file: &DesiredFile, owned: Option<&OwnedFile>) -> Result<(), Problem> {
        let base = DriftItem {
            expected: Some(file.digest),
            deployed: owned.is_some(),
            ..self.item(DriftKind::Missing, file.path.clone())
        };
        match self.found(&file.path)? {
            None => self.items.push(base),
            Some(found) => {
                let modes = self.modes(found.mode, file.executable, owned);
                if found.digest != file.digest || modes.is_some() {
                    self.items.push(DriftItem {
                        kind: DriftKind::Modified,
                        actual: Some(found.digest),
                        expected_mode: modes.map(|modes| modes.0),
                        actual_mode: modes.map(|modes| modes.1),
                        ..base
                    });
                }
            }
        }
        Ok(())
    }

    /// The wanted and the found mode, if they differ. What 0.9.1 deployed has no execute bit and
    /// it was not removed: a deploy repairs that, and it is not drift.
    fn modes(
        &self,
        found: FileMode,
        executable: bool,
        owned: Option<&OwnedFile>,
    ) -> Option<(FileMode, FileMode)> {
        let from_v1 = found == V1_MODE && owned.is_some_and(|owned| !owned.executable);
        (self.options.compare_modes && found.is_executable() != executable && !from_v1)
            .then(|| (with_execute(found, executable), found))
    }

    fn keys(&mut self, file: &SharedFile) -> Result<(), Problem> {
        let found = self.found(&file.path)?;
        let outcome = file.resolve(Theirs::Overwrite)?;
        if outcome.changes.is_empty() {
            return Ok(());
        }
        let deployed = outcome.changes.iter().any(|change| {
            file.owned
                .iter()
                .any(|owned| owned.pointer == change.pointer)
        });
        let removals = outcome.changes.iter().all(|change| change.op == Op::Delete);
        let additions = outcome.changes.iter().all(|change| change.op == Op::Create);
        let kind = match found {
            None => DriftKind::Missing,
            Some(_) if removals => DriftKind::Extra,
            Some(_) if additions && !deployed => DriftKind::Missing,
            Some(_) => DriftKind::Modified,
        };
        self.items.push(DriftItem {
            expected: outcome.text.map(|text| Digest::of(text.as_bytes())),
            actual: found.map(|found| found.digest),
            deployed,
            keys: outcome.changes,
            ..self.item(kind, file.path.clone())
        });
        Ok(())
    }

    fn found(&self, path: &Path) -> Result<Option<FoundFile>, Problem> {
        match self.disk.at(path) {
            OnDisk::Unreadable(problem) => Err(problem.clone()),
            found => Ok(found.file()),
        }
    }

    fn item(&self, kind: DriftKind, path: PathBuf) -> DriftItem {
        DriftItem {
            kind,
            target: self.slot.target,
            root: self.slot.path.clone(),
            path,
            expected: None,
            actual: None,
            expected_mode: None,
            actual_mode: None,
            deployed: true,
            keys: Vec::new(),
        }
    }
}

/// Extra files in a root.
fn extras(
    slot: &Slot<'_>,
    index: usize,
    roots: &Roots<'_>,
    scanned: &[Scanned],
    whole: &HashSet<&Path>,
    keyed: &HashSet<&Path>,
    items: &mut Vec<DriftItem>,
) {
    let owned: HashSet<PathBuf> = slot
        .owned
        .iter()
        .flat_map(|owned| &owned.files)
        .map(|file| file.path.under(&slot.path))
        .collect();
    let mut extras: Vec<DriftItem> = scanned
        .iter()
        .filter(|file| {
            file.target == slot.target
                && roots.containing(slot.target, &file.path) == Some(index)
                && !owned.contains(&file.path)
                && !whole.contains(file.path.as_path())
                && !keyed.contains(file.path.as_path())
        })
        .map(|file| DriftItem {
            kind: DriftKind::Extra,
            target: slot.target,
            root: slot.path.clone(),
            path: file.path.clone(),
            expected: None,
            actual: file.digest,
            expected_mode: None,
            actual_mode: None,
            deployed: true,
            keys: Vec::new(),
        })
        .collect();
    extras.sort_by(order);
    extras.dedup_by(|left, right| left.path == right.path);
    items.append(&mut extras);
}
