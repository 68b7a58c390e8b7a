//! The variables of a workload: what it connects to, what its config says, local secrets.
//!
//! Who resolves is injected; [`ConfigEnvironment`] is the resolution a purely local session
//! needs, with secrets asked of the caller.

use std::collections::BTreeMap;

use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::{Config, Runtime, Text};
use windlass_types::{Problem, Secret};

/// Parameters of resources as they run here: resource → parameter → value.
pub type LocalParams = BTreeMap<String, BTreeMap<String, String>>;

/// One variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Secret<String>,
    /// What of the value must not be in a log: each secret by itself, because a program may split
    /// an address before it logs it.
    pub secrets: Vec<Secret<String>>,
}

/// Gives workloads their variables.
pub trait WorkloadEnvironment: Send + Sync {
    /// The variables of a workload (`resource`, or `resource/container`), given what runs here.
    fn variables(&self, workload: &str, local: &LocalParams) -> Result<Vec<Variable>, Problem>;
}

/// Looks up what only the outside knows: `$Secret`, `$SsmParam`, other stacks' outputs,
/// parameters of resources that do not run here.
pub type Lookup = dyn Fn(&Runtime) -> Result<String, Problem> + Send + Sync;

/// Variables by the config alone.
pub struct ConfigEnvironment {
    config: Config,
    lookup: Box<Lookup>,
}

impl ConfigEnvironment {
    /// With a lookup for what is not local.
    pub fn new(config: Config, lookup: Box<Lookup>) -> Self {
        Self { config, lookup }
    }

    /// A text of the config as it is here, and the secrets that are in it.
    pub fn text(
        &self,
        text: &Text,
        local: &LocalParams,
    ) -> Result<(Secret<String>, Vec<Secret<String>>), Problem> {
        let mut secrets = Vec::new();
        let text = self.joined(text, local, &mut secrets)?;
        Ok((Secret::new(text), secrets))
    }

    fn joined(
        &self,
        text: &Text,
        local: &LocalParams,
        secrets: &mut Vec<Secret<String>>,
    ) -> Result<String, Problem> {
        match text {
            Text::Literal(text) => Ok(text.clone()),
            Text::Runtime(runtime) => self.runtime(runtime, local, secrets),
        }
    }

    fn runtime(
        &self,
        runtime: &Runtime,
        local: &LocalParams,
        secrets: &mut Vec<Secret<String>>,
    ) -> Result<String, Problem> {
        match runtime {
            Runtime::ResourceParam { resource, param } => {
                match local.get(resource).and_then(|params| params.get(param)) {
                    Some(value) => Ok(value.clone()),
                    None => (self.lookup)(runtime),
                }
            }
            Runtime::CfFormat { parts } => {
                let mut joined = String::new();
                for part in parts {
                    joined.push_str(&self.joined(part, local, secrets)?);
                }
                Ok(joined)
            }
            Runtime::Secret { .. } | Runtime::SsmParam { .. } => {
                let value = (self.lookup)(runtime)?;
                secrets.push(Secret::new(value.clone()));
                Ok(value)
            }
            Runtime::CfResourceParam { .. } | Runtime::CfStackOutput { .. } => {
                (self.lookup)(runtime)
            }
        }
    }
}

impl WorkloadEnvironment for ConfigEnvironment {
    fn variables(&self, workload: &str, local: &LocalParams) -> Result<Vec<Variable>, Problem> {
        let (name, container) = match workload.split_once('/') {
            Some((name, container)) => (name, Some(container)),
            None => (workload, None),
        };
        let Some(resource) = self.config.resources.get(name) else {
            return Ok(Vec::new());
        };
        let mut variables = Vec::new();
        for target in resource.kind.connect_to() {
            for (param, value) in local.get(target).into_iter().flatten() {
                variables.push(Variable {
                    name: connect_to_name(target, param),
                    value: Secret::new(value.clone()),
                    secrets: Vec::new(),
                });
            }
        }
        let written = match (&resource.kind, container) {
            (ResourceKind::MultiContainerWorkload(workload), Some(container)) => workload
                .containers
                .iter()
                .find(|candidate| candidate.name == container)
                .map_or(&[][..], |container| &container.environment),
            (kind, Some(container)) => kind
                .as_service()
                .and_then(|service| {
                    let mut side_containers = service.side_containers().iter();
                    side_containers.find(|candidate| candidate.name == container)
                })
                .map_or(&[][..], |container| &container.environment),
            (kind, None) => kind.environment(),
        };
        for variable in written {
            let (value, secrets) = self.text(&variable.value.to_text(), local)?;
            variables.push(Variable {
                name: variable.name.clone(),
                value,
                secrets,
            });
        }
        Ok(variables)
    }
}

