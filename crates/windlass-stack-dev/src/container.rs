//! Containers by the command line of Podman or Docker, which are the same as far as we need.
//!
//! A container runs in the foreground of its command, so that its output is in the log and its
//! end is noticed like any process's; its label finds it again when the command was killed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use windlass_process::Ended;
use windlass_types::{Problem, Secret, code};

use crate::process::Launch;

/// How long an engine may take to say that it is there.
const ASK_TIME: Duration = Duration::from_secs(10);
/// How long building an image may take.
const BUILD_TIME: Duration = Duration::from_secs(1800);
const LABEL: &str = "windlass.dev.session";

/// Where an engine finds its service, its images and its settings. Without them a command would
/// look at another store than the one the image was built in.
const READ_BY_ENGINES: [&str; 15] = [
    "CONTAINERS_CONF",
    "CONTAINERS_REGISTRIES_CONF",
    "CONTAINERS_STORAGE_CONF",
    "CONTAINER_CONNECTION",
    "CONTAINER_HOST",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_CERT_PATH",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
    "DOCKER_TLS_VERIFY",
    "REGISTRY_AUTH_FILE",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];
/// What every program reads: a workload's own value may not reach the engine's command.
const READ_BY_ALL: [&str; 4] = ["HOME", "PATH", "TMPDIR", "USER"];

