//! Every environment variable Windlass knows, and the one place that reads them.
//!
//! The reference page is generated from [`ALL`]. The environment is captured once at
//! start-up, so a test injects its own and a later change cannot make two parts disagree.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt,
    path::PathBuf,
};

use windlass_types::Secret;

/// A variable: its name and what it does.
#[derive(Debug, PartialEq, Eq)]
pub struct EnvVar {
    /// The name.
    pub name: &'static str,
    /// What it does, in one or two sentences.
    pub summary: &'static str,
    /// A value as an example; empty when any value, or none, does the job.
    pub example: &'static str,
    /// Whether the value is a secret.
    pub secret: bool,
}

macro_rules! variables {
    ($($name:ident: $example:literal, $secret:literal, $summary:literal;)*) => {
        $(
            #[doc = $summary]
            pub static $name: EnvVar = EnvVar {
                name: stringify!($name),
                summary: $summary,
                example: $example,
                secret: $secret,
            };
        )*
        /// Every variable, in the order of the reference page.
        pub static ALL: &[&EnvVar] = &[$(&$name),*];
    };
}

variables! {
    WINDLASS_HOME: "/srv/windlass", false,
        "The directory that holds the store, keys, settings and policy. Default: `.windlass` in the user's home directory.";
    WINDLASS_CONFIG: "/etc/windlass/config.toml", false,
        "The settings file. Default: `config.toml` in the Windlass home; a file named here must exist.";
    WINDLASS_LOG: "info,windlass_engine=debug", false,
        "What is logged to standard error: a level, or levels per module. Wins over the settings file.";
    WINDLASS_LOG_FORMAT: "json", false,
        "How log lines are written: `human` or `json`. Wins over the settings file.";
    WINDLASS_COMPLETE: "bash", false,
        "Set by the scripts of `windlass completions` when a shell asks for completions.";
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318", false,
        "Where spans are exported over OTLP/HTTP. Nothing is exported when neither this nor the settings file names a collector.";
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer …", true,
        "Headers sent with every export, as `name=value` pairs separated by commas.";
    OTEL_SERVICE_NAME: "windlass-staging", false,
        "The service name on exported spans. Default: `windlass`.";
    NO_COLOR: "1", false,
        "Any value turns colour off.";
    CLICOLOR_FORCE: "1", false,
        "Any value but `0` turns colour on, also when output is not a terminal.";
    TERM: "dumb", false,
        "`dumb` turns colour and progress bars off.";
    CI: "true", false,
        "Set by build services: progress bars and questions are turned off.";
    AGENTPACK_HOME: "/home/ada/.agentpack", false,
        "Where packs keep their repository, snapshots and blobs. Default: `.agentpack` in the user's home directory.";
    AGENTPACK_MACHINE_ID: "laptop", false,
        "The machine whose overlays apply. Default: the host's name.";
    AGENTPACK_FSYNC: "1", false,
        "`1`, `true`, `yes`, `y` or `on`: files that a pack deploys are flushed to disk too.";
    AGENTPACK_LINK_DESTINATIONS: "/home/ada/shared:/srv/agents", false,
        "Directories outside a project, separated by colons, into which symbolic links of the project may lead a pack's files. Default: none.";
    CODEX_HOME: "/home/ada/.codex", false,
        "Where Codex keeps its configuration; wins over the `codex_home` option of a pack.";
    WINDLASS_LAUNCH_PROFILE: "ci", false,
        "How strict the gates of site launches are if their configuration does not say: `local`, `ci` or `prod`. Wins over the settings file.";
    AWS_PROFILE: "staging", false,
        "The AWS profile for stacks. `--profile` wins over it.";
    AWS_REGION: "eu-west-1", false,
        "The AWS region for stacks. `--region` wins over it.";
    AWS_DEFAULT_REGION: "eu-west-1", false,
        "The AWS region, where `AWS_REGION` is not set.";
    AWS_ACCESS_KEY_ID: "AKIA…", false,
        "The access key for AWS; with it belongs `AWS_SECRET_ACCESS_KEY`. Wins over profiles.";
    AWS_SECRET_ACCESS_KEY: "…", true,
        "The secret of the access key.";
    AWS_SESSION_TOKEN: "…", true,
        "The token of temporary AWS credentials.";
    AWS_CONFIG_FILE: "/home/ada/.aws/config", false,
        "The file with AWS profiles. Default: `.aws/config` in the user's home directory.";
    AWS_SHARED_CREDENTIALS_FILE: "/home/ada/.aws/credentials", false,
        "The file with AWS credentials. Default: `.aws/credentials` in the user's home directory.";
    AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/deploy", false,
        "The role that is assumed with a web identity token.";
    AWS_ROLE_SESSION_NAME: "build-42", false,
        "The name of the session of that role.";
    AWS_WEB_IDENTITY_TOKEN_FILE: "/var/run/token", false,
        "The file with the web identity token, as build services and Kubernetes provide it.";
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/v2/credentials/…", false,
        "Where a container of ECS gets credentials. Set by AWS.";
    AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://169.254.170.23/v1/credentials", false,
        "The same with a host. Set by AWS.";
    AWS_EC2_METADATA_DISABLED: "true", false,
        "`true`: the metadata service of EC2 is not asked for credentials and region.";
    AWS_ENDPOINT_URL: "http://127.0.0.1:4566", false,
        "Where AWS is called, for emulators such as moto and LocalStack. `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL_CLOUDFORMATION` and so on are for one service and win over it.";
    AWS_MAX_ATTEMPTS: "3", false,
        "How often a call to AWS is tried.";
    PATH: "/usr/local/bin:/usr/bin", false,
        "Where programs are found: git, and Hugo for site launches.";
    NPM_CONFIG_REGISTRY: "https://npm.example.com", false,
        "The npm registry that esbuild is fetched from, once. Default: as in the user's `.npmrc`, else the public registry.";
    NPM_CONFIG_USERCONFIG: "/home/ada/.npmrc", false,
        "The npm settings of the user: the registry, and the token it asks for. Default: `.npmrc` in the user's home directory.";
    EDITOR: "vi", false,
        "The program that `windlass pack overlay edit` opens.";
    HOSTNAME: "laptop", false,
        "The host's name, where `AGENTPACK_MACHINE_ID` is not set.";
    COMPUTERNAME: "LAPTOP", false,
        "The host's name, where neither `AGENTPACK_MACHINE_ID` nor `HOSTNAME` is set.";
    HOME: "/home/ada", false,
        "The user's home directory; the default Windlass home lies in it.";
}

