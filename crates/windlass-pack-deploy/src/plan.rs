//! The planner: what is desired against what is owned and what is there, as one list of changes.
//!
//! Pure. The plan does not depend on whether the user agrees to adopt: it shows what adopting
//! would do, and `approve` turns it into what may be done.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
};

use windlass_pack_model::{
    Body, Desired, DesiredFile, FileMode, RelPath, SnapshotKind, Target, fault,
};
use windlass_types::{Digest, Problem};

use crate::{
    change::{
        LocalEdit, Op, PlanChange, PlanSummary, Reason, UpdateKind, Written, local_edit_warning,
        shown, with_execute,
    },
    disk::{Disk, FoundFile, OnDisk},
    links::{LinkRule, ProjectLink},
    one_content::{one_content, one_content_behind_links},
    owned::{OPERATOR_MARK, Owned, OwnedFile, OwnedKey, OwnedRoot},
    roots::{Roots, below},
    shared::{SharedFile, SharedOutcome, Theirs},
    shared_files::{both_ways, shared_change, shared_files},
    state::manifest_path,
};

/// What a plan is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Modules; what they no longer want goes, operator assets stay.
    #[default]
    Deploy,
    /// Operator assets; everything else that is owned stays.
    Bootstrap,
}

/// How a plan is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// What it is for.
    pub purpose: Purpose,
    /// Whether execute bits are compared; file systems without them answer nothing useful.
    pub compare_modes: bool,
}

impl Purpose {
    /// What the snapshot of an apply is called.
    pub const fn kind(self) -> SnapshotKind {
        match self {
            Self::Deploy => SnapshotKind::Deploy,
            Self::Bootstrap => SnapshotKind::Bootstrap,
        }
    }
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            purpose: Purpose::Deploy,
            compare_modes: cfg!(unix),
        }
    }
}

/// What would change, and what would be owned afterwards.
#[derive(Clone, Debug)]
pub struct DeployPlan {
    /// The changes, by target and path.
    pub changes: Vec<PlanChange>,
    /// Their count.
    pub summary: PlanSummary,
    /// Managed files that were edited and that the plan overwrites or removes.
    pub local_edits: Vec<LocalEdit>,
    /// Warnings for people.
    pub warnings: Vec<String>,
    /// Links of the project on the way to what would be written.
    pub links: Vec<ProjectLink>,
    pub(crate) purpose: Purpose,
    pub(crate) roots: Vec<RootPlan>,
    pub(crate) shared: Vec<SharedPlan>,
}

/// What would be owned in one root.
#[derive(Clone, Debug)]
pub(crate) struct RootPlan {
    /// What is owned in it now.
    pub(crate) owned: OwnedRoot,
    pub(crate) active: bool,
    pub(crate) scan_extras: bool,
    /// Whether something is desired in it.
    pub(crate) wanted: bool,
    pub(crate) entries: Vec<Entry>,
    /// Keys that stay as they are.
    pub(crate) keys_kept: Vec<OwnedKey>,
}

/// A file that would be listed as owned.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) file: OwnedFile,
    /// Whether it needs the user's consent, because it is not managed by pack yet.
    pub(crate) adopt: bool,
    /// The bytes, when they are there already and nothing has to be written.
    pub(crate) identical: Option<Body>,
}

/// The content of a file that is there already.
pub(crate) struct Identical<'a> {
    pub(crate) digest: Digest,
    pub(crate) executable: bool,
    pub(crate) body: &'a Body,
    /// Whether it takes the user's word to own it.
    pub(crate) adopt: bool,
}

/// A shared file and what becomes of it.
#[derive(Clone, Debug)]
pub(crate) struct SharedPlan {
    pub(crate) root: usize,
    pub(crate) file: SharedFile,
    pub(crate) found: Option<FoundFile>,
    pub(crate) outcome: SharedOutcome,
}

impl DeployPlan {
    /// Whether nothing changes. A manifest may still be missing.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Whether a root that holds something desired has no readable manifest.
    pub fn needs_manifest(&self) -> bool {
        self.roots
            .iter()
            .any(|root| root.wanted && !root.owned.has_manifest())
    }

