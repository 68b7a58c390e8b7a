//! `import`: takes what is already in the tools' directories into the config repository.
//!
//! Scan, decide, copy. The originals stay where they are; their paths and contents are noted, so
//! that a deploy of exactly them may own them.

mod advice;
mod instructions;
mod scan;
mod settings;
mod shelf;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde::Serialize;
use windlass_pack_deploy::state::{After, FileAction};
use windlass_pack_model::{
    Module, ModuleType, Profile, Project, Source, Target, edit, fault,
    next_actions::{Action, Caller, ordered},
};
use windlass_types::{Digest, Problem};

use crate::{
    Authored, ManifestFile,
    authored::shown,
    repository::{is_free, read_manifest, write},
};
use scan::{Candidate, Reading};

/// No more examples than these.
const SAMPLES: usize = 20;

/// What to import, and for whom.
#[derive(Clone, Copy, Debug)]
pub struct ImportRequest<'a> {
    /// The config repository.
    pub repo: &'a Path,
    /// The home directory that is looked through.
    pub home_root: &'a Path,
    /// The project that is looked through.
    pub project: &'a Project,
    /// Codex's home, where it is not `.codex` of the home directory.
    pub codex_home: Option<&'a Path>,
    /// Whether to write.
    pub apply: bool,
    /// How the program was called, for the commands suggested next.
    pub caller: &'a Caller,
    /// Whether those commands are for a program.
    pub json: bool,
}

/// The answer to an import.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The data and the writes; files come before the manifest.
    pub outcome: Authored<ImportData>,
    /// The originals with their contents: to be remembered once the writes are done.
    pub taken: BTreeMap<PathBuf, Digest>,
}

/// The `data` of `import`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImportData {
    /// Whether files are written.
    pub applied: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The config repository.
    pub repo: String,
    /// The same with `/`.
    pub repo_posix: String,
    /// The home directory that was looked through.
    pub home_root: String,
    /// The same with `/`.
    pub home_root_posix: String,
    /// The project that was looked through.
    pub project: ImportedProject,
    /// What was found, by module id.
    pub plan: Vec<ImportItem>,
    /// How much of it.
    pub summary: ImportSummary,
    /// What is in the way.
    pub conflicts: Vec<ImportConflict>,
    /// The commands to continue with.
    pub next_actions: Vec<String>,
}

/// The project that was looked through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportedProject {
    /// Its id.
    pub project_id: String,
    /// Its root.
    pub project_root: String,
    /// The same with `/`.
    pub project_root_posix: String,
    /// Its origin.
    pub origin_url: Option<String>,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportItem {
    /// What happens to it.
    pub op: ImportOp,
    /// The module it becomes.
    pub module_id: String,
    /// What it is.
    pub module_type: ModuleType,
    /// `user` or `project`.
    pub scope: &'static str,
    /// The targets it is for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// Its tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Where it is.
    pub source_path: String,
    /// The same with `/`.
    pub source_path_posix: String,
    /// Where it goes.
    pub dest_path: String,
    /// The same with `/`.
    pub dest_path_posix: String,
    /// Whether something is there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dest_exists: bool,
    /// Why it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_reason: Option<&'static str>,
}

/// What happens to something that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportOp {
    /// It becomes a module.
    Create,
    /// There is such a module.
    SkipExistingModule,
    /// It cannot become a module.
    SkipInvalid,
}

/// How much was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportSummary {
    /// All of it.
    pub candidates: u64,
    /// What becomes a module.
    pub create: u64,
    /// What is a module already.
    pub skipped_existing_module: u64,
    /// What cannot become one.
    pub skipped_invalid: u64,
}

/// Something in the way of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportConflict {
    /// What kind.
    pub kind: &'static str,
    /// How often.
    pub count: u64,
    /// The module, when it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module_id: Option<String>,
    /// Examples.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sample_paths: Vec<String>,
    /// The same with `/`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sample_paths_posix: Vec<String>,
    /// What to do.
    pub hint: &'static str,
}

