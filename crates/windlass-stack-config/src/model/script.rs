//! Scripts, and the moments they run at.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::EnvironmentVariable;
use crate::defaults::{root_path, yes};
use crate::tagged::tagged;

tagged! {
    /// A script of the stack: migrations, seeds, checks.
    pub enum Script {
        /// Runs on this machine.
        Local(LocalScript) = "local-script",
        /// Runs on a bastion.
        Bastion(BastionScript) = "bastion-script",
        /// Runs on this machine; what is only inside the network is reached through a bastion.
        LocalWithTunnel(TunnelScript) = "local-script-with-bastion-tunneling",
    }
}

/// Exactly one of the four `execute…` properties.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LocalScript {
    /// A file to run: JavaScript, TypeScript or Python.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute_script: Option<String>,
    /// Files to run, one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute_scripts: Option<Vec<String>>,
    /// A command to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute_command: Option<String>,
    /// Commands to run, one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute_commands: Option<Vec<String>>,
    /// Where it runs; where the command was started without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Show its output as it comes.
    #[serde(default = "yes")]
    pub pipe_stdio: bool,
    /// Resources whose variables it gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connect_to: Vec<String>,
    /// Environment variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<EnvironmentVariable>,
    /// The resource whose permissions it has; yours without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assume_role_of_resource: Option<String>,
}

/// Exactly one of `executeCommand` and `executeCommands`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BastionScript {
    /// A command to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute_command: Option<String>,
    /// Commands to run, one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute_commands: Option<Vec<String>>,
    /// Where it runs.
    #[serde(default = "root_path")]
    pub cwd: String,
    /// Show its output as it comes.
    #[serde(default = "yes")]
    pub pipe_stdio: bool,
    /// Resources whose variables it gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connect_to: Vec<String>,
    /// Environment variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<EnvironmentVariable>,
    /// The resource whose permissions it has; yours without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assume_role_of_resource: Option<String>,
    /// The bastion; the only one without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bastion_resource: Option<String>,
}

/// Exactly one of the four `execute…` properties.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TunnelScript {
    /// A file to run: JavaScript, TypeScript or Python.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute_script: Option<String>,
    /// Files to run, one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute_scripts: Option<Vec<String>>,
    /// A command to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute_command: Option<String>,
    /// Commands to run, one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute_commands: Option<Vec<String>>,
    /// Where it runs; where the command was started without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Show its output as it comes.
    #[serde(default = "yes")]
    pub pipe_stdio: bool,
    /// Resources whose variables it gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connect_to: Vec<String>,
    /// Environment variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<EnvironmentVariable>,
    /// The resource whose permissions it has; yours without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assume_role_of_resource: Option<String>,
    /// The bastion; the only one without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bastion_resource: Option<String>,
}

/// One thing a script does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptStep<'a> {
    /// Runs a file.
    File(&'a str),
    /// Runs a shell command.
    Command(&'a str),
}

impl Script {
    /// What it does, in order.
    pub fn steps(&self) -> Vec<ScriptStep<'_>> {
        let (file, files, command, commands) = match self {
            Self::Local(script) => (
                &script.execute_script,
                &script.execute_scripts,
                &script.execute_command,
                &script.execute_commands,
            ),
            Self::LocalWithTunnel(script) => (
                &script.execute_script,
                &script.execute_scripts,
                &script.execute_command,
                &script.execute_commands,
            ),
            Self::Bastion(script) => (
                &None,
                &None,
                &script.execute_command,
                &script.execute_commands,
            ),
        };
        let files = file.iter().chain(files.iter().flatten());
        let commands = command.iter().chain(commands.iter().flatten());
        files
            .map(|file| ScriptStep::File(file))
            .chain(commands.map(|command| ScriptStep::Command(command)))
            .collect()
    }

    /// Resources whose variables it gets.
    pub fn connect_to(&self) -> &[String] {
        match self {
            Self::Local(script) => &script.connect_to,
            Self::Bastion(script) => &script.connect_to,
            Self::LocalWithTunnel(script) => &script.connect_to,
        }
    }

    /// Environment variables.
    pub fn environment(&self) -> &[EnvironmentVariable] {
        match self {
            Self::Local(script) => &script.environment,
            Self::Bastion(script) => &script.environment,
            Self::LocalWithTunnel(script) => &script.environment,
        }
    }

    /// The resource whose permissions it has.
    pub fn assume_role_of_resource(&self) -> Option<&str> {
        match self {
            Self::Local(script) => script.assume_role_of_resource.as_deref(),
            Self::Bastion(script) => script.assume_role_of_resource.as_deref(),
            Self::LocalWithTunnel(script) => script.assume_role_of_resource.as_deref(),
        }
    }

    /// The bastion it names.
    pub fn bastion_resource(&self) -> Option<&str> {
        match self {
            Self::Local(_) => None,
            Self::Bastion(script) => script.bastion_resource.as_deref(),
            Self::LocalWithTunnel(script) => script.bastion_resource.as_deref(),
        }
    }
}

/// Scripts that run before and after operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hooks {
    /// Before a deploy; a failure stops it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before_deploy: Vec<Hook>,
    /// After a deploy; a failure is reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after_deploy: Vec<Hook>,
    /// Before a delete; a failure stops it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before_delete: Vec<Hook>,
    /// After a delete; a failure is reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after_delete: Vec<Hook>,
    /// Before files are uploaded to buckets; a failure stops it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before_bucket_sync: Vec<Hook>,
    /// After files were uploaded to buckets; a failure is reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after_bucket_sync: Vec<Hook>,
    /// Before local development starts; a failure stops it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before_dev: Vec<Hook>,
    /// After local development started; a failure is reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after_dev: Vec<Hook>,
}

impl Hooks {
    /// Every moment by its name, with what runs then.
    pub fn moments(&self) -> [(&'static str, &[Hook]); 8] {
        [
            ("beforeDeploy", &self.before_deploy),
            ("afterDeploy", &self.after_deploy),
            ("beforeDelete", &self.before_delete),
            ("afterDelete", &self.after_delete),
            ("beforeBucketSync", &self.before_bucket_sync),
            ("afterBucketSync", &self.after_bucket_sync),
            ("beforeDev", &self.before_dev),
            ("afterDev", &self.after_dev),
        ]
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hook {
    /// The script's name in this config.
    pub script_name: String,
    /// Not in a CI system.
    #[serde(rename = "skipOnCI", default)]
    pub skip_on_ci: bool,
    /// Only in a CI system.
    #[serde(default)]
    pub skip_on_local: bool,
}