/// The variables of this process, or of a test.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// The environment of this process, as it is now.
    pub fn from_process() -> Self {
        let variables = std::env::vars_os().map(|(name, value)| match name == "PATH" {
            true => (name, windlass_process::absolute_entries(&value)),
            false => (name, value),
        });
        Self(variables.collect())
    }

    /// An environment made up by a test.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self(
            pairs
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }

    /// A variable's value. Empty counts as unset, as does text that is not UTF-8.
    pub fn get(&self, variable: &EnvVar) -> Option<&str> {
        self.raw(variable.name)?.to_str()
    }

    /// A variable's value as a path, which need not be UTF-8.
    pub fn path(&self, variable: &EnvVar) -> Option<PathBuf> {
        self.raw(variable.name).map(PathBuf::from)
    }

    /// Every variable, for a program that needs them all.
    pub fn all(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        self.0
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
    }

    /// A variable's value as a secret.
    pub fn secret(&self, variable: &EnvVar) -> Option<Secret<String>> {
        self.secret_named(variable.name)
    }

    /// Whether a variable has any value.
    pub fn is_set(&self, variable: &EnvVar) -> bool {
        self.raw(variable.name).is_some()
    }

    /// A secret in a variable whose name the user chose in the settings file.
    pub fn secret_named(&self, name: &str) -> Option<Secret<String>> {
        self.raw(name)?
            .to_str()
            .map(|value| Secret::new(value.to_owned()))
    }

    fn raw(&self, name: &str) -> Option<&OsStr> {
        self.0
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }
}

impl fmt::Debug for Environment {
    /// The names only: any variable may hold a secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

/// The reference page.
pub fn reference() -> String {
    let mut page = String::from(
        "# Environment variables\n\n| variable | example | what it does |\n|---|---|---|\n",
    );
    for variable in ALL {
        let example = if variable.example.is_empty() {
            String::new()
        } else {
            format!("`{}`", variable.example)
        };
        let secret = if variable.secret {
            " Secret: never logged."
        } else {
            ""
        };
        page.push_str(&format!(
            "| `{}` | {example} | {}{secret} |\n",
            variable.name, variable.summary
        ));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_is_unset_and_debug_shows_no_value() {
        let environment = Environment::from_pairs([
            ("NO_COLOR", ""),
            ("CI", "true"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "key=hidden"),
        ]);
        assert!(!environment.is_set(&NO_COLOR));
        assert_eq!(environment.get(&CI), Some("true"));
        assert_eq!(
            environment
                .secret(&OTEL_EXPORTER_OTLP_HEADERS)
                .unwrap()
                .expose_secret(),
            "key=hidden"
        );
        assert!(!format!("{environment:?}").contains("hidden"));
    }

    #[test]
    fn every_variable_is_on_the_page_once() {
        let page = reference();
        for variable in ALL {
            assert_eq!(
                page.matches(&format!("| `{}` |", variable.name)).count(),
                1,
                "{}",
                variable.name
            );
            assert!(variable.summary.ends_with('.'), "{}", variable.name);
        }
    }

    #[test]
    fn the_process_environment_is_captured() {
        assert!(
            Environment::from_process()
                .get(&EnvVar {
                    name: "PATH",
                    ..CI_LIKE
                })
                .is_some()
        );
    }

    const CI_LIKE: EnvVar = EnvVar {
        name: "",
        summary: "",
        example: "",
        secret: false,
    };
}
