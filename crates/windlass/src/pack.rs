//! What pack is given: directories, names and switches from the environment, and git.

use std::{path::PathBuf, sync::Arc};

use windlass_cli::OpenOptions;
use windlass_config::{Environment, env};
use windlass_engine::Domain;
use windlass_git::GitProgram;
use windlass_pack::PackEnvironment;
use windlass_ports::Trust;

/// The pack domain of this process.
pub(crate) fn domain(options: &OpenOptions, trust: &Arc<dyn Trust>) -> Box<dyn Domain> {
    let environment = &options.environment;
    let git = GitProgram::new(environment.all()).with_trust(Arc::clone(trust));
    let git = Arc::new(git);
    windlass_pack::domain(pack_environment(options), git)
}

fn pack_environment(options: &OpenOptions) -> PackEnvironment {
    let environment = &options.environment;
    let home_dir = environment
        .path(&env::HOME)
        .unwrap_or_else(|| PathBuf::from("/"));
    let absolute = |path: PathBuf| {
        let path = match path.strip_prefix("~") {
            Ok(below) => home_dir.join(below),
            Err(_) => path,
        };
        std::path::absolute(&path).unwrap_or(path)
    };
    PackEnvironment {
        pack_home: environment
            .path(&env::AGENTPACK_HOME)
            .map_or_else(|| home_dir.join(".agentpack"), absolute),
        codex_home: environment.path(&env::CODEX_HOME).map(absolute),
        machine_candidates: machine_candidates(environment),
        fsync: environment
            .get(&env::AGENTPACK_FSYNC)
            .is_some_and(is_switched_on),
        link_destinations: environment
            .get(&env::AGENTPACK_LINK_DESTINATIONS)
            .unwrap_or_default()
            .split(':')
            .filter(|path| !path.is_empty())
            .map(|path| absolute(PathBuf::from(path)))
            .collect(),
        stat_cache: options.home.pack_cache(),
        program: options.program.clone(),
        home_dir,
    }
}

fn is_switched_on(value: &str) -> bool {
    ["1", "true", "yes", "y", "on"]
        .iter()
        .any(|word| value.trim().eq_ignore_ascii_case(word))
}

fn machine_candidates(environment: &Environment) -> Vec<String> {
    let named = [
        &env::AGENTPACK_MACHINE_ID,
        &env::HOSTNAME,
        &env::COMPUTERNAME,
    ]
    .into_iter()
    .filter_map(|variable| environment.get(variable).map(str::to_owned));
    let host = rustix::system::uname();
    named
        .chain(std::iter::once(
            host.nodename().to_string_lossy().into_owned(),
        ))
        .collect()
}
