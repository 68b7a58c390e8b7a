//! Scripts of a config as a session of local development sees them: local resources by their
//! local parameters, secrets by their local values. Only what is used as it is deployed is asked
//! of AWS.
//!
//! Not here: running them (windlass-stack-lifecycle).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use windlass_secrets::Redactor;
use windlass_stack_config::model::script::{LocalScript, Script, TunnelScript};
use windlass_stack_config::{Config, Runtime, Scalar, Text, find_config};
use windlass_stack_dev::emulators::{self, Emulators};
use windlass_stack_dev::{
    ConfigEnvironment, LocalParams, LocalValues, Places, Session, connect_to_name, missing_value,
    variable_of,
};
use windlass_types::{Problem, code};

use super::deployed::shown;
use crate::place::{Place, project_in};

/// What a script sees of a session.
pub(super) struct View<'a> {
    pub config: &'a Config,
    /// The folder of the config.
    pub directory: &'a Path,
    /// Whether the deployed resource is used.
    pub is_remote: &'a (dyn Fn(&str) -> bool + Sync),
    pub uses_deployed: bool,
    pub local: &'a LocalParams,
    pub emulators: &'a Emulators,
}

/// A script that was made ready for a session.
pub(crate) struct Localised {
    /// The config with the script as the session sees it.
    pub config: Config,
    /// Variables of local resources and emulators.
    pub env: Vec<(String, String)>,
    /// What the script connects to and the session does not have.
    pub absent: Vec<String>,
}

impl View<'_> {
    /// The script for this session. One that runs on a bastion is left as it is.
    pub fn localised(
        &self,
        name: &str,
        variables: &BTreeMap<String, String>,
        redactor: &Redactor,
    ) -> Result<Localised, Problem> {
        let mut ready = Localised {
            config: self.config.clone(),
            env: Vec::new(),
            absent: Vec::new(),
        };
        // A script that is not there is refused by what runs it.
        let Some(script) = ready.config.scripts.get_mut(name) else {
            return Ok(ready);
        };
        if let Script::LocalWithTunnel(tunnel) = &*script
            && !tunnel.connect_to.iter().any(|it| (self.is_remote)(it))
        {
            // What runs here is reached without a bastion.
            *script = Script::Local(Box::new(without_tunnel((**tunnel).clone())));
        }
        let (connect_to, environment, role) = match script {
            Script::Local(it) => (
                &mut it.connect_to,
                &mut it.environment,
                &mut it.assume_role_of_resource,
            ),
            Script::LocalWithTunnel(it) => (
                &mut it.connect_to,
                &mut it.environment,
                &mut it.assume_role_of_resource,
            ),
            Script::Bastion(_) => return Ok(ready),
        };
        let own: Vec<&str> = environment.iter().map(|it| it.name.as_str()).collect();
        for (variable, value) in emulators::variables(self.emulators, !self.uses_deployed) {
            if !own.contains(&variable.as_str()) {
                ready.env.push((variable, value.expose_secret().clone()));
            }
        }
        for target in connect_to.iter().filter(|it| !(self.is_remote)(it)) {
            match self.local.get(target) {
                Some(params) => ready.env.extend(
                    params
                        .iter()
                        .map(|(param, value)| (connect_to_name(target, param), value.clone())),
                ),
                None => ready.absent.push(target.clone()),
            }
        }
        connect_to.retain(|target| (self.is_remote)(target));
        if !self.uses_deployed {
            // The role is one of the deployed stack, which the session does without.
            *role = None;
        }
        let values = LocalValues::new(self.directory, variables.clone());
        let lookup = move |runtime: &Runtime| {
            let variable = variable_of(runtime).unwrap_or_default();
            let value = values.runtime(runtime)?;
            value.ok_or_else(|| missing_value(&shown(runtime), &variable))
        };
        let known = ConfigEnvironment::new(self.config.clone(), Box::new(lookup));
        for variable in environment {
            let text = variable.value.to_text();
            match known.text(&text, self.local) {
                Ok((value, secrets)) => {
                    for secret in &secrets {
                        redactor.register(secret);
                    }
                    let value = value.expose_secret().clone();
                    variable.value = Scalar::Text(Text::Literal(value));
                }
                // The deployed stack has it.
                Err(problem) if self.uses_deployed && problem.code() == &code::INVALID_INPUT => {}
                Err(problem) => return Err(problem.with("script", name)),
            }
        }
        Ok(ready)
    }
}

fn without_tunnel(script: TunnelScript) -> LocalScript {
    LocalScript {
        execute_script: script.execute_script,
        execute_scripts: script.execute_scripts,
        execute_command: script.execute_command,
        execute_commands: script.execute_commands,
        cwd: script.cwd,
        pipe_stdio: script.pipe_stdio,
        connect_to: script.connect_to,
        environment: script.environment,
        assume_role_of_resource: script.assume_role_of_resource,
    }
}

/// A running session and the folder of its config.
#[derive(Clone, Debug)]
pub(crate) struct RunningSession {
    pub session: Session,
    directory: PathBuf,
}

impl RunningSession {
    /// The session that a script of a place runs with: the one of its project and stage, unless
    /// the call wants the deployed stack.
    pub fn of(place: &Place, arguments: &Map<String, Value>) -> Option<Self> {
        if arguments.get("deployed") == Some(&Value::Bool(true)) {
            return None;
        }
        let config_path = place.config_path.as_deref();
        let file = find_config(&place.directory, config_path).ok()?;
        let directory = fs_err::canonicalize(file.parent()?).ok()?;
        let stage = place.stage.as_deref()?;
        let project = place
            .project_name
            .clone()
            .or_else(|| project_in(&place.directory, config_path, Some(stage)));
        let mut sessions = Session::all(&directory);
        sessions.retain(|it| {
            it.stage == stage
                && project.as_ref().is_none_or(|name| *name == it.project_name)
                && it.is_live()
        });
        match <[Session; 1]>::try_from(sessions) {
            Ok([session]) => Some(Self { session, directory }),
            Err(_) => None,
        }
    }

    /// What approvers and the caller are told.
    pub fn shown(&self) -> String {
        let session = &self.session;
        format!(
            "the development session {}-{} on this machine",
            session.project_name, session.stage
        )
    }

    /// Values that directives of the config have here.
    pub fn values(&self, variables: &BTreeMap<String, String>) -> LocalValues {
        LocalValues::new(&self.directory, variables.clone())
    }

    /// A script of the config for this session.
    pub fn localised(
        &self,
        config: &Config,
        script: &str,
        variables: &BTreeMap<String, String>,
        redactor: &Redactor,
    ) -> Result<Localised, Problem> {
        let session = &self.session;
        let places = Places::new(&self.directory, &session.project_name, &session.stage);
        let view = View {
            config,
            directory: &self.directory,
            is_remote: &|name| session.remote.contains(name),
            uses_deployed: !session.is_local(),
            local: &places.read_params(),
            emulators: &session.emulators,
        };
        view.localised(script, variables, redactor)
    }
}

#[cfg(test)]
#[path = "scripts_tests.rs"]
mod tests;
