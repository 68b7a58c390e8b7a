//! Values of a local session that AWS has when the stack is deployed: secrets, parameters, outputs
//! of other stacks.
//!
//! They come from environment variables, else from `.env.local` next to the config, under a
//! name made of the directive's arguments: `$Secret('mail.api-key')` is `MAIL_API_KEY`. The file is
//! read again each time, so that a rebuild sees what changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use windlass_stack_config::Runtime;
use windlass_stack_config::directive::env_values;
use windlass_types::Problem;

use crate::environment::{connect_to_name, upper_snake};

/// The file's name.
pub const LOCAL_VALUES_FILE: &str = ".env.local";

/// Where local values come from.
#[derive(Clone)]
pub struct LocalValues {
    file: PathBuf,
    variables: BTreeMap<String, String>,
}

impl LocalValues {
    /// Those of a config's folder and of an environment, which goes first.
    pub fn new(directory: &Path, variables: BTreeMap<String, String>) -> Self {
        Self {
            file: directory.join(LOCAL_VALUES_FILE),
            variables,
        }
    }

    /// A variable.
    pub fn get(&self, variable: &str) -> Result<Option<String>, Problem> {
        if let Some(value) = self.variables.get(variable) {
            return Ok(Some(value.clone()));
        }
        let text = match fs_err::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Problem::internal("local values", error)),
        };
        let mut values = env_values(LOCAL_VALUES_FILE, &text).map_err(|message| {
            Problem::invalid(LOCAL_VALUES_FILE, "KEY=value lines", message)
                .with("reason", "config_invalid")
        })?;
        Ok(values.remove(variable))
    }

    /// The value a directive has here, if it has one.
    pub fn runtime(&self, runtime: &Runtime) -> Result<Option<String>, Problem> {
        match variable_of(runtime) {
            Some(variable) => self.get(&variable),
            None => Ok(None),
        }
    }
}

/// The variable that holds a directive's local value; none for those that are put together of
/// others.
pub fn variable_of(runtime: &Runtime) -> Option<String> {
    match runtime {
        Runtime::ResourceParam { resource, param } => Some(connect_to_name(resource, param)),
        Runtime::CfResourceParam {
            logical_id,
            attribute,
        } => Some(joined(&[logical_id, attribute])),
        Runtime::Secret { name, key } => {
            let key = key.as_deref().unwrap_or_default();
            Some(joined(&[name, key]))
        }
        Runtime::SsmParam { name, .. } => Some(joined(&[name])),
        Runtime::CfStackOutput { stack, output } => Some(output_variable(stack, output)),
        Runtime::CfFormat { .. } => None,
    }
}

/// The variable that holds an output of another stack.
pub fn output_variable(stack: &str, output: &str) -> String {
    joined(&[stack, output])
}

fn joined(parts: &[&str]) -> String {
    let words: Vec<String> = parts
        .iter()
        .map(|part| upper_snake(part).trim_matches('_').to_owned())
        .filter(|part| !part.is_empty())
        .collect();
    words.join("_")
}

/// What to say where a value is missing.
pub fn missing_value(directive: &str, variable: &str) -> Problem {
    Problem::invalid(
        variable,
        "a local value",
        format!("{directive} has no value here: set {variable} in {LOCAL_VALUES_FILE}"),
    )
    .with("reason", "missing_secret")
    .with("variable", variable)
    .next(format!("echo '{variable}=…' >> {LOCAL_VALUES_FILE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(name: &str, key: Option<&str>) -> Runtime {
        Runtime::Secret {
            name: name.to_owned(),
            key: key.map(str::to_owned),
        }
    }

    #[test]
    fn directives_have_variables() {
        for (runtime, expected) in [
            (
                secret("notes-database", Some("password")),
                "NOTES_DATABASE_PASSWORD",
            ),
            (secret("stripeKey", None), "STRIPE_KEY"),
            (
                Runtime::SsmParam {
                    name: "/shop/prod/api-key".to_owned(),
                    version: Some(3),
                },
                "SHOP_PROD_API_KEY",
            ),
            (
                Runtime::CfStackOutput {
                    stack: "base-dev".to_owned(),
                    output: "VpcId".to_owned(),
                },
                "BASE_DEV_VPC_ID",
            ),
            (
                Runtime::ResourceParam {
                    resource: "mainDb".to_owned(),
                    param: "host".to_owned(),
                },
                "STP_MAIN_DB_HOST",
            ),
        ] {
            assert_eq!(variable_of(&runtime).as_deref(), Some(expected));
        }
        assert_eq!(variable_of(&Runtime::CfFormat { parts: vec![] }), None);
    }

    #[test]
    fn the_environment_wins_over_the_file_and_the_file_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let variables = BTreeMap::from([("A".to_owned(), "environment".to_owned())]);
        let values = LocalValues::new(folder.path(), variables);
        assert_eq!(values.get("B").unwrap(), None);
        let file = folder.path().join(LOCAL_VALUES_FILE);
        fs_err::write(&file, "A=file\n# note\nexport B=\"two words\"\n").unwrap();
        assert_eq!(values.get("A").unwrap().as_deref(), Some("environment"));
        assert_eq!(values.get("B").unwrap().as_deref(), Some("two words"));
        assert_eq!(
            values.runtime(&secret("b", None)).unwrap().as_deref(),
            Some("two words")
        );
        fs_err::write(&file, "no sign\n").unwrap();
        let problem = values.get("B").unwrap_err();
        assert_eq!(problem.message(), ".env.local:1: expected KEY=value");
    }
}