const RENAME_HINT: &str =
    "give the sources names that lead to different module ids, then import again";
const MOVE_HINT: &str = "move or delete these paths of the config repository, then import again";

/// Plans an import; with `apply`, also what it writes.
pub fn import(request: &ImportRequest<'_>) -> Result<Imported, Problem> {
    let manifest = read_manifest(request.repo)?;
    let mut warnings = Vec::new();
    let mut found = Found::look(request, &manifest, &mut warnings)?;
    found.join_alike();
    warnings.extend(advice::of(
        &manifest.manifest,
        found.created().map(|(one, _)| one),
    ));
    let mut conflicts = found.drop_duplicates();
    let occupied = found.find_occupied()?;
    conflicts.extend(occupied.clone());

    let creates = found.items.iter().any(|item| item.op() == ImportOp::Create);
    let applied = request.apply && creates;
    let mut outcome = Authored::inside(request.repo, (), Vec::new());
    let mut taken = BTreeMap::new();
    if applied {
        if let Some(conflict) = occupied {
            return Err(in_the_way(conflict));
        }
        let writes = found.writes(&manifest, request.project, &mut warnings)?;
        outcome = Authored::inside(request.repo, (), writes);
        taken = found.taken();
    }
    let data = ImportData {
        applied,
        reason: match (request.apply, applied) {
            (false, _) => Some("dry_run"),
            (true, false) => Some("no_changes"),
            (true, true) => None,
        },
        repo: shown(request.repo),
        repo_posix: fault::posix(request.repo),
        home_root: shown(request.home_root),
        home_root_posix: fault::posix(request.home_root),
        project: ImportedProject {
            project_id: request.project.id.clone(),
            project_root: shown(&request.project.root),
            project_root_posix: fault::posix(&request.project.root),
            origin_url: request.project.origin_url.clone(),
        },
        summary: found.summary(),
        next_actions: found.next_actions(request),
        plan: found.items.iter().map(Item::shown).collect(),
        conflicts,
    };
    Ok(Imported {
        outcome: Authored {
            data,
            writes: outcome.writes,
            roots: outcome.roots,
            warnings,
        },
        taken,
    })
}

/// The name of the profile and of the tag of a project.
fn project_name(project: &Project) -> String {
    format!("project-{}", project.id)
}

/// Something that was found, and what becomes of it.
struct Item {
    candidate: Candidate,
    /// The files, or why there are none.
    fate: Result<Reading, (ImportOp, &'static str)>,
    dest_exists: bool,
    /// Originals of what was joined with it.
    originals: BTreeMap<PathBuf, Digest>,
}

impl Item {
    /// The files it was found in, which a deploy writes as they are.
    fn originals(&self) -> BTreeMap<PathBuf, Digest> {
        let mut originals = self.originals.clone();
        let candidate = &self.candidate;
        if candidate.made.is_none()
            && let Ok(reading) = &self.fate
        {
            originals.extend(reading.tree.iter().map(|(path, content)| {
                let original = match candidate.source_is_file {
                    true => candidate.source.clone(),
                    false => path.under(&candidate.source),
                };
                (original, content.digest)
            }));
        }
        originals.extend(candidate.whole.iter().filter_map(|path| {
            let bytes = fs_err::read(path).ok()?;
            Some((path.clone(), Digest::of(&bytes)))
        }));
        originals
    }

    fn op(&self) -> ImportOp {
        match &self.fate {
            Ok(_) => ImportOp::Create,
            Err((op, _)) => *op,
        }
    }

