//! Which stack a call is about: project, stage, region, credentials, config.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use windlass_engine::operation::CallContext;
use windlass_ports::aws::Target;
use windlass_stack_config::{ConfigText, Context, NoLookups, find_config, load};
use windlass_types::Problem;

use crate::fault;

/// How long a stage's name may be: names of AWS resources carry it.
const STAGE_LENGTH: usize = 12;

/// Where a call points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Place {
    /// The project, where the call names it.
    pub project_name: Option<String>,
    /// The stage, where the call names it.
    pub stage: Option<String>,
    /// The region; filled in from the credentials' settings before a run starts.
    pub region: Option<String>,
    /// The AWS profile.
    pub profile: Option<String>,
    /// The config, where the call names it.
    pub config_path: Option<String>,
    /// Where the command was started.
    pub directory: PathBuf,
    /// The stack that the gate was asked about. A config that is read later must name the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_stack: Option<String>,
}

impl Place {
    /// Reads the common arguments.
    pub fn read(context: &CallContext, arguments: &Map<String, Value>) -> Result<Self, Problem> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let base = context.directory.clone().unwrap_or_default();
        let directory = match text("currentWorkingDirectory") {
            Some(directory) => base.join(directory),
            None => base,
        };
        if let Some(stage) = text("stage") {
            check_stage(stage)?;
        }
        if let Some(project) = text("projectName") {
            check_project(project)?;
        }
        let owned = |name: &str| text(name).map(str::to_owned);
        Ok(Self {
            project_name: owned("projectName"),
            stage: owned("stage"),
            region: owned("region"),
            profile: owned("profile"),
            config_path: owned("configPath"),
            directory,
            judged_stack: None,
        })
    }

    /// The directory and the files that the call names.
    pub fn named(&self, arguments: &Map<String, Value>) -> Vec<PathBuf> {
        let files = ["configPath", "outFile", "secretFile"].iter();
        let files = files.filter_map(|name| arguments.get(*name)?.as_str());
        let files = files.map(|file| self.directory.join(file));
        std::iter::once(self.directory.clone())
            .chain(files)
            .collect()
    }

    /// The credentials and the region of calls.
    pub fn target(&self) -> Target {
        Target {
            region: self.region.clone(),
            profile: self.profile.clone(),
            role_arn: None,
        }
    }

    /// The stack's name as far as the call alone says it.
    pub fn stack_name(&self) -> Option<String> {
        match (&self.project_name, &self.stage) {
            (Some(project), Some(stage)) => Some(format!("{project}-{stage}")),
            _ => None,
        }
    }

    /// The stack as far as its name can be told without running anything: the call's, or the
    /// project of a config that is plain text, with the stage.
    pub fn known_stack(&self) -> Option<String> {
        let stage = self.stage.as_deref()?;
        let project = match &self.project_name {
            Some(project) => project.clone(),
            None => project_in(&self.directory, self.config_path.as_deref(), Some(stage))?,
        };
        Some(format!("{project}-{stage}"))
    }

    /// The same for lists and titles.
    pub fn shown_stack(&self) -> String {
        match (self.known_stack(), &self.stage) {
            (Some(stack), _) => stack,
            (None, Some(stage)) => format!("*-{stage}"),
            (None, None) => String::new(),
        }
    }
}

/// The project that a YAML config names, read as the loader reads it but without asking anything
/// outside. What needs more than the text is told by the loader.
pub(crate) fn project_in(
    directory: &Path,
    config_path: Option<&str>,
    stage: Option<&str>,
) -> Option<String> {
    let file = find_config(directory, config_path).ok()?;
    let is_yaml = file
        .extension()
        .is_some_and(|extension| extension == "yml" || extension == "yaml");
    if !is_yaml {
        return None;
    }
    let text = fs_err::read_to_string(&file).ok()?;
    let shown = file.display().to_string();
    let context = Context {
        project_name: None,
        stage: stage.map(str::to_owned),
        region: None,
        profile: None,
        arguments: Map::new(),
        project_root: directory.to_owned(),
        config_directory: file.parent().unwrap_or(directory).to_owned(),
        allowed: Default::default(),
        lookups: &NoLookups,
    };
    let source = ConfigText {
        file: &shown,
        text: &text,
    };
    let name = load(&source, &context).ok()?.config.service_name?;
    check_project(&name).ok().map(|()| name)
}

/// Refuses a stage that names cannot bear.
pub(crate) fn check_stage(stage: &str) -> Result<(), Problem> {
    let is_sound = !stage.is_empty() && stage.chars().count() <= STAGE_LENGTH && is_name(stage);
    if is_sound {
        return Ok(());
    }
    Err(fault::invalid(
        "stage",
        format!(
            "stage is {stage:?}; it has 1 to {STAGE_LENGTH} letters, digits and hyphens and begins \
             with a letter"
        ),
    ))
}

/// Refuses a project name that CloudFormation would refuse in a stack's name.
pub(crate) fn check_project(project: &str) -> Result<(), Problem> {
    if project.len() <= 100 && is_name(project) {
        return Ok(());
    }
    Err(fault::invalid(
        "projectName",
        format!(
            "projectName is {project:?}; it has at most 100 letters, digits and hyphens and begins \
             with a letter"
        ),
    ))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