    /// Names the links of a project that what would be written runs through, and where they lead.
    pub fn name_links(&mut self, rule: &LinkRule) {
        let roots = self.roots.iter().filter(|root| root.wanted);
        let manifests: Vec<PathBuf> = roots
            .map(|root| manifest_path(&root.owned.path, root.owned.target))
            .collect();
        let changed = self.changes.iter().map(|change| change.path.as_path());
        self.links = rule.links(changed.chain(manifests.iter().map(PathBuf::as_path)));
        self.warnings
            .extend(self.links.iter().map(ProjectLink::warning));
    }

    /// The changes that take the user's word.
    pub fn adopt_updates(&self) -> impl Iterator<Item = &PlanChange> {
        self.changes.iter().filter(|change| change.is_adopt())
    }

    /// The files that are desired and there already, byte for byte, and not owned.
    pub fn identical_unmanaged(&self) -> Vec<(Target, PathBuf)> {
        self.identical()
            .filter(|(_, _, content)| content.adopt)
            .map(|(target, path, _)| (target, path))
            .collect()
    }

    pub(crate) fn identical(&self) -> impl Iterator<Item = (Target, PathBuf, Identical<'_>)> {
        self.roots.iter().flat_map(|root| {
            root.entries.iter().filter_map(|entry| {
                let body = entry.identical.as_ref()?;
                let content = Identical {
                    digest: entry.file.digest,
                    executable: entry.file.executable,
                    body,
                    adopt: entry.adopt,
                };
                let path = entry.file.path.under(&root.owned.path);
                Some((root.owned.target, path, content))
            })
        })
    }
}

/// Compares what is desired with what is owned and what is there.
pub fn plan(
    desired: &Desired,
    owned: &Owned,
    disk: &Disk,
    options: &PlanOptions,
) -> Result<DeployPlan, Problem> {
    let owned = &*owned.as_found(disk);
    let roots = Roots::new(desired, owned);
    let mut planner = Planner {
        disk,
        options,
        claims: claims(&roots),
        imported: &owned.imported,
        wanted_paths: desired
            .files
            .iter()
            .map(|file| file.path.as_path())
            .collect(),
        changes: Vec::new(),
        local_edits: Vec::new(),
        plans: root_plans(&roots),
        shared: Vec::new(),
        warnings: owned.warnings.clone(),
    };
    let mut contents: HashMap<&Path, &DesiredFile> = HashMap::with_capacity(desired.files.len());
    for file in &desired.files {
        if let Some(other) = contents.insert(&file.path, file) {
            one_content(other, file)?;
        }
        planner.want_file(file, &roots)?;
    }
    one_content_behind_links(desired, &contents, disk)?;
    planner.drop_files(&roots)?;
    planner.keys(desired, &roots)?;
    let Planner {
        mut changes,
        mut local_edits,
        plans,
        shared,
        mut warnings,
        ..
    } = planner;
    changes.sort_by(PlanChange::order);
    local_edits.sort_by(|left, right| (left.target, &left.path).cmp(&(right.target, &right.path)));
    warnings.extend(local_edit_warning(&local_edits));
    Ok(DeployPlan {
        summary: PlanSummary::of(&changes),
        changes,
        local_edits,
        warnings,
        links: Vec::new(),
        purpose: options.purpose,
        roots: plans,
        shared,
    })
}

/// What is owned, by target and absolute path.
type Claims<'a> = HashMap<(Target, PathBuf), &'a OwnedFile>;

fn claims<'a>(roots: &Roots<'a>) -> Claims<'a> {
    let mut claims = HashMap::new();
    for slot in &roots.slots {
        for file in slot.owned.iter().flat_map(|owned| &owned.files) {
            claims.insert((slot.target, file.path.under(&slot.path)), file);
        }
    }
    claims
}

fn root_plans(roots: &Roots<'_>) -> Vec<RootPlan> {
    roots
        .slots
        .iter()
        .map(|slot| RootPlan {
            owned: OwnedRoot {
                scope: slot.scope,
                ..slot
                    .owned
                    .cloned()
                    .unwrap_or_else(|| OwnedRoot::nothing(slot.target, slot.path.clone()))
            },
            active: slot.active,
            scan_extras: slot.scan_extras,
            wanted: false,
            entries: Vec::new(),
            keys_kept: Vec::new(),
        })
        .collect()
}

