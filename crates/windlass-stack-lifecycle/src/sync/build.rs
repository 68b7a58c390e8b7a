//! A website built with the values of the deployed stack.
//!
//! Values end in pages that everyone can read, so secrets are refused.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass_secrets::Redactor;
use windlass_stack_compile::Facts;
use windlass_stack_config::Config;
use windlass_types::{Problem, Timestamp, code};

use crate::Access;
use crate::script::{Audience, Ending, Environment, Listener, Program, Tail, Values, follow};
use crate::sync::dotenv::merged;
use crate::sync::headers::invalid;
use crate::sync::source::SyncSource;

/// What a build needs besides its source.
pub struct Setting<'a> {
    /// The config.
    pub config: &'a Config,
    /// What is known of the stack.
    pub facts: &'a Facts,
    /// AWS and the clock.
    pub access: &'a Access,
    /// Takes secrets out of what the build prints.
    pub redactor: &'a Redactor,
    /// The variables of the build. It runs untrusted code, so credentials do not belong here.
    pub environment: &'a BTreeMap<String, String>,
}

/// The result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Built {
    /// Values that go into pages.
    pub injected: BTreeMap<String, String>,
    /// The last lines of the build; empty where there is none.
    pub output_tail: String,
}

/// Resolves the values of a source, writes its `.env` file and runs its build. A source without
/// any of these needs nothing and asks AWS nothing.
pub async fn build(
    source: &SyncSource,
    setting: &Setting<'_>,
    lines: &Listener<'_>,
    deadline: Timestamp,
) -> Result<Built, Problem> {
    let injected = values(source, setting).await?;
    if let Some(file) = &source.dotenv {
        write_dotenv(source, file, &injected)?;
    }
    let mut tail = Tail::default();
    if let Some(command) = &source.build {
        let directory = source.config_directory.join(&command.working_directory);
        if !directory.is_dir() {
            let cause = format!("there is no directory {}", directory.display());
            let property = "build.workingDirectory";
            return Err(
                invalid(&source.resource, property, "directory_missing", cause)
                    .next("it is relative to the config"),
            );
        }
        let mut environment = Environment::of(setting.environment);
        for (name, value) in &injected {
            environment.set(name, value.clone());
        }
        let program = Program::shell(&command.command, directory, environment);
        let time = deadline.since(setting.access.clock.now());
        let ending = follow(program, time, setting.redactor, &mut tail, lines).await;
        ended(source, &command.command, ending, &tail)
            .map_err(|problem| setting.redactor.redact_problem(problem))?;
    }
    Ok(Built {
        injected,
        output_tail: tail.text(),
    })
}

async fn values(
    source: &SyncSource,
    setting: &Setting<'_>,
) -> Result<BTreeMap<String, String>, Problem> {
    let mut values = Values::new(
        setting.access,
        setting.redactor,
        setting.config,
        setting.facts,
        Audience::Everybody,
    );
    let mut injected = BTreeMap::new();
    for variable in &source.inject {
        let what = format!("{} of \"{}\"", variable.name, source.resource);
        let value = values.text(&what, &variable.value.to_text()).await?;
        injected.insert(variable.name.clone(), value.text.expose_secret().clone());
    }
    Ok(injected)
}

fn write_dotenv(
    source: &SyncSource,
    file: &Path,
    values: &BTreeMap<String, String>,
) -> Result<(), Problem> {
    let names_folder = file.as_os_str().to_string_lossy().ends_with('/');
    let file: PathBuf = match names_folder || file.is_dir() {
        true => file.join(".env"),
        false => file.to_owned(),
    };
    let write = || {
        let before = match fs_err::read_to_string(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            other => other?,
        };
        let after = merged(&before, values);
        if after == before {
            return Ok(());
        }
        windlass_files::write_from(
            &source.config_directory,
            &file,
            after.as_bytes(),
            windlass_files::Access::Usual,
        )?;
        Ok(())
    };
    write().map_err(|error: std::io::Error| {
        invalid(
            &source.resource,
            "writeDotenvFilesTo",
            "file_unwritable",
            error,
        )
    })
}

fn ended(
    source: &SyncSource,
    command: &str,
    ending: std::io::Result<Ending>,
    tail: &Tail,
) -> Result<(), Problem> {
    let name = &source.resource;
    let problem = match ending {
        Ok(Ending::Code(Some(0))) => return Ok(()),
        Ok(Ending::Code(exit_code)) => {
            let how = match exit_code {
                Some(exit_code) => format!("ended with code {exit_code}"),
                None => "was ended by a signal".to_owned(),
            };
            let message = format!("the build of \"{name}\" failed: `{command}` {how}");
            Problem::new(&code::DEPLOY_FAILED, message)
                .with("reason", "build_failed")
                .with("exitCode", exit_code)
                .next("read outputTail, fix the build and deploy again")
        }
        Ok(Ending::Late) => {
            let message = format!("the build of \"{name}\" did not end in time: `{command}`");
            Problem::new(&code::TIMEOUT, message).with("reason", "build_timeout")
        }
        Err(error) => {
            let message = format!("the build of \"{name}\" could not be run: {error}");
            Problem::new(&code::DEPLOY_FAILED, message).with("reason", "build_failed")
        }
    };
    Err(problem
        .with("phase", "post-deploy")
        .with("resource", name.as_str())
        .with("outputTail", tail.text()))
}
