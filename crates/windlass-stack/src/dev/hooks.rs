//! Scripts that a config runs before and after a session starts. What they see of it is in
//! scripts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use windlass_ports::aws::{Cloud, Target};
use windlass_ports::{BoxFuture, Clock, Entropy, MessageSockets};
use windlass_secrets::Redactor;
use windlass_stack_compile::Facts;
use windlass_stack_dev::{DevPlan, LocalParams};
use windlass_stack_lifecycle::Access;
use windlass_stack_lifecycle::script::{Interpreters, Moment, ScriptCall, run};
use windlass_types::Problem;

use super::scripts::{Localised, View};

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
    let view = View {
        config: &plan.config,
        directory: &plan.directory,
        is_remote: &|name| plan.is_remote(name),
        uses_deployed: plan.uses_deployed(),
        local: &hook.local,
        emulators: &plan.emulators,
    };
    let Localised { config, env, .. } =
        view.localised(&hook.script, &parts.environment, &parts.redactor)?;
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
