//! A project's config, read for one stage and region.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::runtime::Handle;
use windlass_ports::aws::Target;
use windlass_stack_config::{
    Config, Context, CustomCall, GitInfo, Lookups, find_config, load_file,
};
use windlass_stack_diagnose::aws_problem;
use windlass_types::{Problem, code};

use crate::desk::{Desk, blocking};
use crate::dev::{LocalLookups, RunningSession};
use crate::fault;
use crate::outside::StackOutside;
use crate::place::{Place, check_project};
use crate::run::Kind;

/// A project, read.
pub(crate) struct Project {
    pub name: String,
    pub stage: String,
    pub region: String,
    /// The config.
    pub file: PathBuf,
    /// Nothing outside of it is read or packaged.
    pub root: PathBuf,
    /// What paths of the config are relative to.
    pub config_directory: PathBuf,
    pub config: Config,
    /// Whether the config changes the finished template by code of its own.
    pub has_transforms: bool,
    pub warnings: Vec<String>,
    pub arguments: Map<String, Value>,
}

impl Project {
    /// Reads the config of a place. Blocks a thread of its own: directives may ask programs and
    /// AWS.
    pub async fn load(
        desk: &Desk,
        place: &Place,
        arguments: &Map<String, Value>,
        command: &str,
    ) -> Result<Self, Problem> {
        let outside = Arc::clone(&desk.outside);
        let place = place.clone();
        let arguments = arguments.clone();
        let command = command.to_owned();
        let handle = Handle::current();
        blocking(move || read(outside, &place, arguments, &command, handle)).await
    }

    /// The stack's name.
    pub fn stack_name(&self) -> String {
        format!("{}-{}", self.name, self.stage)
    }

    /// The finished template after the config's own code has seen it.
    pub fn transformed(
        &self,
        desk: &Desk,
        template: Value,
        target: &Target,
    ) -> Result<Value, Problem> {
        if !self.has_transforms {
            return Ok(template);
        }
        let lookups = Questions {
            outside: &desk.outside,
            target: target.clone(),
            root: &self.root,
            config_directory: &self.config_directory,
            handle: Handle::current(),
        };
        let context = self.context(&desk.outside, &lookups, target.profile.clone());
        context.require_code("the config's transform")?;
        desk.outside
            .interpreters
            .transform(&self.file, &context, "deploy", &template)
    }

    fn context<'a>(
        &self,
        outside: &StackOutside,
        lookups: &'a dyn Lookups,
        profile: Option<String>,
    ) -> Context<'a> {
        Context {
            project_name: Some(self.name.clone()),
            stage: Some(self.stage.clone()),
            region: Some(self.region.clone()),
            profile,
            arguments: self.arguments.clone(),
            project_root: self.root.clone(),
            config_directory: self.config_directory.clone(),
            allowed: outside.allowed,
            lookups,
        }
    }
}

fn read(
    outside: Arc<StackOutside>,
    place: &Place,
    arguments: Map<String, Value>,
    command: &str,
    handle: Handle,
) -> Result<Project, Problem> {
    let file = find_config(&place.directory, place.config_path.as_deref())?;
    let config_directory = file.parent().unwrap_or(Path::new("/")).to_owned();
    // A config below the working directory may use all of it; one elsewhere its own directory.
    let root = if config_directory.starts_with(&place.directory) {
        place.directory.clone()
    } else {
        config_directory.clone()
    };
    let questions = Questions {
        outside: &outside,
        target: place.target(),
        root: &root,
        config_directory: &config_directory,
        handle,
    };
    // A script that runs with a local session does without AWS, as the session does.
    let running = (command == Kind::Script.operation())
        .then(|| RunningSession::of(place, &arguments))
        .flatten();
    let local = running.map(|it| (it.values(&outside.environment), it.session.is_local()));
    let local = local
        .as_ref()
        .map(|(values, is_local)| (LocalLookups::new(values, &questions, !is_local), is_local));
    let lookups: &dyn Lookups = match &local {
        Some((lookups, _)) => lookups,
        None => &questions,
    };
    let context = Context {
        project_name: place.project_name.clone(),
        stage: place.stage.clone(),
        region: place.region.clone(),
        profile: place.profile.clone(),
        arguments: arguments.clone(),
        project_root: root.clone(),
        config_directory: config_directory.clone(),
        allowed: outside.allowed,
        lookups,
    };
    let loaded = load_file(&file, &context, &outside.interpreters, command)?;
    if let Some((lookups, true)) = local
        && let Some(problem) = lookups.into_missing()
    {
        return Err(problem);
    }
    let is_code = matches!(
        file.extension().and_then(|it| it.to_str()),
        Some("cjs" | "cts" | "js" | "mjs" | "mts" | "ts")
    );
    if is_code {
        // It was trusted, or it would not have run.
        outside.trust.ran(&config_directory);
    }
    let config = loaded.loaded.config;
    let stage = place
        .stage
        .clone()
        .ok_or_else(|| fault::missing(command, "stage"))?;
    let region = place
        .region
        .clone()
        .ok_or_else(|| fault::missing(command, "region"))?;
    let name = match place
        .project_name
        .clone()
        .or_else(|| config.service_name.clone())
    {
        Some(name) => name,
        None => {
            return Err(fault::missing(command, "projectName")
                .next("or write serviceName at the top of the config"));
        }
    };
    check_project(&name)?;
    let stack = format!("{name}-{stage}");
    if let Some(judged) = &place.judged_stack
        && *judged != stack
    {
        let message = format!(
            "the config names the stack {stack} now, and {judged} when policy was asked; nothing \
             is done for either"
        );
        return Err(Problem::new(&code::ILLEGAL_STATE, message)
            .with("reason", "stack_changed")
            .with("stackName", judged.as_str())
            .next("name the stack with projectName and stage, or make the config always name the same"));
    }
    Ok(Project {
        name,
        stage,
        region,
        warnings: loaded
            .loaded
            .warnings
            .iter()
            .map(|warning| warning.message.clone())
            .collect(),
        has_transforms: loaded.has_transforms,
        config,
        file,
        root,
        config_directory,
        arguments,
    })
}

