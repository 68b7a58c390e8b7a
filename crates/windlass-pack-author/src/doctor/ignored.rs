//! Whether git ignores the manifests, and the lines that make it do so.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use fs_err as fs;
use serde::Serialize;
use windlass_pack_deploy::state::FileAction;
use windlass_pack_model::{
    GitignoreMode, RootScope, TargetRoot, fault,
    managed::{GITIGNORE_LINE, manifest_name},
};
use windlass_ports::git::GitError;
use windlass_types::Problem;

use super::DoctorInput;
use crate::{
    authored::shown,
    git_fault::git_problem,
    gitignore,
    repository::{put, read_text},
};

/// An ignore file that is fixed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GitignoreFix {
    /// The repository.
    pub repo_root: String,
    /// The same with `/`.
    pub repo_root_posix: String,
    /// The ignore file.
    pub gitignore_path: String,
    /// The same with `/`.
    pub gitignore_path_posix: String,
    /// Whether it changes.
    pub updated: bool,
}

/// What was found, and what fixes it.
#[derive(Default)]
pub(super) struct Ignores {
    pub(super) warnings: Vec<String>,
    pub(super) fixes: Vec<GitignoreFix>,
    pub(super) writes: Vec<FileAction>,
    pub(super) roots: Vec<PathBuf>,
    /// Whether something is to be fixed.
    pub(super) due: bool,
}

/// Looks at every root that is inside a git repository.
pub(super) fn examine(input: &DoctorInput<'_>) -> Result<Ignores, Problem> {
    let mut ignores = Ignores::default();
    for (top, roots) in by_repository(input, &mut ignores.warnings) {
        ignores.repository(input, &top, &roots)?;
    }
    Ok(ignores)
}

/// The roots that exist, by the git repository they are in.
fn by_repository<'a>(
    input: &DoctorInput<'a>,
    warnings: &mut Vec<String>,
) -> BTreeMap<PathBuf, Vec<&'a TargetRoot>> {
    let mut repositories: BTreeMap<PathBuf, Vec<&TargetRoot>> = BTreeMap::new();
    let existing = input.desired.roots.iter().filter(|root| root.path.is_dir());
    for root in existing {
        match input.git.toplevel(&root.path) {
            Ok(Some(top)) => repositories.entry(top).or_default().push(root),
            // Without git a manifest cannot be committed by mistake.
            Ok(None) | Err(GitError::NotInstalled) => {}
            Err(error) => warnings.push(unknown_ignore_state(&root.path, &error)),
        }
    }
    repositories
}

fn unknown_ignore_state(path: &Path, error: &GitError) -> String {
    let problem = git_problem(error, path, &["check-ignore"]);
    format!(
        "it is unknown whether git ignores `{GITIGNORE_LINE}` in {}: {}",
        path.display(),
        problem.message()
    )
}

impl Ignores {
    fn repository(
        &mut self,
        input: &DoctorInput<'_>,
        top: &Path,
        roots: &[&TargetRoot],
    ) -> Result<(), Problem> {
        let open = match visible_manifests(input, top, roots) {
            Ok(open) => open,
            Err(error) => {
                self.warnings.push(unknown_ignore_state(top, &error));
                return Ok(());
            }
        };
        let file = IgnoreFile::find(top, input.manifest.gitignore_mode)?;
        let before = read_text(&file.path, fault::config_invalid)?;
        let text = before.as_deref().unwrap_or_default();
        let outputs = match input.manifest.gitignore_outputs {
            true => outputs(input, top, roots),
            false => BTreeSet::new(),
        };
        let stale = gitignore::has_block(text) || !outputs.is_empty();
        if open.is_empty() && !stale {
            return Ok(());
        }
        let mut lines = vec![GITIGNORE_LINE.to_owned()];
        lines.extend(outputs);
        let after = gitignore::with_block(text, &lines);
        if open.is_empty() && after.is_none() {
            return Ok(());
        }
        self.due |= after.is_some();
        self.suggest(input, top, &open, &file, after.is_some());
        if input.fix {
            self.fixes.push(GitignoreFix {
                repo_root: shown(top),
                repo_root_posix: fault::posix(top),
                gitignore_path: shown(&file.path),
                gitignore_path_posix: fault::posix(&file.path),
                updated: after.is_some(),
            });
            if let Some(after) = after {
                let before = before.as_deref().map(str::as_bytes);
                self.writes.push(put(file.path, before, after.into_bytes()));
                self.roots.push(file.root);
            }
        }
        Ok(())
    }

