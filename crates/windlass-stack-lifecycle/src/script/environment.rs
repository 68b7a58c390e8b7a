//! The variables of a script: the caller's, the region, credentials, connectTo, its own, those of
//! the call. What comes later wins.

use std::collections::BTreeMap;

use windlass_ports::aws::SessionCredentials;
use windlass_stack_compile::{parameter, variable};
use windlass_stack_config::model::script::Script;
use windlass_stack_config::referenceable_params;
use windlass_types::{Problem, Secret};

use crate::fault::Fault;
use crate::lines::Level;
use crate::script::failure::{not_found, refused};
use crate::script::program::Listener;
use crate::script::role;
use crate::script::run::{ScriptCall, Surroundings};
use crate::script::values::{Lack, Origin, Values};

/// Variables that name credentials; some go where others come.
const CREDENTIALS: [&str; 11] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN",
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CREDENTIAL_EXPIRATION",
];

/// Variables of a program. Printing them shows names only.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, Secret<String>>);

impl Environment {
    /// Those of a caller.
    pub fn of(variables: &BTreeMap<String, String>) -> Self {
        let mut environment = Self::default();
        for (name, value) in variables {
            environment.set(name, value.clone());
        }
        environment
    }

    /// Sets one.
    pub fn set(&mut self, name: &str, value: String) {
        self.0.insert(name.to_owned(), Secret::new(value));
    }

    /// Removes one.
    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Removes every variable that names credentials.
    pub fn without_credentials(&mut self) {
        for name in CREDENTIALS {
            self.remove(name);
        }
    }

    /// All of them.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter();
        pairs.map(|(name, value)| (name.as_str(), value.expose_secret().as_str()))
    }
}

/// Reads `K=V` as the arguments of a call have it.
pub fn read_pairs(written: &[String]) -> Result<Vec<(String, String)>, Problem> {
    let mut pairs = Vec::new();
    for (index, pair) in written.iter().enumerate() {
        let read = pair.split_once('=').filter(|(name, _)| is_name(name));
        let Some((name, value)) = read else {
            // The text itself is not repeated: it may be a secret that lacks its name.
            let message = format!("env[{index}] is not NAME=value");
            return Err(refused("invalid_argument", message)
                .with("argument", "env")
                .with("index", index));
        };
        pairs.push((name.to_owned(), value.to_owned()));
    }
    Ok(pairs)
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// All variables of a script that runs on this machine.
pub(crate) async fn assemble(
    call: &ScriptCall<'_>,
    script: &Script,
    around: &Surroundings<'_>,
    values: &mut Values<'_>,
    lines: &Listener<'_>,
) -> Result<Environment, Problem> {
    let mut environment = Environment::of(&call.inherited);
    credentials(call, script, around, values, &mut environment).await?;
    own(call, script, values, &mut environment, lines).await?;
    Ok(environment)
}

/// All variables of a script that runs on a bastion. Nothing of this machine goes there: without
/// a resource to act as, the script acts as the bastion.
pub(crate) async fn assemble_remote(
    call: &ScriptCall<'_>,
    script: &Script,
    around: &Surroundings<'_>,
    values: &mut Values<'_>,
    lines: &Listener<'_>,
) -> Result<Environment, Problem> {
    let mut environment = Environment::default();
    if let Some(resource) = role_of(call, script) {
        let given = role::credentials(call, resource, around, values).await?;
        hand_on(&given, around, &mut environment);
    }
    own(call, script, values, &mut environment, lines).await?;
    match environment.0.keys().find(|name| !is_name(name)) {
        None => Ok(environment),
        Some(name) => {
            let message = format!(
                "the script \"{}\" has a variable \"{name}\", which a shell on a bastion cannot have",
                call.script
            );
            Err(refused("invalid_variable", message)
                .with("script", call.script)
                .next("use letters, digits and underscores only"))
        }
    }
}

/// The region, connectTo, the script's own variables and those of the call.
async fn own(
    call: &ScriptCall<'_>,
    script: &Script,
    values: &mut Values<'_>,
    environment: &mut Environment,
    lines: &Listener<'_>,
) -> Result<(), Problem> {
    environment.set("AWS_REGION", call.facts.region.clone());
    environment.set("AWS_DEFAULT_REGION", call.facts.region.clone());
    connect(call, script.connect_to(), values, environment, lines).await?;
    for variable in script.environment() {
        let what = format!("{} of the script \"{}\"", variable.name, call.script);
        let value = values.text(&what, &variable.value.to_text()).await?;
        environment.set(&variable.name, value.text.expose_secret().clone());
    }
    for (name, value) in &call.env {
        environment.set(name, value.clone());
    }
    Ok(())
}

/// The resource whose permissions the script has, where one is named.
fn role_of<'a>(call: &'a ScriptCall<'_>, script: &'a Script) -> Option<&'a str> {
    let asked = call.assume_role_of_resource.as_deref();
    asked.or_else(|| script.assume_role_of_resource())
}

