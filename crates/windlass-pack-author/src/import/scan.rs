//! What there is to import: files and directories at known places, and the modules they become.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use windlass_pack_deploy::render::{
    Checkouts, Places, RenderInput, check_shape, compose_module, subagent_markdown, subagent_toml,
};
use windlass_pack_model::{
    Content, Layer, Manifest, Module, ModuleType, NoHashCache, RelPath, Source, Target, Tree,
    fault::{self, is_absent},
    manifest::DEFAULT_PROFILE,
};
use windlass_types::Problem;

use super::{ImportRequest, instructions, project_name, settings, shelf::Shelf};

/// Something that may become a module.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) module_id: String,
    pub(super) module_type: ModuleType,
    /// The name of its output, where the id says another.
    pub(super) name: Option<String>,
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
    /// Its files, where they are not those of the source.
    pub(super) made: Option<Vec<(String, Vec<u8>)>>,
    /// Why it cannot become a module.
    pub(super) broken: Option<String>,
    /// Where it was found, and what has to be on for it to be deployed there.
    pub(super) evidence: Vec<Evidence>,
    /// Files that a deploy would write as they are.
    pub(super) whole: Vec<PathBuf>,
}

/// A place of a target in which something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Evidence {
    pub(super) target: Target,
    /// The option that deploys to the place, and its default.
    pub(super) option: Option<(&'static str, bool)>,
    pub(super) project: bool,
}

/// The files of a candidate.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) tree: Tree,
}

impl Reading {
    /// Whether a module of either would be the same.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let facts = |tree: &Tree| -> Vec<_> {
            let file = |(path, content): (&RelPath, &Content)| {
                (path.clone(), content.digest, content.executable)
            };
            tree.iter().map(file).collect()
        };
        facts(&self.tree) == facts(&other.tree)
    }
}

