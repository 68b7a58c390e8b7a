//! Functions of a plan: their addresses first, then they themselves.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::function::Function;
use windlass_stack_config::model::packaging::FunctionPackaging;
use windlass_types::Problem;

use super::{Bench, Bound, HttpApi, Way, announce, every_path};
use crate::code::{Language, Workshop};
use crate::environment::LocalParams;
use crate::function::{FunctionSpec, LocalFunction};
use crate::log::{Level, Log};
use crate::outside::Outside;
use crate::stack::Stack;
use crate::status::{Condition, Role};

/// Functions that will run, and the listeners of those with an address of their own.
pub(crate) struct Reserved {
    functions: BTreeMap<String, (Function, Option<String>)>,
    pub listeners: Bound,
}

pub(crate) fn reserve(bench: &mut Bench, names: &[String]) -> Result<Reserved, Problem> {
    let mut reserved = Reserved {
        functions: BTreeMap::new(),
        listeners: Vec::new(),
    };
    for name in names {
        let ResourceKind::Function(function) = bench.plan.config.resources[name].kind.clone()
        else {
            continue;
        };
        if bench.board.get(name).is_some() {
            continue;
        }
        let mut address = None;
        if let Some(url) = function.url.as_ref().filter(|url| url.enabled) {
            let (listener, port) = bench.listener(name, None)?;
            address = Some(announce(bench, name, port));
            let api = HttpApi {
                name: name.clone(),
                routes: vec![every_path(name)],
                cors: url.cors.clone(),
            };
            reserved.listeners.push((listener, Way::Api(api)));
        }
        bench.put(name, "arn", arn(bench, name));
        bench
            .board
            .add(name, Role::Workload, "function", Condition::Starting);
        reserved
            .functions
            .insert(name.clone(), (*function, address));
    }
    Ok(reserved)
}

fn full_name(bench: &Bench, name: &str) -> String {
    format!("{}-{}-{name}", bench.plan.project_name, bench.plan.stage)
}

fn arn(bench: &Bench, name: &str) -> String {
    format!(
        "arn:aws:lambda:{}:000000000000:function:{}",
        bench.plan.region,
        full_name(bench, name)
    )
}

/// A function by its packaging.
struct Recipe {
    name: String,
    function: Function,
    outside: Outside,
    log: Arc<Log>,
    directory: PathBuf,
    build: PathBuf,
}

impl Recipe {
    fn prepare(&self) -> Result<crate::code::Prepared, Problem> {
        let progress = |line: &str| self.log.write(&self.name, Level::Info, line);
        let workshop = Workshop {
            programs: &self.outside.programs,
            bundler: self.outside.bundler.as_deref(),
            progress: &progress,
            directory: &self.directory,
            build: &self.build,
        };
        let runtime = self.function.runtime;
        match &self.function.packaging {
            FunctionPackaging::Buildpack(pack) => workshop.function(
                &self.name,
                &pack.entryfile_path,
                pack.handler_function.as_deref(),
                runtime,
            ),
            FunctionPackaging::CustomArtifact(artifact) => workshop.artifact(
                &self.name,
                &artifact.package_path,
                artifact.handler.as_deref(),
                runtime,
            ),
        }
    }
}

pub(crate) fn make(
    bench: &mut Bench,
    reserved: &mut Reserved,
    params: &Arc<LocalParams>,
) -> BTreeMap<String, (Arc<LocalFunction>, Option<Language>)> {
    let mut made = BTreeMap::new();
    for (name, (function, address)) in std::mem::take(&mut reserved.functions) {
        let entry = match &function.packaging {
            FunctionPackaging::Buildpack(pack) => pack.entryfile_path.clone(),
            FunctionPackaging::CustomArtifact(_) => "bootstrap".to_owned(),
        };
        let language = Language::of(function.runtime, &entry).ok();
        let (outside, log, plan) = (
            bench.outside.clone(),
            bench.host.log.clone(),
            bench.plan.clone(),
        );
        let (workload, known) = (name.clone(), params.clone());
        let (memory, timeout) = (
            function.memory.unwrap_or(1024),
            Duration::from_secs(function.timeout.into()),
        );
        let recipe = Recipe {
            name: name.clone(),
            function,
            outside: bench.outside.clone(),
            log: bench.host.log.clone(),
            directory: bench.plan.directory.clone(),
            build: bench.plan.places().build(),
        };
        let spec = FunctionSpec {
            name: name.clone(),
            full_name: full_name(bench, &name),
            arn: arn(bench, &name),
            memory,
            timeout,
            region: bench.plan.region.clone(),
            project: bench.plan.directory.clone(),
            prepare: Box::new(move || recipe.prepare()),
            variables: Box::new(move || Stack::variables(&outside, &log, &plan, &known, &workload)),
            address,
        };
        let local = LocalFunction::new(
            spec,
            bench.host.clone(),
            bench.board.clone(),
            bench.outside.clock.clone(),
        );
        made.insert(name, (local, language));
    }
    made
}
