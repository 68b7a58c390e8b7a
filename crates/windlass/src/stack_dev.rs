//! Local development in this binary: how a manager is started, and the manager itself.

use std::{collections::BTreeMap, path::Path, process::Command, sync::Arc};

use windlass_aws::Aws;
use windlass_cli::OpenOptions;
use windlass_config::Environment;
use windlass_database::Databases;
use windlass_ports::{Entropy, MessageSockets, aws::Cloud};
use windlass_secrets::Redactor;
use windlass_stack::{DevManagerParts, DevOutside, HookParts, hook_runner, run_dev_manager};
use windlass_system::{OsEntropy, SystemClock};
use windlass_types::Problem;

use crate::stack::bundler;

/// What local development needs in addition to what stacks need.
pub(crate) fn outside(
    options: &OpenOptions,
    cloud: &Arc<dyn Cloud>,
    sockets: &Arc<dyn MessageSockets>,
    entropy: &Arc<OsEntropy>,
) -> DevOutside {
    DevOutside {
        manager: Arc::new(manager_command(options)),
        run_hook: hook_runner(HookParts {
            cloud: Arc::clone(cloud),
            clock: Arc::new(SystemClock),
            entropy: Arc::clone(entropy) as Arc<dyn Entropy>,
            sockets: Some(Arc::clone(sockets)),
            redactor: Redactor::clone(&options.redactor),
            environment: text_variables(&options.environment),
        }),
    }
}

/// The command that holds a session: this binary again, with the environment it was started with.
fn manager_command(options: &OpenOptions) -> impl Fn(&Path) -> Command + use<> {
    // A binary that was replaced since is still the one that is running.
    let program = std::env::current_exe().unwrap_or_else(|_| "windlass".into());
    let home = options.home.root().to_owned();
    let environment: Vec<_> = options.environment.all().collect();
    move |plan| {
        let mut command = windlass_process::command(&program);
        command
            .args(["--home".as_ref(), home.as_os_str()])
            .args(["internal", "dev-manager"])
            .arg(plan)
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Holds the session of a plan file until it is stopped.
pub(crate) async fn run_manager(options: &OpenOptions, plan: &Path) -> Result<(), Problem> {
    let (clock, entropy) = (Arc::new(SystemClock), Arc::new(OsEntropy));
    let cloud = Aws::new(&options.environment, clock.clone(), entropy.clone());
    let parts = DevManagerParts {
        clock,
        entropy,
        databases: Arc::new(Databases),
        cloud: Arc::new(cloud),
        emulated: Box::new(move |variables| {
            let variables = variables.iter();
            let variables = variables.map(|(name, value)| (name.as_str(), value.as_str()));
            let alone = [
                ("HOME", "/nonexistent"),
                ("AWS_EC2_METADATA_DISABLED", "true"),
            ];
            let environment = Environment::from_pairs(variables.chain(alone));
            Arc::new(Aws::new(
                &environment,
                Arc::new(SystemClock),
                Arc::new(OsEntropy),
            ))
        }),
        bundler: bundler(options),
        redactor: Redactor::clone(&options.redactor),
        environment: text_variables(&options.environment),
    };
    run_dev_manager(plan, parts).await
}

/// Variables that are text; others mean nothing to a config.
pub(crate) fn text_variables(environment: &Environment) -> BTreeMap<String, String> {
    environment
        .all()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
