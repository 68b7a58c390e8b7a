//! Scripts of the config, run for an operation: on demand, or as its hooks.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_stack_compile::Facts;
use windlass_stack_config::model::ResourceKind;
use windlass_stack_lifecycle::script::{
    Interpreters, Moment, ScriptCall, ScriptOutcome, due, read_pairs, run,
};
use windlass_types::{Problem, Timestamp};

use crate::desk::Desk;
use crate::dev::Localised;
use crate::package::texts;
use crate::place::Place;
use crate::project::Project;
use crate::telling::Teller;

/// How long one hook may take.
const HOOK_TIME: Duration = Duration::from_secs(3600);

/// What a script did.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ran {
    pub script: String,
    pub exit_code: i32,
    pub duration_ms: u64,
    pub output_tail: String,
}

/// Runs one script of a project: with the deployed stack, or with a session of local development
/// that it was made ready for.
pub(crate) async fn run_script(
    desk: &Desk,
    place: &Place,
    project: &Project,
    script: &str,
    local: Option<Localised>,
    deadline: Timestamp,
    teller: &Teller,
) -> Result<Ran, Problem> {
    require_script(desk, project, script)?;
    let written = project.arguments.get("env").map(texts).unwrap_or_default();
    let assume = project.arguments.get("assumeRoleOfResource");
    let (config, mut env) = match local {
        Some(local) => (Cow::Owned(local.config), local.env),
        None => (Cow::Borrowed(&project.config), Vec::new()),
    };
    // Variables of the call win.
    env.extend(read_pairs(&written)?);
    let facts = facts(project);
    let access = desk.access(place.target());
    let path = desk
        .outside
        .environment
        .get("PATH")
        .cloned()
        .unwrap_or_default();
    let interpreters = Interpreters::find(path.as_ref());
    let call = ScriptCall {
        config: &config,
        facts: &facts,
        script,
        directory: place.directory.clone(),
        config_directory: project.config_directory.clone(),
        env,
        assume_role_of_resource: assume.and_then(Value::as_str).map(str::to_owned),
        inherited: desk.outside.environment.clone(),
        interpreters: &interpreters,
        sockets: desk.outside.sockets.clone(),
    };
    let outcome = run(
        &call,
        &access,
        &desk.engine.redactor,
        &|level, line: &str| teller.say(script, level, line),
        deadline,
    )
    .await;
    desk.outside.trust.ran(&project.config_directory);
    let ScriptOutcome {
        exit_code,
        duration_ms,
        output_tail,
    } = outcome?;
    Ok(Ran {
        script: script.to_owned(),
        exit_code,
        duration_ms,
        output_tail,
    })
}

fn require_script(desk: &Desk, project: &Project, script: &str) -> Result<(), Problem> {
    let what = format!("the script {script}");
    desk.outside.require_trust(&project.config_directory, &what)
}

/// Refuses the build of a website in a project that is not trusted.
pub(crate) fn require_build(desk: &Desk, project: &Project, site: &str) -> Result<(), Problem> {
    let what = format!("the build of \"{site}\"");
    desk.outside.require_trust(&project.config_directory, &what)
}

/// Refuses a deploy that would run scripts or builds of a project that is not trusted, before
/// anything is changed.
pub(crate) fn require_trust(desk: &Desk, project: &Project) -> Result<(), Problem> {
    for moment in [
        Moment::BeforeDeploy,
        Moment::AfterDeploy,
        Moment::BeforeBucketSync,
        Moment::AfterBucketSync,
    ] {
        if let Some(hook) = due(&project.config, moment, is_ci(desk)).first() {
            require_script(desk, project, &hook.script_name)?;
        }
    }
    let built = project.config.resources.iter().find(|(_, resource)| {
        matches!(&resource.kind, ResourceKind::HostingBucket(site) if site.build.is_some())
    });
    match built {
        Some((name, _)) => require_build(desk, project, name),
        None => Ok(()),
    }
}

fn is_ci(desk: &Desk) -> bool {
    let ci = desk.outside.environment.get("CI");
    ci.is_some_and(|value| !value.is_empty() && value != "false")
}

/// What is known of a project's stack without asking anybody.
pub(crate) fn facts(project: &Project) -> Facts {
    Facts::new(&project.name, &project.stage, &project.region)
}

/// What the hooks of a moment did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HooksRan {
    /// Hooks that failed where a failure does not stop the operation.
    pub failures: Vec<Value>,
}

/// Runs the hooks of a moment. One that fails before an operation stops it.
pub(crate) async fn run_hooks(
    desk: &Desk,
    place: &Place,
    project: &Project,
    moment: Moment,
    teller: &Teller,
) -> Result<HooksRan, Problem> {
    let mut ran = HooksRan::default();
    for hook in due(&project.config, moment, is_ci(desk)) {
        let deadline = desk.engine.now().after(HOOK_TIME);
        match run_script(
            desk,
            place,
            project,
            &hook.script_name,
            None,
            deadline,
            teller,
        )
        .await
        {
            Ok(_) => {}
            Err(problem) if moment.stops() => {
                return Err(problem.with("hook", moment.name()));
            }
            Err(problem) => ran.failures.push(json!({
                "hook": moment.name(),
                "scriptName": hook.script_name,
                "message": problem.message(),
                "details": problem.details(),
            })),
        }
    }
    Ok(ran)
}