/// What the commands of a container engine read of the caller's environment.
pub fn engine_environment(caller: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    caller
        .iter()
        .filter(|(name, _)| READ_BY_ENGINES.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Whether the engine would take a workload's variable for its own.
fn is_obeyed(name: &str) -> bool {
    READ_BY_ENGINES.contains(&name) || READ_BY_ALL.contains(&name)
}

/// An engine that answers.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    program: PathBuf,
    environment: BTreeMap<String, String>,
    /// The value of the label: one session.
    session: String,
}

/// How a container's ports meet the machine's.
pub(crate) enum Network {
    /// It shares the machine's network: it reaches local databases on 127.0.0.1.
    Shared,
    /// One port of it, on loopback alone.
    Published { local: u16, inside: u16 },
}

/// A container to run.
pub(crate) struct ContainerSpec {
    pub name: String,
    pub image: String,
    pub network: Network,
    pub environment: Vec<(String, Secret<String>)>,
    pub entry_point: Option<Vec<String>>,
    pub command: Vec<String>,
    pub directory: PathBuf,
    pub grace: Duration,
}

impl Engine {
    /// The engine, if its program is there and its service answers.
    pub fn find(
        program: Option<&PathBuf>,
        environment: &BTreeMap<String, String>,
        session: &str,
    ) -> Result<Self, Problem> {
        let missing = |why: String| {
            Problem::new(
                &code::TOOLCHAIN_MISSING,
                format!("no container engine: {why}; install Podman or start Docker, or leave this resource out"),
            )
            .with("reason", "packaging_failed")
        };
        let program = program
            .ok_or_else(|| missing("neither podman nor docker is on the PATH".to_owned()))?;
        let answer = windlass_process::run(
            windlass_process::command(program).arg("info"),
            None,
            ASK_TIME,
        );
        match answer {
            Ok(Ended::Itself { code: Some(0), .. }) => Ok(Self {
                program: program.clone(),
                environment: environment.clone(),
                session: session.to_owned(),
            }),
            Ok(Ended::Itself { mut stderr, .. }) => {
                let text = stderr.all().unwrap_or_default();
                let text = String::from_utf8_lossy(&text);
                Err(missing(format!(
                    "{} says: {}",
                    program.display(),
                    text.lines().last().unwrap_or_default()
                )))
            }
            Ok(Ended::Stopped) => Err(missing(format!("{} does not answer", program.display()))),
            Err(error) => Err(missing(format!("{}: {error}", program.display()))),
        }
    }

    /// Builds an image from a Dockerfile.
    pub fn build(
        &self,
        tag: &str,
        context: &std::path::Path,
        dockerfile: Option<&str>,
        arguments: &[(String, String)],
    ) -> Result<(), Problem> {
        let mut command = windlass_process::command(&self.program);
        command.current_dir(context).args(["build", "--tag", tag]);
        if let Some(file) = dockerfile {
            command.args(["--file", file]);
        }
        for (name, value) in arguments {
            command.arg("--build-arg").arg(format!("{name}={value}"));
        }
        let failed = |text: &str| {
            Problem::invalid(
                "packaging",
                "an image that can be built",
                format!(
                    "building {tag} failed: {}",
                    text.lines().last().unwrap_or_default()
                ),
            )
            .with("reason", "packaging_failed")
            .with("output", text)
        };
        match windlass_process::run(command.arg("."), None, BUILD_TIME) {
            Ok(Ended::Itself { code: Some(0), .. }) => Ok(()),
            Ok(Ended::Itself { mut stderr, .. }) => {
                let (_, last) = stderr.ends(8 << 10).unwrap_or_default();
                let all = if last.is_empty() {
                    stderr.all().unwrap_or_default()
                } else {
                    last
                };
                Err(failed(&String::from_utf8_lossy(&all)))
            }
            Ok(Ended::Stopped) => Err(failed("it took too long")),
            Err(error) => Err(failed(&error.to_string())),
        }
    }

    /// How to run a container. Values of variables are in the environment of the command, so
    /// that they are in no list of processes; but for the few that the engine itself would obey.
    pub fn launch(&self, spec: &ContainerSpec) -> Launch {
        let mut arguments: Vec<OsString> =
            ["run", "--rm", "--init", "--name", &spec.name, "--label"]
                .map(Into::into)
                .into();
        arguments.push(format!("{LABEL}={}", self.session).into());
        match &spec.network {
            Network::Shared => arguments.push("--network=host".into()),
            Network::Published { local, inside } => {
                arguments.push(format!("--publish=127.0.0.1:{local}:{inside}").into());
            }
        }
        let mut environment: Vec<(String, Secret<String>)> = self
            .environment
            .iter()
            .map(|(name, value)| (name.clone(), Secret::new(value.clone())))
            .collect();
        for (name, value) in &spec.environment {
            if is_obeyed(name) {
                let value = value.expose_secret();
                arguments.extend(["--env".into(), format!("{name}={value}").into()]);
            } else {
                arguments.extend(["--env".into(), name.into()]);
                environment.push((name.clone(), value.clone()));
            }
        }
        let mut words = Vec::new();
        if let Some(entry) = &spec.entry_point {
            let mut entry = entry.iter();
            if let Some(first) = entry.next() {
                arguments.push(format!("--entrypoint={first}").into());
            }
            words.extend(entry.cloned());
        }
        words.extend(spec.command.iter().cloned());
        arguments.push(spec.image.clone().into());
        arguments.extend(words.into_iter().map(OsString::from));
        let mut launch = Launch::new(&self.program, &spec.directory).arguments(arguments);
        launch.environment = environment;
        launch.grace = spec.grace + Duration::from_secs(3);
        launch
    }

    /// Removes what is left of this session's containers.
    pub fn remove_all(&self) {
        let listed = windlass_process::run(
            windlass_process::command(&self.program)
                .args(["ps", "--all", "--quiet", "--filter"])
                .arg(format!("label={LABEL}={}", self.session)),
            None,
            ASK_TIME,
        );
        if let Ok(Ended::Itself {
            code: Some(0),
            mut stdout,
            ..
        }) = listed
        {
            let ids = stdout.all().unwrap_or_default();
            for id in String::from_utf8_lossy(&ids).split_whitespace() {
                // One that has just removed itself is no failure.
                let _ = windlass_process::run(
                    windlass_process::command(&self.program).args(["rm", "--force", id]),
                    None,
                    ASK_TIME,
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_hold_names_of_variables_and_never_values() {
        let engine = Engine {
            program: "/usr/bin/podman".into(),
            environment: [("DOCKER_HOST".to_owned(), "unix:///here".to_owned())].into(),
            session: "s".to_owned(),
        };
        let launch = engine.launch(&ContainerSpec {
            name: "windlass-dev-web".to_owned(),
            image: "web:1".to_owned(),
            network: Network::Published {
                local: 4000,
                inside: 80,
            },
            environment: [("PASSWORD", "hunter2"), ("HOME", "/app")]
                .map(|(name, value)| (name.to_owned(), Secret::new(value.to_owned())))
                .into(),
            entry_point: Some(vec!["sh".to_owned(), "-c".to_owned()]),
            command: vec!["serve".to_owned()],
            directory: "/".into(),
            grace: Duration::from_secs(2),
        });
        let words: Vec<&str> = launch
            .arguments
            .iter()
            .map(|word| word.to_str().unwrap())
            .collect();
        insta::assert_snapshot!(words.join(" "), @"run --rm --init --name windlass-dev-web --label windlass.dev.session=s --publish=127.0.0.1:4000:80 --env PASSWORD --env HOME=/app --entrypoint=sh web:1 -c serve");
        // The engine finds its own home and service, whatever the workload's are.
        let read: Vec<String> = launch
            .environment
            .iter()
            .map(|(name, value)| format!("{name}={}", value.expose_secret()))
            .collect();
        insta::assert_snapshot!(read.join(" "), @"DOCKER_HOST=unix:///here PASSWORD=hunter2");
    }

    #[test]
    fn a_missing_engine_is_an_error() {
        let problem = Engine::find(None, &BTreeMap::new(), "s").unwrap_err();
        assert!(
            problem.message().contains("neither podman nor docker"),
            "{problem}"
        );
        let problem = Engine::find(Some(&"/bin/false".into()), &BTreeMap::new(), "s").unwrap_err();
        assert!(
            problem
                .message()
                .starts_with("no container engine: /bin/false says"),
            "{problem}"
        );
    }
}
