//! Scripts that a config runs before and after a session starts.
//!
//! They see the session as its workloads do: local resources by their local parameters, secrets by
//! their local values. Only what is used as it is deployed is asked of AWS.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use windlass_ports::aws::{Cloud, Target};
use windlass_ports::{BoxFuture, Clock, Entropy, MessageSockets};
use windlass_secrets::Redactor;
use windlass_stack_compile::Facts;
use windlass_stack_config::model::script::Script;
use windlass_stack_config::{Config, Runtime, Scalar, Text};
use windlass_stack_dev::{
    ConfigEnvironment, DevPlan, LocalParams, LocalValues, connect_to_name, missing_value,
    variable_of,
};
use windlass_stack_lifecycle::Access;
use windlass_stack_lifecycle::script::{Interpreters, Moment, ScriptCall, run};
use windlass_types::{Problem, code};

use super::deployed::shown;

/// How long one hook may take.
const HOOK_TIME: Duration = Duration::from_secs(3600);

/// A hook of a session whose time has come.
#[derive(Clone, Debug)]
pub struct DevHook {
    /// Before or after the start.
    pub moment: Moment,
    /// The script's name in the config.
    pub script: String,
    /// The session: project, stage, region, folder and config.
    pub plan: DevPlan,
    /// The AWS profile of the call.
    pub profile: Option<String>,
    /// Parameters of resources as they run here, for the script's connectTo; none before the
    /// session runs.
    pub local: LocalParams,
}

/// Runs hooks.
pub type RunHook = Arc<dyn Fn(DevHook) -> BoxFuture<'static, Result<(), Problem>> + Send + Sync>;

/// What hooks are run with.
#[derive(Clone)]
pub struct HookParts {
    /// AWS; asked only for what a hook needs of the deployed stack.
    pub cloud: Arc<dyn Cloud>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Sockets for sessions on a bastion, where there are any.
    pub sockets: Option<Arc<dyn MessageSockets>>,
    /// Takes secrets out of what scripts say.
    pub redactor: Redactor,
    /// The variables scripts inherit.
    pub environment: BTreeMap<String, String>,
}

/// The hooks of sessions, as processes of this machine.
pub fn hook_runner(parts: HookParts) -> RunHook {
    Arc::new(move |hook| {
        let parts = parts.clone();
        Box::pin(async move { run_hook(&parts, hook).await })
    })
}

async fn run_hook(parts: &HookParts, hook: DevHook) -> Result<(), Problem> {
    let plan = &hook.plan;
    let (config, env) = localised(parts, &hook)?;
    let path = parts.environment.get("PATH").cloned().unwrap_or_default();
    let interpreters = Interpreters::find(path.as_ref());
    let facts = Facts::new(&plan.project_name, &plan.stage, &plan.region);
    let call = ScriptCall {
        config: &config,
        facts: &facts,
        script: &hook.script,
        directory: plan.directory.clone(),
        config_directory: plan.directory.clone(),
        env,
        assume_role_of_resource: None,
        inherited: parts.environment.clone(),
        interpreters: &interpreters,
        sockets: parts.sockets.clone(),
    };
    let access = Access {
        cloud: Arc::clone(&parts.cloud),
        clock: Arc::clone(&parts.clock),
        entropy: Arc::clone(&parts.entropy),
        target: Target {
            region: Some(plan.region.clone()),
            profile: hook.profile.clone(),
            role_arn: None,
        },
    };
    let deadline = parts.clock.now().after(HOOK_TIME);
    let ran = run(&call, &access, &parts.redactor, &|_, _: &str| {}, deadline).await;
    ran.map(drop)
        .map_err(|problem| problem.with("hook", hook.moment.name()))
}

/// The config with the script as the session sees it, and the variables of local resources.
fn localised(
    parts: &HookParts,
    hook: &DevHook,
) -> Result<(Config, Vec<(String, String)>), Problem> {
    let plan = &hook.plan;
    let mut config = plan.config.clone();
    let Some(Script::Local(script)) = config.scripts.get_mut(&hook.script) else {
        // Whoever runs it says what is wrong with it.
        return Ok((config, Vec::new()));
    };
    let mut env = Vec::new();
    for target in script.connect_to.iter().filter(|it| !plan.is_remote(it)) {
        for (param, value) in hook.local.get(target).into_iter().flatten() {
            env.push((connect_to_name(target, param), value.clone()));
        }
    }
    script.connect_to.retain(|target| plan.is_remote(target));
    if !plan.uses_deployed() {
        // The role is one of the deployed stack, which the session does without.
        script.assume_role_of_resource = None;
    }
    let values = LocalValues::new(&plan.directory, parts.environment.clone());
    let lookup = move |runtime: &Runtime| {
        let variable = variable_of(runtime).unwrap_or_default();
        let value = values.runtime(runtime)?;
        value.ok_or_else(|| missing_value(&shown(runtime), &variable))
    };
    let known = ConfigEnvironment::new(plan.config.clone(), Box::new(lookup));
    for variable in &mut script.environment {
        let text = variable.value.to_text();
        match known.text(&text, &hook.local) {
            Ok((value, secrets)) => {
                for secret in &secrets {
                    parts.redactor.register(secret);
                }
                let value = value.expose_secret().clone();
                variable.value = Scalar::Text(Text::Literal(value));
            }
            // The deployed stack has it.
            Err(problem) if plan.uses_deployed() && problem.code() == &code::INVALID_INPUT => {}
            Err(problem) => return Err(problem.with("script", hook.script.as_str())),
        }
    }
    Ok((config, env))
}