async fn credentials(
    call: &ScriptCall<'_>,
    script: &Script,
    around: &Surroundings<'_>,
    values: &mut Values<'_>,
    environment: &mut Environment,
) -> Result<(), Problem> {
    let access = around.access;
    let given = match (role_of(call, script), &access.target) {
        (Some(resource), _) => role::credentials(call, resource, around, values).await?,
        // A caller restricted to a role passes on that role, not the credentials behind it.
        (None, target) if target.role_arn.is_some() => access
            .cloud
            .credentials(target)
            .await
            .map_err(Fault::problem)?,
        (None, target) => {
            if let Some(profile) = &target.profile {
                environment.without_credentials();
                environment.set("AWS_PROFILE", profile.clone());
            }
            return Ok(());
        }
    };
    hand_on(&given, around, environment);
    Ok(())
}

fn hand_on(given: &SessionCredentials, around: &Surroundings<'_>, environment: &mut Environment) {
    environment.without_credentials();
    let id = given.access_key_id.expose_secret();
    environment.set("AWS_ACCESS_KEY_ID", id.clone());
    let parts = [
        ("AWS_SECRET_ACCESS_KEY", Some(&given.secret_access_key)),
        ("AWS_SESSION_TOKEN", given.session_token.as_ref()),
    ];
    for (name, value) in parts {
        if let Some(value) = value {
            around.redactor.register(value);
            environment.set(name, value.expose_secret().clone());
        }
    }
}

/// The variables of connectTo. A parameter the stack has no part for (the address of a function
/// without one) has no variable.
async fn connect(
    call: &ScriptCall<'_>,
    targets: &[String],
    values: &mut Values<'_>,
    environment: &mut Environment,
    lines: &Listener<'_>,
) -> Result<(), Problem> {
    for target in targets {
        // What is no resource of the config (`aws:ses`) has permissions and no variables.
        let kind = call.config.resources.get(target).map(|it| &it.kind);
        let params: Vec<&str> = kind
            .and_then(referenceable_params)
            .into_iter()
            .flatten()
            .filter(|param| parameter(call.config, call.facts, target, param).is_some())
            .collect();
        // Some parameters follow from the config alone, so they do not prove that it is there.
        let (mut is_proven, mut lacks) = (false, false);
        for param in params {
            let variable = variable(target, param);
            match values.param(target, param).await {
                Ok((value, from)) => {
                    is_proven |= from == Origin::Output;
                    environment.set(&variable, value.text.expose_secret().clone());
                }
                Err(Lack::Resource(_)) => lacks = true,
                Err(Lack::Output { id, attribute }) => {
                    is_proven = true;
                    let message = format!(
                        "{variable} is not set: no output of the stack gives {attribute} of {id}"
                    );
                    lines(Level::Warn, &message);
                }
                Err(Lack::Failed(problem)) => {
                    return Err(problem.with("script", call.script).with("needed", variable));
                }
            }
        }
        if lacks && !is_proven {
            let stack = call.facts.stack_name();
            let message = format!(
                "the script \"{}\" connects to \"{target}\", which the stack {stack} does not have",
                call.script
            );
            let problem = not_found("resource", target, message, []);
            return Err(problem.next("deploy the stack as the config is now"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_or_refused_without_repeating_them() {
        let read = |text: &str| read_pairs(&[text.to_owned()]);
        for (text, name, value) in [
            ("A=b", "A", "b"),
            ("_a1=x=y", "_a1", "x=y"),
            ("E=", "E", ""),
        ] {
            assert_eq!(read(text).unwrap(), [(name.to_owned(), value.to_owned())]);
        }
        for wrong in ["hunter2", "=x", "1A=x", "A-B=x", " A=x", ""] {
            let problem = read(wrong).unwrap_err();
            assert_eq!(problem.details()["reason"], "invalid_argument");
            assert_eq!(problem.message(), "env[0] is not NAME=value");
        }
    }
}
