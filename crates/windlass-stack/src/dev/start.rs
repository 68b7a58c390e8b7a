//! Starting a session: config and arguments → plan → manager → ready.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::runtime::Handle;
use windlass_stack_config::{Config, Context, find_config, load_file};
use windlass_stack_dev::client::{self, Start};
use windlass_stack_dev::emulators::emulators;
use windlass_stack_dev::{DevPlan, Envelope, LocalParams, LocalValues, Session};
use windlass_stack_diagnose::aws_problem;
use windlass_stack_lifecycle::script::{Moment, due};
use windlass_types::{Problem, code};

use super::DevHook;
use super::asked::Asked;
use super::lookups::LocalLookups;
use crate::fault;
use crate::outside::StackOutside;
use crate::place::check_project;
use crate::project::Questions;

/// The stage of a session that names none.
const STAGE: &str = "dev";
/// The region workloads are told where nobody names one; nothing is ever sent there.
const REGION: &str = "us-east-1";
/// How long a start may take.
const READY_TIME: Duration = Duration::from_secs(600);

pub(super) async fn start(outside: &Arc<StackOutside>, asked: &Asked) -> Result<Envelope, Problem> {
    let plan = {
        let (outside, asked, handle) = (Arc::clone(outside), asked.clone(), Handle::current());
        // Directives may run programs and ask AWS.
        tokio::task::spawn_blocking(move || make_plan(&outside, &asked, &handle))
            .await
            .map_err(|error| Problem::internal("dev plan", error))??
    };
    plan.check()?;
    let places = plan.places();
    let running = Session::read(&places.session).filter(Session::is_live);
    if let Some(session) = &running {
        refuse_other_wishes(session, asked)?;
    } else {
        for hook in hooks(
            outside,
            asked,
            &plan,
            Moment::BeforeDev,
            &LocalParams::new(),
        ) {
            (outside.dev.run_hook)(hook).await?;
        }
        plan.write(&places.plan())?;
    }
    let mut manager = (outside.dev.manager)(&places.plan());
    manager.current_dir(&plan.directory);
    if let Some(profile) = &asked.place.profile {
        manager.env("AWS_PROFILE", profile);
    }
    let mut envelope = client::start(Start {
        directory: &plan.directory,
        project_name: &plan.project_name,
        stage: &plan.stage,
        manager,
        wait: asked.wait,
        timeout: asked.timeout.unwrap_or(READY_TIME),
    })
    .await?;
    if running.is_none() && envelope.ok && asked.wait {
        after_start(outside, asked, &plan, &mut envelope).await;
    }
    Ok(envelope)
}

/// A running session is used as it is; what it cannot be any more is said.
fn refuse_other_wishes(session: &Session, asked: &Asked) -> Result<(), Problem> {
    let wish = match asked.agent_port {
        Some(port) if port != session.port => format!("its port is {}, not {port}", session.port),
        _ if asked.fresh_db => "its databases are in use and cannot be emptied".to_owned(),
        _ => return Ok(()),
    };
    Err(Problem::new(
        &code::INVALID_INPUT,
        format!(
            "the session {}-{} is running already: {wish}",
            session.project_name, session.stage
        ),
    )
    .with("reason", "session_running")
    .next("windlass stack dev stop"))
}

/// Runs the hooks of a session that is ready; their failures are reported beside its data.
async fn after_start(
    outside: &StackOutside,
    asked: &Asked,
    plan: &DevPlan,
    envelope: &mut Envelope,
) {
    let local = plan.places().read_params();
    let mut failures = Vec::new();
    for hook in hooks(outside, asked, plan, Moment::AfterDev, &local) {
        let script = hook.script.clone();
        if let Err(problem) = (outside.dev.run_hook)(hook).await {
            failures.push(json!({
                "hook": Moment::AfterDev.name(),
                "scriptName": script,
                "message": problem.message(),
                "details": problem.details(),
            }));
        }
    }
    if !failures.is_empty() {
        let message = envelope.message.get_or_insert_default();
        message.push_str(&format!("; {} hooks failed", failures.len()));
        if let Some(data) = &mut envelope.data {
            data["hookFailures"] = json!(failures);
        }
    }
}

/// The hooks of a moment, without those that skip where this runs.
fn hooks(
    outside: &StackOutside,
    asked: &Asked,
    plan: &DevPlan,
    moment: Moment,
    local: &LocalParams,
) -> Vec<DevHook> {
    let ci = outside.environment.get("CI");
    let is_ci = ci.is_some_and(|value| !value.is_empty() && value != "false");
    due(&plan.config, moment, is_ci)
        .into_iter()
        .map(|hook| DevHook {
            moment,
            script: hook.script_name.clone(),
            plan: plan.clone(),
            profile: asked.place.profile.clone(),
            local: local.clone(),
        })
        .collect()
}