/// `STP_<RESOURCE>_<PARAM>`, both in upper snake case.
pub fn connect_to_name(resource: &str, param: &str) -> String {
    format!("STP_{}_{}", upper_snake(resource), upper_snake(param))
}

pub(crate) fn upper_snake(name: &str) -> String {
    let mut snake = String::new();
    let mut before = '_';
    for character in name.chars() {
        if !character.is_ascii_alphanumeric() {
            if before != '_' {
                snake.push('_');
            }
            before = '_';
            continue;
        }
        let is_new_word = character.is_ascii_uppercase()
            && (before.is_ascii_lowercase() || before.is_ascii_digit());
        if is_new_word {
            snake.push('_');
        }
        snake.push(character.to_ascii_uppercase());
        before = character;
    }
    snake
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_connections() {
        for (resource, param, name) in [
            (
                "mainDb",
                "connectionString",
                "STP_MAIN_DB_CONNECTION_STRING",
            ),
            ("cache", "host", "STP_CACHE_HOST"),
            ("my-queue", "arn", "STP_MY_QUEUE_ARN"),
            ("api", "cdn.url", "STP_API_CDN_URL"),
            ("db2Main", "port", "STP_DB2_MAIN_PORT"),
        ] {
            assert_eq!(connect_to_name(resource, param), name);
        }
    }

    #[test]
    fn literals_connections_formats_and_secrets() {
        let runtime = |value| json!({ "$runtime": value });
        let config: Config = serde_json::from_value(json!({ "resources": { "fn": {
            "type": "function",
            "properties": {
                "packaging": { "type": "stacktape-lambda-buildpack", "properties": { "entryfilePath": "a.js" } },
                "connectTo": ["db"],
                "environment": [
                    { "name": "PLAIN", "value": 7 },
                    { "name": "URL", "value": runtime(json!({ "directive": "cfFormat", "parts": [
                        "pg://", runtime(json!({ "directive": "resourceParam", "resource": "db", "param": "host" })),
                        "/", runtime(json!({ "directive": "secret", "name": "path" })),
                    ] })) },
                ],
            },
        } } }))
        .unwrap();
        let environment = ConfigEnvironment::new(
            config,
            Box::new(|runtime| match runtime {
                Runtime::Secret { name, .. } => Ok(format!("secret-{name}")),
                other => Err(Problem::invalid("environment", "local", other.directive())),
            }),
        );
        let local = LocalParams::from([(
            "db".to_owned(),
            BTreeMap::from([("host".to_owned(), "127.0.0.1".to_owned())]),
        )]);
        let shown: Vec<String> = environment
            .variables("fn", &local)
            .unwrap()
            .iter()
            .map(|it| {
                let secrets = it
                    .secrets
                    .iter()
                    .map(|secret| secret.expose_secret().as_str());
                let secrets = secrets.collect::<Vec<_>>().join(" ");
                format!("{}={} hides '{secrets}'", it.name, it.value.expose_secret())
            })
            .collect();
        assert_eq!(
            shown,
            [
                "STP_DB_HOST=127.0.0.1 hides ''",
                "PLAIN=7 hides ''",
                "URL=pg://127.0.0.1/secret-path hides 'secret-path'",
            ]
        );
    }
}