    fn shown(&self) -> ImportItem {
        let candidate = &self.candidate;
        ImportItem {
            op: self.op(),
            module_id: candidate.module_id.clone(),
            module_type: candidate.module_type,
            scope: candidate.scope(),
            targets: candidate.targets.clone(),
            tags: candidate.all_tags(),
            source_path: shown(&candidate.source),
            source_path_posix: fault::posix(&candidate.source),
            dest_path: shown(&candidate.destination),
            dest_path_posix: fault::posix(&candidate.destination),
            dest_exists: self.dest_exists,
            skip_reason: self.fate.as_ref().err().map(|(_, reason)| *reason),
        }
    }
}

struct Found {
    items: Vec<Item>,
}

impl Found {
    fn look(
        request: &ImportRequest<'_>,
        manifest: &ManifestFile,
        warnings: &mut Vec<String>,
    ) -> Result<Self, Problem> {
        let mut candidates = scan::candidates(request, warnings)?;
        candidates.sort_by(|left, right| {
            // Of two things of one name Codex's keeps the plain id.
            let order = |one: &Candidate| !one.targets.contains(&Target::Codex);
            (&left.module_id, order(left), &left.source).cmp(&(
                &right.module_id,
                order(right),
                &right.source,
            ))
        });
        let known: BTreeSet<&str> = manifest
            .manifest
            .modules
            .iter()
            .map(|module| module.id.as_str())
            .collect();
        let items = candidates
            .into_iter()
            .map(|candidate| {
                let fate = match known.contains(candidate.module_id.as_str()) {
                    true => Err((ImportOp::SkipExistingModule, "module_id_already_exists")),
                    false => candidate
                        .read(&manifest.manifest, warnings)
                        .map_err(|reason| (ImportOp::SkipInvalid, reason)),
                };
                Item {
                    candidate,
                    fate,
                    dest_exists: false,
                    originals: BTreeMap::new(),
                }
            })
            .collect();
        Ok(Self { items })
    }

    /// The same thing for several tools is one module; another thing of the same name gets an id
    /// of its own.
    fn join_alike(&mut self) {
        let mut kept: Vec<Item> = Vec::with_capacity(self.items.len());
        for mut item in std::mem::take(&mut self.items) {
            if let Ok(reading) = &item.fate
                && let Some(other) = kept.iter_mut().rev().find(|other| {
                    other.candidate.module_id == item.candidate.module_id && other.fate.is_ok()
                })
            {
                let alike = other
                    .fate
                    .as_ref()
                    .is_ok_and(|there| there.is_like(reading));
                let one_tool = item
                    .candidate
                    .targets
                    .iter()
                    .any(|target| other.candidate.targets.contains(target));
                if alike {
                    other.originals.extend(item.originals());
                    other.candidate.join(item.candidate);
                    continue;
                }
                if !one_tool {
                    item.candidate.set_apart();
                }
            }
            kept.push(item);
        }
        self.items = kept;
    }

    /// Of several sources with one id the first is taken; the others are reported.
    fn drop_duplicates(&mut self) -> Vec<ImportConflict> {
        let mut sources: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for item in &mut self.items {
            let same = sources.entry(item.candidate.module_id.clone()).or_default();
            if !same.is_empty() {
                item.fate = Err((ImportOp::SkipInvalid, "duplicate_module_id_in_scan"));
            }
            same.push(item.candidate.source.clone());
        }
        sources
            .into_iter()
            .filter(|(_, paths)| paths.len() > 1)
            .map(|(id, paths)| {
                conflict("duplicate_module_id_in_scan", Some(id), paths, RENAME_HINT)
            })
            .collect()
    }

    /// Marks those whose destination is taken.
    fn find_occupied(&mut self) -> Result<Option<ImportConflict>, Problem> {
        let mut paths = Vec::new();
        for item in &mut self.items {
            if item.op() == ImportOp::Create && !is_free(&item.candidate.destination)? {
                item.dest_exists = true;
                paths.push(item.candidate.destination.clone());
            }
        }
        Ok((!paths.is_empty()).then(|| conflict("dest_path_exists", None, paths, MOVE_HINT)))
    }

    fn created(&self) -> impl Iterator<Item = (&Candidate, &Reading)> {
        self.items.iter().filter_map(|item| {
            let reading = item.fate.as_ref().ok()?;
            Some((&item.candidate, reading))
        })
    }

