//! `init`, `import`, `add`, `remove`: the manifest and the modules it names.

use std::{path::PathBuf, sync::Arc};

use serde::Deserialize;
use serde_json::Value;
use windlass_engine::operation::Operation;
use windlass_pack_author::{
    AddRequest, GuidedAnswers, ImportRequest, InitRequest, add as add_module,
    import as import_found, init as begin, remove as remove_module, start_git,
};
use windlass_pack_model::{ConfigScope, Target, fault, home::expand_home};
use windlass_types::Problem;

use super::{Shop, bootstrap, value, with_warnings};
use crate::{
    arguments::{Common, require_yes},
    edit::carry_out,
    workspace::{Moment, Pack},
};

pub(super) fn operations(shop: &Shop) -> Vec<Arc<dyn Operation>> {
    vec![
        shop.change(
            "init",
            "Begin a config repository",
            "Writes a manifest and sample modules where there are none.",
            init,
        ),
        shop.change(
            "import",
            "Import what the tools have",
            "Takes existing prompts, skills, commands and instructions into the config repository.",
            import,
        ),
        shop.change(
            "add",
            "Add a module",
            "Adds a module to the manifest, leaving the rest of the file as it is.",
            add,
        ),
        shop.change(
            "remove",
            "Remove a module",
            "Removes a module from the manifest, leaving the rest of the file as it is.",
            remove,
        ),
    ]
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct InitInput {
    #[serde(flatten)]
    common: Common,
    /// Make it a git repository.
    #[serde(default)]
    git: bool,
    /// Also write operator assets into it.
    #[serde(default)]
    bootstrap: bool,
    /// What a person chose.
    #[serde(default)]
    guided: Option<GuidedInput>,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    yes: bool,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct GuidedInput {
    /// The targets.
    #[serde(default)]
    targets: Vec<String>,
    /// `user`, `project` or `both`.
    #[serde(default)]
    scope: Option<String>,
    /// Whether CLAUDE.md is written.
    #[serde(default = "yes")]
    claude_md: bool,
    /// Whether `.agents/skills` is written.
    #[serde(default = "yes")]
    agents_skills: bool,
    /// Where `export_dir` goes.
    #[serde(default)]
    export_root: Option<String>,
}

const fn yes() -> bool {
    true
}

impl GuidedInput {
    fn answers(&self) -> Result<GuidedAnswers, Problem> {
        let mut answers = GuidedAnswers::suggested();
        if !self.targets.is_empty() {
            answers.targets = self
                .targets
                .iter()
                .map(|name| {
                    Target::by_name(name).ok_or_else(|| {
                        fault::target_filter_unsupported(format!("there is no target {name:?}"))
                            .with("target", name.as_str())
                    })
                })
                .collect::<Result<_, _>>()?;
        }
        if let Some(scope) = &self.scope {
            answers.scope = config_scope(scope)?;
        }
        answers.claude_md = self.claude_md;
        answers.agents_skills = self.agents_skills;
        answers.export_root.clone_from(&self.export_root);
        Ok(answers)
    }
}

/// A scope by its name.
pub(super) fn config_scope(name: &str) -> Result<ConfigScope, Problem> {
    match name {
        "user" => Ok(ConfigScope::User),
        "project" => Ok(ConfigScope::Project),
        "both" => Ok(ConfigScope::Both),
        other => Err(fault::unexpected(
            "invalid_arguments",
            &["fix_arguments", "retry_command"],
            format!("{other:?} is not a scope; there are user, project, both"),
        )),
    }
}

fn init(pack: &Pack, moment: &Moment, input: InitInput) -> Result<Value, Problem> {
    require_yes(input.yes || input.dry_run, "init")?;
    let repo = pack.repo(&input.common, moment);
    let answers = input
        .guided
        .as_ref()
        .map(GuidedInput::answers)
        .transpose()?;
    let authored = begin(&InitRequest {
        repo: &repo,
        program: &pack.environment.program,
        git: input.git,
        guided: answers.as_ref(),
    })?;
    let mut warnings = authored.warnings.clone();
    if !input.dry_run {
        warnings = carry_out(pack, moment, &authored)?;
        if input.git && !repo.join(".git").exists() {
            start_git(&*pack.git, &repo)?;
        }
    }
    let mut data = value(&authored.data)?;
    if input.bootstrap {
        let (assets, found) =
            bootstrap::into_repository(pack, moment, &input.common, &repo, input.dry_run)?;
        data["bootstrap"] = assets;
        warnings.extend(found);
    }
    Ok(with_warnings(data, warnings))
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct ImportInput {
    #[serde(flatten)]
    common: Common,
    /// Write; otherwise show what would be imported.
    #[serde(default)]
    apply: bool,
    /// The home directory to look through; the user's when left out.
    #[serde(default)]
    home_root: Option<String>,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    yes: bool,
}

fn import(pack: &Pack, moment: &Moment, input: ImportInput) -> Result<Value, Problem> {
    if input.apply && !input.dry_run {
        require_yes(input.yes, "import --apply")?;
    }
    let repo = pack.repo(&input.common, moment);
    let home_root = input.home_root.as_deref().map_or_else(
        || pack.environment.home_dir.clone(),
        |root| absolute(&expand_home(root, &pack.environment.home_dir), moment),
    );
    let project = pack
        .project(moment)
        .ok_or_else(|| fault::config_invalid("there is no project directory to import from"))?;
    let caller = input.common.caller(&pack.environment.program);
    // Another home has its own.
    let codex_home = match input.home_root {
        Some(_) => None,
        None => codex_home(pack),
    };
    let apply = input.apply && !input.dry_run;
    let imported = import_found(&ImportRequest {
        repo: &repo,
        home_root: &home_root,
        project: &project,
        codex_home: codex_home.as_deref(),
        apply,
        caller: &caller,
        json: true,
    })?;
    let mut warnings = imported.outcome.warnings.clone();
    if apply {
        warnings = carry_out(pack, moment, &imported.outcome)?;
        if !imported.taken.is_empty() {
            pack.state()
                .remember(|remembered| remembered.imported.extend(imported.taken.clone()))?;
        }
    }
    Ok(with_warnings(value(&imported.outcome.data)?, warnings))
}

/// Codex's home, where the environment names one.
fn codex_home(pack: &Pack) -> Option<PathBuf> {
    let places = pack.places();
    let named = places.codex_home.as_ref()?;
    if named.as_os_str().is_empty() {
        return None;
    }
    Some(match named.to_str() {
        Some(text) => places.expand(text),
        None => named.clone(),
    })
}

/// A path from where the caller is.
pub(super) fn absolute(path: &std::path::Path, moment: &Moment) -> PathBuf {
    match &moment.directory {
        Some(directory) => directory.join(path),
        None => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    }
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct AddInput {
    #[serde(flatten)]
    common: Common,
    /// `instructions`, `skill`, `prompt`, `command`, `mcp_server`, `hook` or `subagent`.
    r#type: String,
    /// `local:PATH` or `git:URL[#ref=…&subdir=…]`.
    source: String,
    /// The id; made from type and name when left out.
    #[serde(default)]
    id: Option<String>,
    /// The tags.
    #[serde(default)]
    tags: Vec<String>,
    /// The targets; all when left out.
    #[serde(default)]
    targets: Vec<String>,
    /// Take a path outside the repository.
    #[serde(default)]
    allow_outside: bool,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    yes: bool,
}

fn add(pack: &Pack, moment: &Moment, input: AddInput) -> Result<Value, Problem> {
    require_yes(input.yes || input.dry_run, "add")?;
    let repo = pack.repo(&input.common, moment);
    let authored = add_module(
        &repo,
        &AddRequest {
            module_type: &input.r#type,
            source: &input.source,
            id: input.id.as_deref(),
            tags: &input.tags,
            targets: &input.targets,
            allow_outside: input.allow_outside,
        },
    )?;
    finish(pack, moment, &authored, input.dry_run)
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct RemoveInput {
    #[serde(flatten)]
    common: Common,
    /// The module.
    id: String,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    yes: bool,
}

fn remove(pack: &Pack, moment: &Moment, input: RemoveInput) -> Result<Value, Problem> {
    require_yes(input.yes || input.dry_run, "remove")?;
    let repo = pack.repo(&input.common, moment);
    let authored = remove_module(&repo, &input.id)?;
    finish(pack, moment, &authored, input.dry_run)
}

/// Writes unless it is a dry run, and shows the data.
pub(super) fn finish<T: serde::Serialize>(
    pack: &Pack,
    moment: &Moment,
    authored: &windlass_pack_author::Authored<T>,
    dry_run: bool,
) -> Result<Value, Problem> {
    let warnings = match dry_run {
        true => authored.warnings.clone(),
        false => carry_out(pack, moment, authored)?,
    };
    Ok(with_warnings(value(&authored.data)?, warnings))
}