/// Reads the config. Blocks.
fn make_plan(outside: &StackOutside, asked: &Asked, handle: &Handle) -> Result<DevPlan, Problem> {
    let file = find_config(&asked.place.directory, asked.place.config_path.as_deref())?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let directory = fs_err::canonicalize(folder)
        .map_err(|error| Problem::internal("config directory", error))?;
    let mut desk = Desk {
        outside,
        asked,
        handle,
        directory: &directory,
        file: &file,
        values: LocalValues::new(&directory, outside.environment.clone()),
        region: local_region(outside, asked),
    };
    // A session runs the project's own code, whatever its config is written in.
    outside.require_trust(&directory, "what a session runs")?;
    let (config, missing) = desk.read_config(false)?;
    let mut plan = desk.plan(config)?;
    if plan.uses_deployed() {
        desk.region = deployed_region(outside, asked, handle)?;
        plan = desk.plan(desk.read_config(true)?.0)?;
    } else if let Some(problem) = missing {
        return Err(problem);
    }
    Ok(plan)
}

/// What a plan is made with.
struct Desk<'a> {
    outside: &'a StackOutside,
    asked: &'a Asked,
    handle: &'a Handle,
    directory: &'a Path,
    file: &'a Path,
    values: LocalValues,
    region: String,
}

impl Desk<'_> {
    /// The config, and what was missing to read it without AWS.
    fn read_config(&self, asks_aws: bool) -> Result<(Config, Option<Problem>), Problem> {
        let place = &self.asked.place;
        // A config below the working directory may use all of it; one elsewhere its own directory.
        let root = match fs_err::canonicalize(&place.directory) {
            Ok(working) if self.directory.starts_with(&working) => working,
            _ => self.directory.to_owned(),
        };
        let mut target = place.target();
        target.region = Some(self.region.clone());
        let questions = Questions {
            outside: self.outside,
            target,
            root: &root,
            config_directory: self.directory,
            handle: self.handle.clone(),
        };
        let lookups = LocalLookups::new(&self.values, &questions, asks_aws);
        let context = Context {
            project_name: place.project_name.clone(),
            stage: Some(self.stage()),
            region: Some(self.region.clone()),
            profile: place.profile.clone(),
            arguments: self.asked.arguments.clone(),
            project_root: root.clone(),
            config_directory: self.directory.to_owned(),
            allowed: self.outside.allowed,
            lookups: &lookups,
        };
        let loaded = load_file(self.file, &context, &self.outside.interpreters, "dev")?;
        Ok((loaded.loaded.config, lookups.into_missing()))
    }

    fn stage(&self) -> String {
        let stage = self.asked.place.stage.as_deref();
        stage.unwrap_or(STAGE).to_owned()
    }

    fn plan(&self, config: Config) -> Result<DevPlan, Problem> {
        let asked = self.asked;
        let given = asked.place.project_name.clone();
        let project_name = match given.or_else(|| config.service_name.clone()) {
            Some(name) => name,
            None => project_of(self.directory),
        };
        check_project(&project_name)?;
        Ok(DevPlan {
            project_name,
            stage: self.stage(),
            region: self.region.clone(),
            directory: self.directory.to_owned(),
            config,
            resources: asked.resources.clone(),
            remote: asked.remote.clone(),
            agent_port: asked.agent_port,
            fresh_db: asked.fresh_db,
            emulators: emulators(&self.outside.environment),
        })
    }
}

/// The region workloads are told. Nothing but the call and the environment is asked.
fn local_region(outside: &StackOutside, asked: &Asked) -> String {
    let named = |name: &str| {
        let value = outside.environment.get(name).cloned();
        value.filter(|value| !value.is_empty())
    };
    let given = asked.place.region.clone();
    given
        .or_else(|| named("AWS_REGION"))
        .or_else(|| named("AWS_DEFAULT_REGION"))
        .unwrap_or_else(|| REGION.to_owned())
}

/// The region of the deployed stack.
fn deployed_region(
    outside: &StackOutside,
    asked: &Asked,
    handle: &Handle,
) -> Result<String, Problem> {
    if let Some(region) = &asked.place.region {
        return Ok(region.clone());
    }
    let found = handle.block_on(outside.cloud.region(&asked.place.target()));
    found
        .map_err(|failure| aws_problem(&failure))?
        .ok_or_else(|| {
            fault::missing("dev_start", "region")
                .next("or set AWS_REGION, or a region in the profile")
        })
}

/// A directory's name as a project's.
fn project_of(directory: &Path) -> String {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let mut project: String = name
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect();
    project.truncate(60);
    let project = project.trim_matches('-');
    if project.starts_with(|first: char| first.is_ascii_alphabetic()) {
        project.to_owned()
    } else {
        format!("app-{project}").trim_end_matches('-').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_names_its_project() {
        for (directory, expected) in [
            ("/code/shop", "shop"),
            ("/code/my_shop.v2", "my-shop-v2"),
            ("/tmp/.tmpAbC", "tmpAbC"),
            ("/code/2026", "app-2026"),
            ("/", "app"),
        ] {
            let project = project_of(Path::new(directory));
            assert_eq!(project, expected);
            assert!(check_project(&project).is_ok());
        }
    }
}