    /// The files first, so that the manifest never names what is not there.
    fn writes(
        &self,
        file: &ManifestFile,
        project: &Project,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<FileAction>, Problem> {
        let mut writes = Vec::new();
        for (candidate, reading) in self.created() {
            for (path, content) in &reading.tree {
                let destination = match candidate.is_one_file() {
                    true => candidate.destination.clone(),
                    false => path.under(&candidate.destination),
                };
                let after = After {
                    digest: content.digest,
                    body: content.body.clone(),
                    executable: content.executable,
                };
                writes.push(write(destination, None, after));
            }
        }
        let modules: Vec<Module> = self
            .created()
            .map(|(candidate, _)| module(candidate))
            .collect();
        let at = |problem| fault::at(problem, &file.path);
        let mut text = edit::add_modules(&file.text, &modules).map_err(at)?;
        if self.created().any(|(candidate, _)| candidate.of_project) {
            let name = project_name(project);
            match file.manifest.profiles.get(&name) {
                None => {
                    let profile = Profile {
                        include_tags: vec!["base".to_owned(), name.clone()],
                        ..Profile::default()
                    };
                    text = edit::add_profile(&text, &name, &profile).map_err(at)?;
                }
                Some(profile) if !profile.include_tags.contains(&name) => warnings.push(format!(
                    "the profile {name} does not select what was imported: add {name} to its include_tags"
                )),
                Some(_) => {}
            }
        }
        writes.push(file.replaced_by(text));
        Ok(writes)
    }

    fn taken(&self) -> BTreeMap<PathBuf, Digest> {
        let created = self.items.iter().filter(|item| item.fate.is_ok());
        created.flat_map(Item::originals).collect()
    }

    fn summary(&self) -> ImportSummary {
        let mut summary = ImportSummary::default();
        for item in &self.items {
            summary.candidates += 1;
            match item.op() {
                ImportOp::Create => summary.create += 1,
                ImportOp::SkipExistingModule => summary.skipped_existing_module += 1,
                ImportOp::SkipInvalid => summary.skipped_invalid += 1,
            }
        }
        summary
    }

    /// What was imported for a project is selected by the project's profile.
    fn next_actions(&self, request: &ImportRequest<'_>) -> Vec<String> {
        let mut caller = request.caller.clone();
        if self.items.iter().any(|item| item.candidate.of_project) {
            caller.profile = Some(project_name(request.project));
        }
        let (preview, deploy) = match request.json {
            true => ("preview --diff --json", "deploy --apply --yes --json"),
            false => ("preview --diff", "deploy --apply"),
        };
        ordered([
            caller.suggest(Action::PreviewDiff, preview),
            caller.suggest(Action::DeployApply, deploy),
        ])
        .into_iter()
        .map(|action| action.command)
        .collect()
    }
}

fn module(candidate: &Candidate) -> Module {
    Module {
        id: candidate.module_id.clone(),
        module_type: candidate.module_type,
        enabled: true,
        tags: candidate.all_tags(),
        targets: candidate.targets.clone(),
        name: candidate.name.clone(),
        source: Source::LocalPath {
            path: candidate.destination_in_repo.clone(),
        },
        line: 0,
    }
}

fn conflict(
    kind: &'static str,
    module_id: Option<String>,
    mut paths: Vec<PathBuf>,
    hint: &'static str,
) -> ImportConflict {
    paths.sort();
    let samples = &paths[..paths.len().min(SAMPLES)];
    ImportConflict {
        kind,
        count: paths.len() as u64,
        module_id,
        sample_paths: samples.iter().map(|path| shown(path)).collect(),
        sample_paths_posix: samples.iter().map(|path| fault::posix(path)).collect(),
        hint,
    }
}

fn in_the_way(conflict: ImportConflict) -> Problem {
    fault::import_conflict(format!(
        "{} of the paths to import to exist already, {} among them; nothing is overwritten: {MOVE_HINT}",
        conflict.count,
        conflict.sample_paths.first().map_or("", String::as_str)
    ))
    .with("count", conflict.count)
    .with("sample_paths", conflict.sample_paths)
    .with("sample_paths_posix", conflict.sample_paths_posix)
    .with("hint", conflict.hint)
}
