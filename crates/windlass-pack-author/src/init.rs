//! `init`: a config repository where there is none. What is there already stays.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use windlass_pack_deploy::state::FileAction;
use windlass_pack_model::{Target, fault, managed::GITIGNORE_LINE, manifest::MANIFEST_FILE};
use windlass_ports::git::Git;
use windlass_types::Problem;

use crate::{
    Authored, GuidedAnswers,
    authored::shown,
    git_fault::git_problem,
    gitignore,
    repository::{is_free, put, read_text},
    templates,
};

/// What to begin with.
#[derive(Clone, Debug)]
pub struct InitRequest<'a> {
    /// The directory.
    pub repo: &'a Path,
    /// The name the program was started under.
    pub program: &'a str,
    /// Whether it becomes a git repository; [`start_git`] does that afterwards.
    pub git: bool,
    /// What the user answered, when asked.
    pub guided: Option<&'a GuidedAnswers>,
}

/// The `data` of `init`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InitData {
    /// The repository.
    pub repo: String,
    /// The same with `/`.
    pub repo_posix: String,
    /// What was done for git.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<InitGit>,
    /// The `data` of the bootstrap that followed; filled in by the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<Value>,
    /// Whether the user was asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub guided: bool,
    /// The targets the user chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<Target>>,
    /// The scope the user chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'static str>,
}

/// What was done for git.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InitGit {
    /// It is a repository now.
    pub initialized: bool,
    /// Whether lines were added.
    pub gitignore_updated: bool,
    /// The file with the lines.
    pub gitignore_path: String,
    /// The same with `/`.
    pub gitignore_path_posix: String,
}

/// Plans a config repository.
pub fn init(request: &InitRequest<'_>) -> Result<Authored<InitData>, Problem> {
    let repo = request.repo;
    let manifest = repo.join(MANIFEST_FILE);
    let mut warnings = Vec::new();
    let text = match request.guided {
        Some(answers) => {
            if !is_free(&manifest)? {
                return Err(manifest_exists(&manifest));
            }
            let (text, found) = answers.manifest()?;
            warnings.extend(found);
            text
        }
        None => GuidedAnswers::unasked().manifest()?.0,
    };
    let fill = |template| templates::fill(template, request.program, "");
    let mut writes = Vec::new();
    for (path, text) in [
        (
            "modules/instructions/base/AGENTS.md",
            templates::BASE_AGENTS.to_owned(),
        ),
        ("modules/prompts/draftpr.md", templates::DRAFT_PR.to_owned()),
        (
            "modules/claude-commands/ap-plan.md",
            fill(templates::STARTER_PLAN),
        ),
        (MANIFEST_FILE, text),
    ] {
        let path = repo.join(path);
        if is_free(&path)? {
            writes.push(put(path, None, text.into_bytes()));
        }
    }
    let git = request.git.then(|| ignore(repo)).transpose()?;
    let git = git.map(|(data, write)| {
        writes.extend(write);
        data
    });
    let data = InitData {
        repo: shown(repo),
        repo_posix: fault::posix(repo),
        git,
        bootstrap: None,
        guided: request.guided.is_some(),
        targets: request.guided.map(GuidedAnswers::chosen),
        scope: request.guided.map(|answers| answers.scope.as_str()),
    };
    Ok(Authored::inside(repo, data, writes).warned(warnings))
}

/// Makes the repository a git repository; harmless where it is one. Called once its files are
/// there.
pub fn start_git(git: &dyn Git, repo: &Path) -> Result<(), Problem> {
    git.init(repo)
        .map_err(|error| git_problem(&error, repo, &["init"]))
}

fn ignore(repo: &Path) -> Result<(InitGit, Option<FileAction>), Problem> {
    let path = repo.join(".gitignore");
    let before = read_text(&path, fault::config_invalid)?;
    let after = gitignore::with_lines(
        before.as_deref().unwrap_or_default(),
        &[GITIGNORE_LINE, ".DS_Store"],
    );
    let data = InitGit {
        initialized: true,
        gitignore_updated: after.is_some(),
        gitignore_path: shown(&path),
        gitignore_path_posix: fault::posix(&path),
    };
    let before = before.as_deref().map(str::as_bytes);
    let write = after.map(|after| put(path, before, after.into_bytes()));
    Ok((data, write))
}

fn manifest_exists(path: &Path) -> Problem {
    let problem = fault::config_invalid(format!(
        "{} exists already and is not replaced; edit it, or move it away and start again",
        path.display()
    ));
    fault::at(problem, path).with("hint", "edit the manifest, or move it away and start again")
}