    fn suggest(
        &mut self,
        input: &DoctorInput<'_>,
        top: &Path,
        open: &[&TargetRoot],
        file: &IgnoreFile,
        helps: bool,
    ) {
        let at = file.path.display();
        let remedy = match (helps, input.fix) {
            (true, true) => format!("{at} is being completed"),
            (true, false) => format!("run `{}`", input.caller.command("doctor --fix")),
            (false, _) => format!("{at} has the line, but a later rule overrides it"),
        };
        for root in open {
            self.warnings.push(format!(
                "{} is inside the git repository {}, which does not ignore `{GITIGNORE_LINE}`; {remedy}",
                root.path.display(),
                top.display()
            ));
        }
        if open.is_empty() {
            self.warnings.push(format!(
                "the lines of agentpack in {at} are not up to date; {remedy}"
            ));
        }
    }
}

/// The roots whose manifest git would show. One question for all of them.
fn visible_manifests<'a>(
    input: &DoctorInput<'_>,
    top: &Path,
    roots: &[&'a TargetRoot],
) -> Result<Vec<&'a TargetRoot>, GitError> {
    let mut asked = Vec::new();
    for root in roots {
        if let Some(below) = below(top, &root.path) {
            asked.push((*root, below.join(manifest_name(root.target))));
        }
    }
    let paths: Vec<&Path> = asked.iter().map(|(_, path)| path.as_path()).collect();
    let ignored = input.git.is_ignored(top, &paths)?;
    Ok(asked
        .iter()
        .zip(ignored)
        .filter(|(_, ignored)| !ignored)
        .map(|((root, _), _)| *root)
        .collect())
}

/// A path below the top of its repository. Git gives the top without links.
fn below(top: &Path, path: &Path) -> Option<PathBuf> {
    let plain = path.strip_prefix(top).map(Path::to_owned);
    plain
        .or_else(|_| {
            let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            real.strip_prefix(top).map(Path::to_owned)
        })
        .ok()
}

/// Patterns for what is deployed into the project: a directory per skill, else a line per file.
/// Files shared with others are not pack's to hide.
fn outputs(input: &DoctorInput<'_>, top: &Path, roots: &[&TargetRoot]) -> BTreeSet<String> {
    let mut patterns = BTreeSet::new();
    let owners: Vec<_> = roots
        .iter()
        .filter(|root| root.scope == RootScope::Project)
        .filter_map(|root| Some((*root, below(top, &root.path)?)))
        .collect();
    for file in &input.desired.files {
        // The deepest root owns the file.
        let owner = owners
            .iter()
            .filter(|(root, _)| root.target == file.target)
            .filter_map(|(root, at)| Some((at, file.path.strip_prefix(&root.path).ok()?)))
            .min_by_key(|(_, rest)| rest.components().count());
        let Some((at, rest)) = owner else {
            continue;
        };
        let whole = rest
            .components()
            .next()
            .filter(|_| rest.components().count() > 1);
        let skill = at.ends_with("skills").then_some(whole).flatten();
        let (path, directory) = match skill {
            Some(first) => (at.join(first), true),
            None => (at.join(rest), false),
        };
        patterns.extend(gitignore::pattern(&fault::posix(&path), directory));
    }
    patterns
}

/// The file that takes pack's lines, and the directory to lock for it.
struct IgnoreFile {
    path: PathBuf,
    root: PathBuf,
}

impl IgnoreFile {
    fn find(top: &Path, mode: GitignoreMode) -> Result<Self, Problem> {
        match mode {
            GitignoreMode::Gitignore => Ok(Self {
                path: top.join(".gitignore"),
                root: top.to_owned(),
            }),
            GitignoreMode::Exclude => {
                let git = common_git_dir(top)?;
                Ok(Self {
                    path: git.join("info/exclude"),
                    root: git,
                })
            }
        }
    }
}

/// Git's own directory: `.git`, or where a file of that name leads (linked work trees,
/// submodules).
fn common_git_dir(top: &Path) -> Result<PathBuf, Problem> {
    let git = top.join(".git");
    if git.is_dir() {
        return Ok(git);
    }
    let unreadable = |error: std::io::Error| fault::io("read", &git, &error);
    let text = fs::read_to_string(&git).map_err(unreadable)?;
    let Some(leads_to) = text.trim_end().strip_prefix("gitdir:") else {
        let message = format!("{} does not say where git's directory is", git.display());
        return Err(fault::at(fault::config_invalid(message), &git));
    };
    let own = top.join(leads_to.trim());
    match read_text(&own.join("commondir"), fault::config_invalid)? {
        Some(common) => Ok(own.join(common.trim())),
        None => Ok(own),
    }
}