/// What directives ask.
pub(crate) struct Questions<'a> {
    pub outside: &'a StackOutside,
    pub target: Target,
    pub root: &'a Path,
    pub config_directory: &'a Path,
    pub handle: Handle,
}

impl Lookups for Questions<'_> {
    fn require_trust(&self, what: &str) -> Result<(), Problem> {
        self.outside.require_trust(self.config_directory, what)
    }

    fn account_id(&self) -> Result<String, Problem> {
        let caller = self
            .handle
            .block_on(self.outside.cloud.caller(&self.target));
        caller
            .map(|caller| caller.account)
            .map_err(|failure| aws_problem(&failure))
    }

    fn git(&self) -> Result<GitInfo, Problem> {
        let git = &self.outside.git;
        let wrong = |error: windlass_ports::GitError| {
            Problem::new(&code::INVALID_INPUT, format!("$GitInfo: {error}"))
                .with("reason", "directive_error")
        };
        let Some(top) = git.toplevel(self.root).map_err(wrong)? else {
            return Err(Problem::new(
                &code::INVALID_INPUT,
                format!("$GitInfo: {} is in no git repository", self.root.display()),
            )
            .with("reason", "directive_error"));
        };
        let head = git.head(&top).map_err(wrong)?;
        Ok(GitInfo {
            has_uncommitted_changes: !git.is_clean(&top).map_err(wrong)?,
            username: git.user_name(&top).map_err(wrong)?.unwrap_or_default(),
            branch: head.branch.unwrap_or_default(),
            commit: head.commit.unwrap_or_default(),
            git_url: git
                .remote_url(&top, "origin")
                .map_err(wrong)?
                .unwrap_or_default(),
        })
    }

    fn stack_output(
        &self,
        stack: &str,
        output: &str,
        region: Option<&str>,
    ) -> Result<Value, Problem> {
        let target = Target {
            region: region
                .map(str::to_owned)
                .or_else(|| self.target.region.clone()),
            ..self.target.clone()
        };
        let found = self
            .handle
            .block_on(self.outside.cloud.describe_stack(&target, stack))
            .map_err(|failure| aws_problem(&failure))?;
        let refuse = |message: String| {
            Problem::new(&code::INVALID_INPUT, message)
                .with("reason", "directive_error")
                .with("stack", stack)
                .with("output", output)
        };
        let Some(found) = found else {
            return Err(refuse(format!("$StackOutput: there is no stack {stack}")));
        };
        let value = found
            .outputs
            .iter()
            .find(|known| known.output_key == output)
            .map(|known| Value::from(known.output_value.clone()));
        value.ok_or_else(|| {
            let names: Vec<&str> = found
                .outputs
                .iter()
                .map(|it| it.output_key.as_str())
                .collect();
            refuse(format!(
                "$StackOutput: the stack {stack} has no output {output}; it has {}",
                if names.is_empty() {
                    "none".to_owned()
                } else {
                    names.join(", ")
                }
            ))
        })
    }

    fn custom_directive(&self, call: &CustomCall) -> Result<Value, Problem> {
        self.outside.interpreters.directive(call)
    }
}
