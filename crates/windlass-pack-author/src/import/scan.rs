//! What there is to import: files and directories at known places, and the modules they become.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use windlass_pack_deploy::render::{Checkouts, Places, RenderInput, compose_module};
use windlass_pack_model::{
    Manifest, Module, ModuleType, NoHashCache, Source, Target, Tree,
    fault::{self, is_absent},
    manifest::DEFAULT_PROFILE,
};
use windlass_types::Problem;

use super::{ImportRequest, project_name};

/// Something that may become a module.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) module_id: String,
    pub(super) module_type: ModuleType,
    /// Whether it is the project's; otherwise it is the user's.
    pub(super) of_project: bool,
    pub(super) targets: Vec<Target>,
    pub(super) tags: Vec<String>,
    pub(super) source: PathBuf,
    pub(super) source_is_file: bool,
    /// The file or directory it goes to.
    pub(super) destination: PathBuf,
    /// The same below the repository, with `/`.
    pub(super) destination_in_repo: String,
}

/// The files of a candidate.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) tree: Tree,
}

/// Everything at the known places.
pub(super) fn candidates(request: &ImportRequest<'_>) -> Result<Vec<Candidate>, Problem> {
    let user = Shelf::new(request, None);
    let name = project_name(request.project);
    let project = Shelf::new(request, Some(&name));
    let home = request.home_root;
    let root = &request.project.root;

    let mut found = Vec::new();
    for path in markdown_files(&home.join(".codex/prompts"))? {
        found.push(user.prompt(path));
    }
    for path in directories(&home.join(".codex/skills"))? {
        found.push(user.skill(path));
    }
    for path in markdown_files(&home.join(".claude/commands"))? {
        found.push(user.command(path));
    }
    let agents = root.join("AGENTS.md");
    if agents.is_file() {
        found.push(project.instructions(agents, &request.project.id));
    }
    for path in markdown_files(&root.join(".claude/commands"))? {
        found.push(project.command(path));
    }
    for path in directories(&root.join(".codex/skills"))? {
        found.push(project.skill(path));
    }
    Ok(found)
}

/// How things of one scope are named and tagged.
struct Shelf<'a> {
    repo: &'a Path,
    /// The project's name; none for the user.
    project: Option<&'a str>,
}

impl<'a> Shelf<'a> {
    fn new(request: &ImportRequest<'a>, project: Option<&'a str>) -> Self {
        Self {
            repo: request.repo,
            project,
        }
    }

    fn prompt(&self, path: PathBuf) -> Candidate {
        let below = format!("modules/prompts/imported/{}", file_name(&path));
        let name = component(&stem(&path));
        self.candidate(ModuleType::Prompt, name, path, below, &[Target::Codex])
    }

    fn skill(&self, path: PathBuf) -> Candidate {
        let name = self.prefixed(component(&file_name(&path)));
        let below = format!("modules/skills/imported/{name}");
        self.candidate(ModuleType::Skill, name, path, below, &[Target::Codex])
    }

    fn command(&self, path: PathBuf) -> Candidate {
        let shelf = self.project.unwrap_or("user");
        let below = format!(
            "modules/claude-commands/imported/{shelf}/{}",
            file_name(&path)
        );
        let name = self.prefixed(component(&stem(&path)));
        self.candidate(
            ModuleType::Command,
            name,
            path,
            below,
            &[Target::ClaudeCode],
        )
    }

    fn instructions(&self, path: PathBuf, project_id: &str) -> Candidate {
        let below = format!("modules/instructions/imported/{project_id}");
        let name = format!("project-{project_id}");
        let targets = [Target::Codex, Target::Cursor, Target::Vscode];
        self.candidate(ModuleType::Instructions, name, path, below, &targets)
    }

    fn prefixed(&self, name: String) -> String {
        match self.project {
            Some(project) => format!("{project}-{name}"),
            None => name,
        }
    }

    fn candidate(
        &self,
        module_type: ModuleType,
        name: String,
        source: PathBuf,
        below: String,
        targets: &[Target],
    ) -> Candidate {
        let mut tags: Vec<String> = match self.project {
            None => ["base", "imported", "user"].map(str::to_owned).to_vec(),
            Some(project) => ["imported", "project", project].map(str::to_owned).to_vec(),
        };
        tags.extend(targets.iter().map(ToString::to_string));
        Candidate {
            module_id: format!("{module_type}:{name}"),
            module_type,
            of_project: self.project.is_some(),
            targets: targets.to_vec(),
            tags,
            source_is_file: module_type != ModuleType::Skill,
            destination: self.repo.join(&below),
            destination_in_repo: below,
            source,
        }
    }
}

