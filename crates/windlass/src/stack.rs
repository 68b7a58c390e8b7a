//! What stacks are given: AWS, databases, sockets, programs, and the secrets nobody may see.

use std::{ffi::OsString, path::PathBuf, sync::Arc};

use windlass_aws::Aws;
use windlass_cli::OpenOptions;
use windlass_config::{Environment, env};
use windlass_database::Databases;
use windlass_engine::Domain;
use windlass_git::GitProgram;
use windlass_net::{OutboundPolicy, WebSockets};
use windlass_ports::{Entropy, aws::Cloud};
use windlass_stack::StackOutside;
use windlass_stack_config::Interpreters;
use windlass_stack_package::Tools;
use windlass_system::{OsEntropy, SystemClock};
use windlass_types::Problem;

use crate::stack_dev;

/// Variables whose values are credentials of AWS.
const CREDENTIALS: [&str; 2] = ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

/// The stack domain of this process. Nothing is asked of AWS here.
pub(crate) fn domain(
    options: &OpenOptions,
    entropy: &Arc<OsEntropy>,
) -> Result<Box<dyn Domain>, Problem> {
    let settings = &options.settings.stack;
    let environment = &options.environment;
    for name in CREDENTIALS {
        if let Some(secret) = environment.secret_named(name) {
            options.redactor.register(&secret);
        }
    }
    let clock = Arc::new(SystemClock);
    let aws = Aws::new(environment, clock, Arc::clone(entropy) as Arc<dyn Entropy>)
        .map_err(|failure| Problem::internal("AWS", failure))?;
    let cloud: Arc<dyn Cloud> = Arc::new(aws);
    let path = environment
        .path(&env::PATH)
        .map(PathBuf::into_os_string)
        .unwrap_or_default();
    Ok(windlass_stack::domain(StackOutside {
        dev: stack_dev::outside(options, &cloud, entropy),
        cloud,
        databases: Arc::new(Databases),
        // Data channels are at addresses of AWS; an emulator's may be on this machine.
        sockets: Some(Arc::new(WebSockets::new(OutboundPolicy {
            allow_private: true,
            allow_http: false,
            allowed_hosts: None,
        }))),
        git: Arc::new(GitProgram::new(environment.all())),
        tools: Tools::find(&path).with_environment(building(environment)),
        interpreters: Interpreters::find(&path),
        environment: stack_dev::text_variables(environment),
        cache: options.home.stack_cache_dir(),
        role_arn: settings.diagnose_role_arn.clone(),
        database_roots: settings.database_roots.clone(),
        read_only: settings.read_only,
    }))
}

/// What programs that build see: everything but credentials of AWS.
fn building(environment: &Environment) -> impl Iterator<Item = (OsString, OsString)> {
    environment
        .all()
        .filter(|(name, _)| !name.to_string_lossy().starts_with("AWS_"))
}
