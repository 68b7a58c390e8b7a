//! Operator assets: what teaches an agent to operate pack, and the places it goes to.

mod check;

pub use check::{OperatorCheck, check_operator_assets};

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use windlass_pack_deploy::render::{Places, RenderInput, roots};
use windlass_pack_model::{
    ConfigScope, Content, Desired, DesiredFile, Form, Layer, Manifest, NoHashCache, Profile,
    Project, Target, TargetConfig, TargetRoot, manifest::DEFAULT_PROFILE,
};
use windlass_types::Problem;

use crate::{checkouts::NoCheckouts, templates};

/// The name of the skill.
pub(crate) const SKILL: &str = "agentpack-operator";

/// For whom operator assets are made.
#[derive(Clone, Copy)]
pub struct OperatorInput<'a> {
    /// The manifest, for the options of its targets.
    pub manifest: &'a Manifest,
    /// The targets; only Codex and Claude Code have operator assets.
    pub targets: &'a [Target],
    /// Whose directories are written.
    pub scope: ConfigScope,
    /// The project; with `init --bootstrap` the config repository itself.
    pub project: Option<&'a Project>,
    /// The user's directories.
    pub places: &'a Places,
    /// The name the program was started under.
    pub program: &'a str,
    /// Its version.
    pub version: &'a str,
}

/// The operator assets as desired files, with their roots; to be planned with
/// `Purpose::Bootstrap`.
pub fn operator_assets(input: &OperatorInput<'_>) -> Result<Desired, Problem> {
    let roots = operator_roots(input)?;
    let mut files: Vec<DesiredFile> = roots
        .iter()
        .flat_map(|root| {
            let assets = assets_of(&root.path);
            assets.into_iter().map(|asset| asset.desired(root, input))
        })
        .collect();
    files.sort_by(|left, right| (left.target, &left.path).cmp(&(right.target, &right.path)));
    Ok(Desired {
        roots,
        files,
        ..Desired::default()
    })
}

/// One file, before it is filled in.
pub(crate) struct Asset {
    /// Below its root.
    pub(crate) path: PathBuf,
    module_id: String,
    template: &'static str,
}

impl Asset {
    fn desired(self, root: &TargetRoot, input: &OperatorInput<'_>) -> DesiredFile {
        let text = templates::fill(self.template, input.program, input.version);
        let content = Content::of(text.into_bytes(), false, Layer::Upstream);
        DesiredFile {
            target: root.target,
            path: root.path.join(self.path),
            digest: content.digest,
            len: content.len,
            executable: false,
            body: content.body,
            module_ids: vec![self.module_id],
            origins: Vec::new(),
            form: Form::Generated,
        }
    }
}

/// Whether a root takes the commands; the others take the skill.
pub(crate) fn takes_commands(root: &Path) -> bool {
    root.ends_with("commands")
}

/// What goes into a root.
pub(crate) fn assets_of(root: &Path) -> Vec<Asset> {
    if takes_commands(root) {
        let command = |(name, template): (&str, &'static str)| Asset {
            path: PathBuf::from(format!("{name}.md")),
            module_id: format!("command:{name}"),
            template,
        };
        templates::OPERATOR_COMMANDS
            .into_iter()
            .map(command)
            .collect()
    } else {
        vec![Asset {
            path: Path::new(SKILL).join("SKILL.md"),
            module_id: format!("skill:{SKILL}"),
            template: templates::OPERATOR_SKILL,
        }]
    }
}

/// The roots with operator assets. Asked of the renderer, so that they are where modules go too.
fn operator_roots(input: &OperatorInput<'_>) -> Result<Vec<TargetRoot>, Problem> {
    let targets: BTreeMap<Target, TargetConfig> = input
        .targets
        .iter()
        .filter_map(|target| {
            let config = input.manifest.targets.get(target)?;
            let config = TargetConfig {
                scope: input.scope,
                options: options(*target, config)?,
                ..config.clone()
            };
            Some((*target, config))
        })
        .collect();
    let manifest = Manifest {
        targets,
        modules: Vec::new(),
        profiles: BTreeMap::from([(DEFAULT_PROFILE.to_owned(), Profile::default())]),
        ..input.manifest.clone()
    };
    roots(&RenderInput {
        repo: Path::new(""),
        manifest: &manifest,
        profile: DEFAULT_PROFILE,
        target: None,
        machine_id: "",
        project: input.project,
        places: input.places,
        checkouts: &NoCheckouts,
        lockfile: None,
        hashes: &NoHashCache,
    })
}

/// A target's options with nothing switched on but the places of operator assets; none for a
/// target that has no such places.
fn options(target: Target, config: &TargetConfig) -> Option<BTreeMap<String, serde_json::Value>> {
    let on = match target {
        // Where skills go, or where they would go by default.
        Target::Codex => {
            let place = |own: &'static str, shared: &'static str| match !config.flag(own, true)
                && config.flag(shared, false)
            {
                true => shared,
                false => own,
            };
            vec![
                place("write_user_skills", "write_agents_skills_user"),
                place("write_repo_skills", "write_agents_skills_repo"),
            ]
        }
        Target::ClaudeCode => {
            let skills = ["write_user_skills", "write_repo_skills"];
            let mut on = vec!["write_user_commands", "write_repo_commands"];
            on.extend(skills.into_iter().filter(|skill| config.flag(skill, false)));
            on
        }
        _ => return None,
    };
    let mut options = config.options.clone();
    for option in target.options() {
        if option.starts_with("write_") {
            options.insert((*option).to_owned(), on.contains(option).into());
        }
    }
    Some(options)
}