struct Planner<'a> {
    disk: &'a Disk,
    options: &'a PlanOptions,
    claims: Claims<'a>,
    imported: &'a BTreeMap<PathBuf, Digest>,
    wanted_paths: HashSet<&'a Path>,
    changes: Vec<PlanChange>,
    local_edits: Vec<LocalEdit>,
    plans: Vec<RootPlan>,
    shared: Vec<SharedPlan>,
    warnings: Vec<String>,
}

impl Planner<'_> {
    fn want_file(&mut self, file: &DesiredFile, roots: &Roots<'_>) -> Result<(), Problem> {
        let (root, below) = place(roots, file.target, &file.path)?;
        let owned = self.claims.get(&(file.target, file.path.clone())).copied();
        let found = self.found(&file.path)?;
        let mut adopt = false;
        let mut identical = None;
        match found {
            None => self.changes.push(PlanChange {
                after_mode: (file.executable && self.options.compare_modes)
                    .then_some(FileMode::EXECUTABLE),
                ..self.write(file, Op::Create, Reason::FileMissing)
            }),
            Some(found) => {
                let same_bytes = found.digest == file.digest;
                let mode = self.new_mode(found.mode, file.executable);
                adopt = owned.is_none();
                if !same_bytes || mode.is_some() {
                    let (kind, reason) = match (owned, same_bytes) {
                        (None, _) => (UpdateKind::AdoptUpdate, Reason::WouldOverwrite),
                        (Some(_), false) => (UpdateKind::ManagedUpdate, Reason::ContentDiffers),
                        (Some(_), true) => (UpdateKind::ManagedUpdate, Reason::ModeDiffers),
                    };
                    self.changes.push(PlanChange {
                        before_sha256: Some(found.digest),
                        update_kind: Some(kind),
                        before_mode: mode.map(|_| found.mode),
                        after_mode: mode,
                        found_mode: Some(found.mode),
                        ..self.write(file, Op::Update, reason)
                    });
                } else if adopt {
                    identical = Some(file.body.clone());
                    adopt = self.imported.get(&file.path) != Some(&file.digest);
                }
                if let Some(owned) = owned
                    && !same_bytes
                    && owned.digest != found.digest
                {
                    self.edited(
                        file.target,
                        &file.path,
                        Op::Update,
                        owned.digest,
                        found.digest,
                    );
                }
            }
        }
        let mut module_ids = file.module_ids.clone();
        if self.options.purpose == Purpose::Bootstrap {
            module_ids.push(OPERATOR_MARK.to_owned());
            module_ids.sort_unstable();
            module_ids.dedup();
        }
        self.plans[root].wanted = true;
        self.plans[root].entries.push(Entry {
            file: OwnedFile {
                path: below,
                digest: file.digest,
                executable: file.executable,
                module_ids,
            },
            adopt,
            identical,
        });
        Ok(())
    }

    /// Owned files that nothing wants: removed, or kept if they are not this plan's business.
    fn drop_files(&mut self, roots: &Roots<'_>) -> Result<(), Problem> {
        let shared: HashSet<PathBuf> = roots
            .slots
            .iter()
            .flat_map(|slot| {
                slot.owned
                    .iter()
                    .flat_map(|owned| &owned.keys)
                    .map(|key| key.path.under(&slot.path))
            })
            .collect();
        for (index, slot) in roots.slots.iter().enumerate() {
            let Some(owned) = slot.owned else { continue };
            let wanted: HashSet<RelPath> = self.plans[index]
                .entries
                .iter()
                .map(|entry| entry.file.path.clone())
                .collect();
            for file in &owned.files {
                if wanted.contains(&file.path) {
                    continue;
                }
                if file.is_operator() || self.options.purpose == Purpose::Bootstrap {
                    self.plans[index].entries.push(Entry {
                        file: file.clone(),
                        adopt: false,
                        identical: None,
                    });
                    continue;
                }
                let path = file.path.under(&slot.path);
                // Another root or target wants it, or it is shared now: it stays where it is.
                if self.wanted_paths.contains(path.as_path()) || shared.contains(&path) {
                    continue;
                }
                let Some(found) = self.left_over(&path)? else {
                    continue;
                };
                if found.digest != file.digest {
                    self.edited(slot.target, &path, Op::Delete, file.digest, found.digest);
                }
                self.changes.push(PlanChange {
                    target: slot.target,
                    op: Op::Delete,
                    path,
                    before_sha256: Some(found.digest),
                    after_sha256: None,
                    update_kind: None,
                    reason: Reason::NoLongerManaged,
                    before_mode: None,
                    after_mode: None,
                    keys: Vec::new(),
                    after: None,
                    found_mode: Some(found.mode),
                });
            }
        }
        Ok(())
    }

    fn keys(&mut self, desired: &Desired, roots: &Roots<'_>) -> Result<(), Problem> {
        for file in shared_files(desired, roots, self.disk, self.options.purpose)? {
            let (root, file) = file;
            if !file.desired.is_empty() {
                self.plans[root].wanted = true;
            }
            if self.wanted_paths.contains(file.path.as_path()) {
                if file.desired.is_empty() {
                    continue;
                }
                return Err(both_ways(file.target, &file.path));
            }
            let found = self.disk.at(&file.path).file();
            let outcome = file.resolve(Theirs::Overwrite)?;
            if let Some(change) = shared_change(&file, found, &outcome) {
                if outcome.edited {
                    self.local_edits.push(LocalEdit {
                        target: file.target,
                        path: file.path.clone(),
                        op: change.op,
                        deployed_sha256: None,
                        current_sha256: found.map(|found| found.digest),
                    });
                }
                self.changes.push(change);
            }
            self.shared.push(SharedPlan {
                root,
                file,
                found,
                outcome,
            });
        }
        if self.options.purpose == Purpose::Bootstrap {
            for plan in &mut self.plans {
                plan.keys_kept = plan.owned.keys.clone();
            }
        }
        Ok(())
    }

    /// The file at a path where one is to be written.
    fn found(&self, path: &Path) -> Result<Option<FoundFile>, Problem> {
        match self.disk.at(path) {
            OnDisk::Absent => Ok(None),
            OnDisk::Unreadable(problem) => Err(problem.clone()),
            // Only files of ours are in it, and they go: the directory gives way.
            OnDisk::NotAFile if self.owns_below(path) => Ok(None),
            OnDisk::NotAFile => Err(fault::unexpected(
                "io_error",
                &["fix_path", "retry_command"],
                format!(
                    "cannot write {}: something that is not a file is there; move it away",
                    path.display()
                ),
            )
            .with("path", shown(path))),
            found => Ok(found.file()),
        }
    }

    /// The file at a path that pack owns and nothing wants.
    fn left_over(&mut self, path: &Path) -> Result<Option<FoundFile>, Problem> {
        match self.disk.at(path) {
            OnDisk::Unreadable(problem) => Err(problem.clone()),
            OnDisk::NotAFile => {
                self.warnings.push(format!(
                    "{} is listed as a managed file but is no longer a file; left alone",
                    path.display()
                ));
                Ok(None)
            }
            found => Ok(found.file()),
        }
    }

    fn owns_below(&self, directory: &Path) -> bool {
        let mut owned = self.claims.keys().map(|(_, path)| path);
        owned.any(|path| below(directory, path).is_some())
    }

    fn new_mode(&self, found: FileMode, executable: bool) -> Option<FileMode> {
        (self.options.compare_modes && found.is_executable() != executable)
            .then(|| with_execute(found, executable))
    }

    fn write(&self, file: &DesiredFile, op: Op, reason: Reason) -> PlanChange {
        PlanChange {
            target: file.target,
            op,
            path: file.path.clone(),
            before_sha256: None,
            after_sha256: Some(file.digest),
            update_kind: None,
            reason,
            before_mode: None,
            after_mode: None,
            keys: Vec::new(),
            after: Some(Written {
                body: file.body.clone(),
                executable: file.executable,
            }),
            found_mode: None,
        }
    }

    fn edited(&mut self, target: Target, path: &Path, op: Op, deployed: Digest, current: Digest) {
        self.local_edits.push(LocalEdit {
            target,
            path: path.to_owned(),
            op,
            deployed_sha256: Some(deployed),
            current_sha256: Some(current),
        });
    }
}

/// The switched-on root of an output. An output outside every root is refused: nothing would
/// record who owns it.
pub(crate) fn place(
    roots: &Roots<'_>,
    target: Target,
    path: &Path,
) -> Result<(usize, RelPath), Problem> {
    roots.place(target, path).ok_or_else(|| {
        fault::config_invalid(format!(
            "{target} would write {}, which is in none of its roots",
            path.display()
        ))
        .with("target", target.as_str())
        .with("path", shown(path))
    })
}
