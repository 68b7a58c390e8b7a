//! The arguments of a call, read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};
use windlass_stack_config::arguments::normalise;
use windlass_stack_dev::client::Wanted;
use windlass_stack_dev::log::{LogQuery, MAX_LIMIT};
use windlass_types::Problem;

use super::DevOperation;
use crate::fault;
use crate::place::{Place, check_project, check_stage};

/// What a call asks for.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub place: Place,
    pub resources: Vec<String>,
    pub remote: BTreeSet<String>,
    pub agent_port: Option<u16>,
    pub fresh_db: bool,
    pub wait: bool,
    pub verbose: bool,
    pub timeout: Option<Duration>,
    /// By their camel-case names, for `$CliArgs`.
    pub arguments: Map<String, Value>,
    workload: Option<String>,
    cursor: Option<u64>,
    limit: Option<usize>,
}

impl Asked {
    pub fn read(
        operation: DevOperation,
        given: &Map<String, Value>,
        directory: &Path,
    ) -> Result<Self, Problem> {
        let arguments = normalise(operation.name(), given, &operation.arguments())?;
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let owned = |name: &str| text(name).map(str::to_owned);
        let number = |name: &str| arguments.get(name).and_then(Value::as_u64);
        let flag = |name: &str| arguments.get(name).and_then(Value::as_bool);
        let texts = |name: &str| -> Vec<String> {
            let items = arguments.get(name).and_then(Value::as_array);
            let items = items.into_iter().flatten();
            items
                .filter_map(|it| it.as_str().map(str::to_owned))
                .collect()
        };
        if let Some(stage) = text("stage") {
            check_stage(stage)?;
        }
        if let Some(project) = text("projectName") {
            check_project(project)?;
        }
        let agent_port = match number("agentPort") {
            None => None,
            Some(port) => match u16::try_from(port).ok().filter(|port| *port > 0) {
                Some(port) => Some(port),
                None => {
                    let message = format!("agentPort is {port}; a port is from 1 to 65535");
                    return Err(fault::invalid("agentPort", message));
                }
            },
        };
        let limit = match number("limit").map(usize::try_from) {
            None => None,
            Some(Ok(limit)) if (1..=MAX_LIMIT).contains(&limit) => Some(limit),
            Some(_) => {
                let message = format!("limit must be from 1 to {MAX_LIMIT}");
                return Err(fault::invalid("limit", message));
            }
        };
        let timeout = match number("timeoutSeconds") {
            Some(0) => {
                let message = "timeoutSeconds must be at least 1";
                return Err(fault::invalid("timeoutSeconds", message));
            }
            seconds => seconds.map(Duration::from_secs),
        };
        Ok(Self {
            place: Place {
                judged_stack: None,
                project_name: owned("projectName"),
                stage: owned("stage"),
                region: owned("region"),
                profile: owned("profile"),
                config_path: owned("configPath"),
                directory: match text("currentWorkingDirectory") {
                    Some(below) => directory.join(below),
                    None => directory.to_owned(),
                },
            },
            resources: texts("resources"),
            remote: texts("remote").into_iter().collect(),
            agent_port,
            fresh_db: flag("freshDb").unwrap_or(false),
            wait: flag("wait").unwrap_or(true),
            verbose: flag("verbose").unwrap_or(false),
            timeout,
            workload: owned("workload"),
            cursor: number("cursor"),
            limit,
            arguments,
        })
    }

    /// Which session is meant: one of the config's folder.
    pub fn wanted(&self) -> Wanted {
        let directory = match &self.place.config_path {
            Some(config) => {
                let file = self.place.directory.join(config);
                file.parent().map_or_else(PathBuf::new, Path::to_owned)
            }
            None => self.place.directory.clone(),
        };
        Wanted {
            directory,
            project_name: self.place.project_name.clone(),
            stage: self.place.stage.clone(),
        }
    }

    pub fn log_query(&self) -> LogQuery {
        LogQuery {
            workload: self.workload.clone(),
            cursor: self.cursor,
            limit: self.limit,
            ..LogQuery::default()
        }
    }

    pub fn needed_workload(&self) -> Result<&str, Problem> {
        let workload = self.workload.as_deref();
        workload.ok_or_else(|| fault::missing(DevOperation::Rebuild.name(), "workload"))
    }
}

#[cfg(test)]
#[path = "asked_tests.rs"]
mod tests;
