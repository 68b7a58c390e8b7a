//! What stacks are given: AWS, databases, sockets, programs, and the secrets nobody may see.

use std::{ffi::OsString, net::IpAddr, path::PathBuf, sync::Arc};

use windlass_aws::Aws;
use windlass_bundler::{BundlerOptions, PinnedBundler, Release};
use windlass_cli::OpenOptions;
use windlass_config::{Environment, env};
use windlass_database::Databases;
use windlass_docs::DocsContract;
use windlass_engine::Domain;
use windlass_git::GitProgram;
use windlass_net::{HttpOutbound, OutboundPolicy, WebSockets};
use windlass_ports::{
    Bundler, Entropy, MessageSockets, Trust, aws::Cloud, database::AllowedFunction,
};
use windlass_stack::{Found, SecretValues, StackContract, StackOutside};
use windlass_stack_config::{Allowed, Interpreters};
use windlass_stack_lifecycle::package::Tools;
use windlass_system::{OsEntropy, SystemClock};

use crate::stack_dev;

/// Variables whose values are credentials of AWS.
const CREDENTIALS: [&str; 2] = ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

/// Variables that say where the services are that open sessions.
const SESSION_ENDPOINTS: [&str; 3] = [
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_SSM",
    "AWS_ENDPOINT_URL_ECS",
];

/// The documentation tool is one of contract 000.
pub(crate) static DOCS_CONTRACT: DocsContract<StackContract> = DocsContract(StackContract);

/// The stack domain of this process. Nothing is asked of AWS here.
pub(crate) fn domain(
    options: &OpenOptions,
    entropy: &Arc<OsEntropy>,
    trust: &Arc<dyn Trust>,
) -> Box<dyn Domain> {
    let settings = &options.settings.stack;
    let environment = &options.environment;
    for name in CREDENTIALS {
        if let Some(secret) = environment.secret_named(name) {
            options.redactor.register(&secret);
        }
    }
    let clock = Arc::new(SystemClock);
    let aws = Aws::new(environment, clock, Arc::clone(entropy) as Arc<dyn Entropy>);
    let cloud: Arc<dyn Cloud> = Arc::new(aws);
    let path = environment
        .path(&env::PATH)
        .map(PathBuf::into_os_string)
        .unwrap_or_default();
    // Data channels are at addresses of AWS; an emulator's may be on this machine, without TLS.
    let sockets = WebSockets::new(OutboundPolicy {
        allow_private: true,
        allow_http: false,
        allowed_hosts: None,
    });
    let sockets: Arc<dyn MessageSockets> =
        Arc::new(sockets.with_plain_loopback(has_local_endpoint(environment)));
    let bundler = bundler(options);
    windlass_stack::domain(StackOutside {
        dev: stack_dev::outside(options, &cloud, &sockets, entropy),
        cloud,
        databases: Arc::new(Databases),
        sockets: Some(sockets),
        git: Arc::new(GitProgram::new(environment.all()).with_trust(Arc::clone(trust))),
        trust: Arc::clone(trust),
        tools: tools(path.clone(), building(environment), Arc::clone(&bundler)),
        interpreters: interpreters(path, building(environment), bundler),
        allowed: Allowed {
            files_outside_project: settings.files_outside_project,
            code: !settings.refuse_config_code,
        },
        environment: stack_dev::text_variables(environment),
        cache: options.home.stack_cache_dir(),
        role_arn: settings.diagnose_role_arn.clone(),
        database_roots: settings.database_roots.clone(),
        // An entry that names no function is refused with the settings.
        allowed_functions: settings
            .allowed_functions
            .iter()
            .filter_map(|entry| AllowedFunction::parse(entry))
            .collect(),
        extra_regions: settings.extra_regions.clone(),
        allowed_redis_commands: settings.allowed_redis_commands.clone(),
        read_only: settings.read_only,
        values: SecretValues::default(),
    })
}

/// Whether the services that open sessions are, by the environment, on this machine.
fn has_local_endpoint(environment: &Environment) -> bool {
    environment.all().any(|(name, value)| {
        let value = value.to_string_lossy();
        SESSION_ENDPOINTS.contains(&name.to_string_lossy().as_ref()) && is_local(&value)
    })
}

/// Whether an address is one of this machine, over plain http.
fn is_local(address: &str) -> bool {
    let Some(rest) = address.strip_prefix("http://") else {
        return false;
    };
    let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = place.rsplit_once(':').map_or(place, |(host, _)| host);
    let number = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || number.is_ok_and(|number| number.is_loopback())
}

/// Where esbuild comes from. Nothing is fetched here.
pub(crate) fn bundler(options: &OpenOptions) -> Arc<dyn Bundler> {
    let settings = &options.settings.stack;
    Arc::new(PinnedBundler::new(BundlerOptions {
        release: Release::of_this_machine(),
        cache: options.home.stack_tools_dir(),
        outbound: Arc::new(HttpOutbound::new(OutboundPolicy {
            allow_private: settings.allow_private_registry,
            allow_http: settings.allow_private_registry,
            allowed_hosts: None,
        })),
        environment: options.environment.clone(),
        esbuild: settings.esbuild.clone(),
        refuse_downloads: settings.refuse_downloads,
        runtime: tokio::runtime::Handle::current(),
    }))
}

fn tools(
    path: OsString,
    variables: Vec<(OsString, OsString)>,
    bundler: Arc<dyn Bundler>,
) -> Found<Tools> {
    Found::new(Box::new(move || {
        Tools::find(&path)
            .with_environment(variables)
            .with_bundler(bundler)
    }))
}

fn interpreters(
    path: OsString,
    variables: Vec<(OsString, OsString)>,
    bundler: Arc<dyn Bundler>,
) -> Found<Interpreters> {
    Found::new(Box::new(move || {
        Interpreters::find(&path, variables).with_bundler(bundler)
    }))
}

/// What programs that build see: everything but credentials of AWS.
fn building(environment: &Environment) -> Vec<(OsString, OsString)> {
    environment
        .all()
        .filter(|(name, _)| !name.to_string_lossy().starts_with("AWS_"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_are_local() {
        for (address, expected) in [
            ("http://127.0.0.1:4566", true),
            ("http://localhost:4566/", true),
            ("http://[::1]:4566", true),
            ("http://127.0.0.1", true),
            ("https://127.0.0.1:4566", false),
            ("http://127.0.0.1.example.org", false),
            ("http://10.0.0.1:4566", false),
            ("http://user@example.org/127.0.0.1", false),
            ("", false),
        ] {
            assert_eq!(is_local(address), expected, "{address}");
        }
    }
}
