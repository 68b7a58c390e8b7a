//! Which stack a call is about: project, stage, region, credentials, config.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use windlass_engine::operation::CallContext;
use windlass_ports::aws::Target;
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
        })
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

    /// What policy is asked about: the stack, or the stage of one whose project is in the config.
    pub fn policy_target(&self) -> String {
        match (&self.project_name, &self.stage) {
            (Some(project), Some(stage)) => format!("{project}-{stage}"),
            (None, Some(stage)) => match project_in(&self.directory, self.config_path.as_deref()) {
                Some(project) => format!("{project}-{stage}"),
                None => format!("*-{stage}"),
            },
            _ => String::new(),
        }
    }
}

/// The project a YAML config names, read without resolving anything. What cannot be read is for
/// the loader to report.
fn project_in(directory: &Path, config_path: Option<&str>) -> Option<String> {
    let file = windlass_stack_config::find_config(directory, config_path).ok()?;
    let text = fs_err::read_to_string(file).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("serviceName:"))?;
    let name = line.split('#').next()?.trim().trim_matches(['"', '\'']);
    (!name.is_empty() && check_project(name).is_ok()).then(|| name.to_owned())
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