/// Everything at the known places.
pub(super) fn candidates(
    request: &ImportRequest<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<Candidate>, Problem> {
    use Target::{ClaudeCode, Codex};
    let user = Shelf::new(request, None);
    let name = project_name(request.project);
    let project = Shelf::new(request, Some(&name));
    let home = request.home_root;
    let root = &request.project.root;
    let codex = codex_home(request);

    let mut found = instructions::candidates(request, &user, &project, warnings)?;
    for path in files_ending(&codex.join("prompts"), ".md")? {
        found.push(user.prompt(path));
    }
    for path in files_ending(&root.join(".github/prompts"), ".prompt.md")? {
        found.push(project.copilot_prompt(path));
    }
    for (shelf, directory, target, option) in [
        (
            &user,
            codex.join("skills"),
            Codex,
            ("write_user_skills", true),
        ),
        (
            &user,
            home.join(".agents/skills"),
            Codex,
            ("write_agents_skills_user", false),
        ),
        (
            &user,
            home.join(".claude/skills"),
            ClaudeCode,
            ("write_user_skills", false),
        ),
        (
            &project,
            root.join(".codex/skills"),
            Codex,
            ("write_repo_skills", true),
        ),
        (
            &project,
            root.join(".agents/skills"),
            Codex,
            ("write_agents_skills_repo", false),
        ),
        (
            &project,
            root.join(".claude/skills"),
            ClaudeCode,
            ("write_repo_skills", false),
        ),
    ] {
        for path in directories(&directory)? {
            found.push(shelf.skill(path, target, option));
        }
    }
    for (shelf, directory) in [(&user, home), (&project, root.as_path())] {
        for path in files_ending(&directory.join(".claude/commands"), ".md")? {
            found.push(shelf.command(path));
        }
        for path in files_ending(&directory.join(".claude/agents"), ".md")? {
            found.push(shelf.agent(path));
        }
    }
    for path in files_ending(&codex.join("agents"), ".toml")? {
        codex_agent(&user, path, &mut found);
    }
    found.extend(settings::candidates(request, &user, &project, warnings));
    Ok(found)
}

/// The text of a file; nothing where there is none. A link of a project that leaves it is not
/// followed: the project may be the work of others, and what the link leads to the user's own.
pub(super) fn text_of(
    request: &ImportRequest<'_>,
    path: &Path,
    of_project: bool,
    warnings: &mut Vec<String>,
) -> Option<String> {
    if !path.is_file() {
        return None;
    }
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let inside = match (real(&request.project.root), real(path)) {
        (Some(root), Some(path)) => path.starts_with(root),
        _ => false,
    };
    let left_out = if of_project && !inside {
        "it is a symbolic link that leaves the project".to_owned()
    } else {
        match fs_err::read(path).map(String::from_utf8) {
            Ok(Ok(text)) => return Some(text),
            Ok(Err(_)) => "it is not UTF-8 text".to_owned(),
            Err(error) => error.to_string(),
        }
    };
    warnings.push(format!("{} is left out: {left_out}", path.display()));
    None
}

/// Codex's home.
pub(super) fn codex_home(request: &ImportRequest<'_>) -> PathBuf {
    let default = || request.home_root.join(".codex");
    request.codex_home.map_or_else(default, Path::to_owned)
}

/// A sub-agent that Codex keeps as TOML: the Markdown it was made of, or Markdown that gives it.
fn codex_agent(user: &Shelf<'_>, path: PathBuf, found: &mut Vec<Candidate>) {
    let evidence = Evidence {
        target: Target::Codex,
        option: None,
        project: false,
    };
    let name = stem(&path);
    let toml = match fs_err::read_to_string(&path) {
        Ok(toml) => toml,
        Err(error) => {
            found.push(user.made_agent(path, evidence, Err(error.to_string())));
            return;
        }
    };
    let made_of = |other: &&mut Candidate| {
        other.module_type == ModuleType::Subagent
            && other
                .source
                .extension()
                .is_some_and(|extension| extension == "md")
            && fs_err::read_to_string(&other.source)
                .is_ok_and(|text| subagent_toml(&text).as_deref() == Some(&toml))
    };
    if let Some(other) = found.iter_mut().find(made_of) {
        other.targets.push(Target::Codex);
        other.targets.sort();
        other.evidence.push(evidence);
        other.whole.push(path);
        return;
    }
    let markdown = subagent_markdown(&toml).and_then(|markdown| {
        match subagent_toml(&markdown).as_deref() == Some(&toml) {
            true => Ok((name, markdown)),
            false => Err("Codex would get it written differently".to_owned()),
        }
    });
    let made = markdown.map(|(name, markdown)| (format!("{name}.md"), markdown.into_bytes()));
    found.push(user.made_agent(path, evidence, made));
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
        !matches!(
            self.module_type,
            ModuleType::Skill | ModuleType::Instructions
        )
    }

    /// Its tags, with the targets it is for.
    pub(super) fn all_tags(&self) -> Vec<String> {
        let targets = self.targets.iter().map(ToString::to_string);
        self.tags.iter().cloned().chain(targets).collect()
    }

    /// Gives it an id and a destination of its own: its tool has something else of this name.
    pub(super) fn set_apart(&mut self) {
        let Some(target) = self.targets.first().copied() else {
            return;
        };
        let depth = self.destination_in_repo.split('/').count();
        let repo = self.destination.ancestors().nth(depth).map(Path::to_owned);
        self.module_id.push_str(&format!("-{target}"));
        self.destination_in_repo = match self.destination_in_repo.rsplit_once('/') {
            Some((above, file)) if self.is_one_file() => format!("{above}/{target}/{file}"),
            _ => format!("{}-{target}", self.destination_in_repo),
        };
        if let Some(repo) = repo {
            self.destination = repo.join(&self.destination_in_repo);
        }
        if self.module_type == ModuleType::Skill && self.name.is_none() {
            self.name = Some(file_name(&self.source));
        }
    }

    /// Takes in the same thing, found for another tool or in another place.
    pub(super) fn join(&mut self, other: Self) {
        if self.of_project && !other.of_project {
            self.of_project = false;
            self.tags = other.tags;
        }
        self.targets.extend(other.targets);
        self.targets.sort();
        self.targets.dedup();
        self.evidence.extend(other.evidence);
        self.whole.extend(other.whole);
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
        if let Some(reason) = &self.broken {
            return Err(invalid(reason));
        }
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
            name: None,
            source: Source::LocalPath {
                path: source.to_owned(),
            },
            line: 0,
        };
        if let Some(files) = &self.made {
            let mut tree = Tree::new();
            for (name, bytes) in files {
                let path =
                    RelPath::new(name.as_str()).map_err(|error| invalid(&error.to_string()))?;
                tree.insert(path, Content::of(bytes.as_slice(), false, Layer::Upstream));
            }
            return match check_shape(&module, &tree) {
                Ok(()) => Ok(Reading { tree }),
                Err(problem) => Err(invalid(problem.message())),
            };
        }
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

/// The files of a directory with this ending; links to files count.
fn files_ending(directory: &Path, ending: &str) -> Result<Vec<PathBuf>, Problem> {
    entries(directory, |path| {
        file_name(path).ends_with(ending) && file_name(path) != ending && path.is_file()
    })
}

/// The files below a directory with this extension, by their paths in it. Links are not followed
/// to directories.
pub(super) fn files_below(directory: &Path, extension: &str) -> Result<Vec<String>, Problem> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(next) = pending.pop() {
        pending.extend(entries(&next, |path| path.is_dir() && !path.is_symlink())?);
        let files = entries(&next, |path| {
            path.extension().is_some_and(|found| found == extension) && path.is_file()
        })?;
        found.extend(files.iter().filter_map(|path| {
            let below = path.strip_prefix(directory).ok()?.to_str()?;
            Some(below.replace('\\', "/"))
        }));
    }
    found.sort();
    Ok(found)
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

pub(super) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

pub(super) fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// A name as part of a module id: lower-case, everything unusual a dash, no dash at the ends.
pub(super) fn component(name: &str) -> String {
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
