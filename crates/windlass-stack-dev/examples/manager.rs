//! The manager by itself: `manager PLAN.json` runs a session until it is stopped.
//!
//! What the `windlass` binary does for `stack dev`, without the rest of it; the crate's tests
//! start it as a process of its own, because they kill it.

use std::path::PathBuf;
use std::sync::Arc;

use windlass_ports::{Bundler, BundlerUnavailable, DecoratorTools};
use windlass_stack_config::Runtime;
use windlass_stack_dev::{
    ConfigEnvironment, DevManager, DevPlan, Outside, Programs, engine_environment,
};
use windlass_types::Problem;

/// A bundler that is there already.
#[derive(Debug)]
struct Fixed(PathBuf);

impl Bundler for Fixed {
    fn esbuild(&self, _: &dyn Fn(&str)) -> Result<PathBuf, BundlerUnavailable> {
        Ok(self.0.clone())
    }

    fn decorators(&self, _: &dyn Fn(&str)) -> Result<DecoratorTools, BundlerUnavailable> {
        Err(BundlerUnavailable {
            cause: "only esbuild is here".to_owned(),
            next: Vec::new(),
            is_forbidden: true,
        })
    }

    fn identity(&self) -> String {
        self.0.display().to_string()
    }
}

#[tokio::main]
async fn main() -> Result<(), Problem> {
    let file: PathBuf = std::env::args_os()
        .nth(1)
        .ok_or_else(|| Problem::invalid("plan", "a file", "usage: manager PLAN.json"))?
        .into();
    let plan = DevPlan::read(&file)?;
    let inherited = std::env::vars()
        .filter(|(name, _)| ["PATH", "HOME", "LANG", "TMPDIR"].contains(&name.as_str()));
    let mut programs = Programs::find(&std::env::var_os("PATH").unwrap_or_default());
    if let Some(node) = std::env::var_os("WINDLASS_TEST_NODE") {
        programs.node = Some(node.into());
    }
    if let Some(folder) = std::env::var_os("WINDLASS_TEST_POSTGRES") {
        programs.postgres = Some(folder.into());
    }
    if let Some(folder) = std::env::var_os("WINDLASS_TEST_REDIS") {
        programs.redis = Some(PathBuf::from(folder).join("redis-server"));
    }
    if let Some(folder) = std::env::var_os("WINDLASS_TEST_PODMAN") {
        programs.container = Some(PathBuf::from(folder).join("podman"));
    }
    let lookup = |runtime: &Runtime| {
        Err(Problem::invalid(
            "environment",
            "local",
            format!("${} has no local value", runtime.directive()),
        ))
    };
    let outside = Outside {
        clock: Arc::new(windlass_system::SystemClock),
        entropy: Arc::new(windlass_system::OsEntropy),
        databases: Arc::new(windlass_database::Databases),
        environment: Arc::new(ConfigEnvironment::new(
            plan.config.clone(),
            Box::new(lookup),
        )),
        aws: None,
        emulated: None,
        programs,
        bundler: std::env::var_os("WINDLASS_TEST_ESBUILD")
            .map(|program| Arc::new(Fixed(program.into())) as Arc<dyn Bundler>),
        inherited: inherited.collect(),
        engine: engine_environment(&std::env::vars().collect()),
    };
    DevManager::run(plan, outside).await
}
