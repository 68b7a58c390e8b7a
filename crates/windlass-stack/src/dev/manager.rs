//! The manager's process: a plan file and adapters in, a session until it is stopped.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tokio::runtime::Handle;
use windlass_ports::aws::{ActionShape, Cloud, SignedCall, Target, services};
use windlass_ports::database::DatabasePort;
use windlass_ports::{BoxFuture, Bundler, Clock, Entropy};
use windlass_secrets::Redactor;
use windlass_stack_config::Runtime;
use windlass_stack_dev::{
    CloudCalls, ConfigEnvironment, DevManager, DevPlan, Emulated, LocalParams, LocalValues,
    Outside, Programs, Variable, WorkloadEnvironment, emulators, engine_environment, missing_value,
    variable_of,
};
use windlass_stack_diagnose::{aws_problem, refused};
use windlass_stack_lifecycle::Access;
use windlass_types::{Problem, Secret};

use super::deployed::{Deployed, DeployedParams, shown};
use super::emulated::AtEmulators;

/// Makes a way to AWS out of the variables that name its endpoints.
pub type EmulatedCloud = Box<dyn FnOnce(BTreeMap<String, String>) -> Arc<dyn Cloud> + Send>;

/// The adapters of a manager.
pub struct DevManagerParts {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Databases.
    pub databases: Arc<dyn DatabasePort>,
    /// AWS; asked only where the plan uses deployed resources.
    pub cloud: Arc<dyn Cloud>,
    /// AWS with these variables and no others, for emulators.
    pub emulated: EmulatedCloud,
    /// Where esbuild comes from.
    pub bundler: Arc<dyn Bundler>,
    /// Takes secrets out of everything that is shown.
    pub redactor: Redactor,
    /// The environment of the process.
    pub environment: BTreeMap<String, String>,
}

/// What every workload inherits.
const INHERITED: [&str; 10] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "NODE_OPTIONS",
];

/// Runs a session until it is stopped by its HTTP API or by a signal. Needs a runtime with several
/// threads.
pub async fn run_dev_manager(plan: &Path, parts: DevManagerParts) -> Result<(), Problem> {
    let plan = DevPlan::take(plan)?;
    let outcome = manage(plan.clone(), parts).await;
    outcome.inspect_err(|problem| plan.leave_failure(problem))
}

async fn manage(plan: DevPlan, parts: DevManagerParts) -> Result<(), Problem> {
    // The profile is the environment's: the manager was started with it.
    let target = Target::in_region(&plan.region);
    let (deployed, params) = if plan.uses_deployed() {
        let access = Access {
            cloud: Arc::clone(&parts.cloud),
            clock: Arc::clone(&parts.clock),
            entropy: Arc::clone(&parts.entropy),
            target: target.clone(),
        };
        let opened = Deployed::open(access, parts.redactor, &plan).await?;
        let params = opened.params(&plan).await?;
        (Some(Arc::new(opened)), params)
    } else {
        (None, DeployedParams::default())
    };
    let path = parts.environment.get("PATH").cloned().unwrap_or_default();
    // Whose credentials count where a session uses both is decided by what is deployed.
    let cloud = match (&deployed, plan.emulators.is_empty()) {
        (Some(_), _) => Some(parts.cloud),
        (None, true) => None,
        (None, false) => {
            let variables = emulators::variables(&plan.emulators, true).into_iter();
            let variables = variables.map(|(name, value)| (name, value.expose_secret().clone()));
            Some((parts.emulated)(variables.collect()))
        }
    };
    let emulated = cloud.clone().filter(|_| !plan.emulators.is_empty());
    let outside = Outside {
        clock: parts.clock,
        entropy: parts.entropy,
        databases: parts.databases,
        environment: environment(&plan, &parts.environment, deployed.clone(), params),
        aws: cloud.map(|cloud| {
            let target = target.clone();
            Arc::new(Calls { cloud, target }) as Arc<dyn CloudCalls>
        }),
        emulated: emulated
            .map(|cloud| Arc::new(AtEmulators { cloud, target }) as Arc<dyn Emulated>),
        programs: Programs::find(&OsString::from(path)),
        bundler: Some(parts.bundler),
        inherited: inherited(&parts.environment, deployed.is_some()),
        engine: engine_environment(&parts.environment),
    };
    DevManager::run(plan, outside).await
}

/// What workloads inherit; credentials only where they use what is deployed.
fn inherited(
    environment: &BTreeMap<String, String>,
    uses_deployed: bool,
) -> BTreeMap<String, String> {
    let given = environment.iter().filter(|(name, _)| {
        INHERITED.contains(&name.as_str()) || (uses_deployed && name.starts_with("AWS_"))
    });
    given
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The variables of workloads: local values first, then those of the deployed stack, if the
/// session uses it.
fn environment(
    plan: &DevPlan,
    variables: &BTreeMap<String, String>,
    deployed: Option<Arc<Deployed>>,
    params: DeployedParams,
) -> Arc<dyn WorkloadEnvironment> {
    let values = LocalValues::new(&plan.directory, variables.clone());
    let handle = Handle::current();
    let lookup = move |runtime: &Runtime| {
        if let Some(value) = values.runtime(runtime)? {
            return Ok(value);
        }
        match &deployed {
            Some(deployed) => {
                tokio::task::block_in_place(|| handle.block_on(deployed.value(runtime)))
            }
            None => {
                let variable = variable_of(runtime).unwrap_or_default();
                Err(missing_value(&shown(runtime), &variable))
            }
        }
    };
    Arc::new(SessionEnvironment {
        config: ConfigEnvironment::new(plan.config.clone(), Box::new(lookup)),
        deployed: params,
    })
}

/// The config's variables, with parameters of deployed resources beside those of local ones.
struct SessionEnvironment {
    config: ConfigEnvironment,
    deployed: DeployedParams,
}

impl WorkloadEnvironment for SessionEnvironment {
    fn variables(&self, workload: &str, local: &LocalParams) -> Result<Vec<Variable>, Problem> {
        let mut params = self.deployed.params.clone();
        params.extend(local.clone());
        let mut variables = self.config.variables(workload, &params)?;
        for variable in &mut variables {
            let value = variable.value.expose_secret();
            let secrets = self.deployed.secrets.iter();
            let within = secrets.filter(|secret| value.contains(secret.as_str()));
            variable.secrets.extend(within.cloned().map(Secret::new));
        }
        Ok(variables)
    }
}

/// AWS, or the emulator the environment names, for the paths of the HTTP API.
struct Calls {
    cloud: Arc<dyn Cloud>,
    target: Target,
}

impl CloudCalls for Calls {
    fn call<'a>(
        &'a self,
        service: &'a str,
        command: &'a str,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, Problem>> {
        Box::pin(async move {
            let shape = match (service, command) {
                // Only ever asked for on tables of an emulator.
                ("dynamodb", "PutItem") => ActionShape::new(&services::DYNAMODB, "PutItem"),
                ("dynamodb", "DeleteItem") => ActionShape::new(&services::DYNAMODB, "DeleteItem"),
                _ => windlass_stack_diagnose::guard::aws::allow(service, command)
                    .map(|allowed| allowed.shape)
                    .map_err(|refusal| refused(&refusal))?,
            };
            let answered = self.cloud.call(&self.target, SignedCall::new(shape, input));
            answered.await.map_err(|failure| aws_problem(&failure))
        })
    }
}