impl Candidate {
    pub(super) fn scope(&self) -> &'static str {
        match self.of_project {
            true => "project",
            false => "user",
        }
    }

    /// Whether the destination is the file itself and not the directory it is in.
    pub(super) fn is_one_file(&self) -> bool {
        matches!(self.module_type, ModuleType::Prompt | ModuleType::Command)
    }

    /// Reads the files and checks that they are what the type says, or says why not.
    pub(super) fn read(
        &self,
        manifest: &Manifest,
        warnings: &mut Vec<String>,
    ) -> Result<Reading, &'static str> {
        let mut invalid = |cause: &str| {
            warnings.push(format!(
                "{} cannot become {}: {cause}",
                self.source.display(),
                self.module_id
            ));
            "invalid_module_source"
        };
        if !self.source.exists() {
            return Err("source_missing");
        }
        // Paths of modules are text everywhere.
        let (Some(source), Some(parent)) = (self.source.to_str(), self.source.parent()) else {
            return Err(invalid("its name is not UTF-8"));
        };
        let module = Module {
            id: self.module_id.clone(),
            module_type: self.module_type,
            enabled: true,
            tags: Vec::new(),
            targets: Vec::new(),
            source: Source::LocalPath {
                path: source.to_owned(),
            },
            line: 0,
        };
        let places = Places {
            home_dir: PathBuf::new(),
            codex_home: None,
        };
        let alone = Manifest {
            modules: Vec::new(),
            targets: BTreeMap::new(),
            ..manifest.clone()
        };
        let input = RenderInput {
            // Its own surroundings: overlays of the config repository have no say.
            repo: parent,
            manifest: &alone,
            profile: DEFAULT_PROFILE,
            target: None,
            machine_id: "",
            project: None,
            places: &places,
            checkouts: &NoGit,
            lockfile: None,
            hashes: &NoHashCache,
        };
        match compose_module(&input, &module) {
            Ok(composed) => Ok(Reading {
                tree: composed.tree,
            }),
            Err(problem) => Err(invalid(problem.message())),
        }
    }
}

/// Nothing that is imported comes from git.
struct NoGit;

impl Checkouts for NoGit {
    fn checkout(
        &self,
        module_id: &str,
        _: &windlass_pack_model::GitSource,
        _: Option<&str>,
    ) -> Result<PathBuf, Problem> {
        Err(Problem::internal(
            "pack.import",
            format!("{module_id} is not from git"),
        ))
    }
}

/// The Markdown files of a directory; links to files count.
fn markdown_files(directory: &Path) -> Result<Vec<PathBuf>, Problem> {
    entries(directory, |path| {
        path.extension().is_some_and(|extension| extension == "md") && path.is_file()
    })
}

/// The directories of a directory; links to directories count.
fn directories(directory: &Path) -> Result<Vec<PathBuf>, Problem> {
    entries(directory, Path::is_dir)
}

fn entries(directory: &Path, wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, Problem> {
    let failed = |error: &std::io::Error| fault::io("read directory", directory, error);
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(failed(&error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| failed(&error))?.path();
        if wanted(&path) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// A name as part of a module id: lower-case, everything unusual a dash, no dash at the ends.
fn component(name: &str) -> String {
    let mapped: String = name
        .trim()
        .chars()
        .map(|part| match part.to_ascii_lowercase() {
            part if part.is_ascii_alphanumeric() || matches!(part, '-' | '_') => part,
            _ => '-',
        })
        .collect();
    match mapped.trim_matches('-') {
        "" => "item".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::component;

    #[test]
    fn names_become_parts_of_ids() {
        for (name, expected) in [
            ("Draft PR", "draft-pr"),
            ("a_b-c", "a_b-c"),
            ("--x--", "x"),
            ("a..b", "a--b"),
            ("../../etc", "etc"),
            ("Ünï", "n"),
            ("…", "item"),
        ] {
            assert_eq!(component(name), expected, "{name}");
        }
    }
}
