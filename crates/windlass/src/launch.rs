//! What site launches are given: folders, programs, services, and the secrets they may send.

use std::{path::PathBuf, sync::Arc};

use windlass_cli::OpenOptions;
use windlass_commit::Services;
use windlass_config::{Environment, LaunchProfile, LaunchSettings, env};
use windlass_engine::Domain;
use windlass_git::GitProgram;
use windlass_launch::{LaunchOutside, TokenError, Tokens};
use windlass_launch_model::Profile;
use windlass_llm::ModelClient;
use windlass_net::{HttpOutbound, OutboundPolicy};
use windlass_ports::{Entropy, LinkProbe, Outbound, Trust};
use windlass_secrets::Redactor;
use windlass_system::{OsEntropy, SystemClock};
use windlass_toolchain::{HttpLinkProbe, HugoPlaces, HugoProgram};
use windlass_types::Secret;

/// The launch domain of this process.
pub(crate) fn domain(
    options: &OpenOptions,
    entropy: &Arc<OsEntropy>,
    trust: &Arc<dyn Trust>,
) -> Box<dyn Domain> {
    let settings = &options.settings.launch;
    let models = &options.settings.models;
    let environment = &options.environment;
    let git = GitProgram::new(environment.all()).with_trust(Arc::clone(trust));
    let git = Arc::new(git);
    let clock = Arc::new(SystemClock);
    let outbound: Arc<dyn Outbound> = Arc::new(HttpOutbound::new(OutboundPolicy {
        allow_private: settings.allow_private_targets,
        allow_http: settings.allow_http,
        allowed_hosts: None,
    }));
    let model_outbound: Arc<dyn Outbound> = Arc::new(HttpOutbound::new(OutboundPolicy {
        allow_private: models.allow_private_targets,
        allow_http: models.allow_http,
        allowed_hosts: models.allowed_hosts.clone(),
    }));
    let link_outbound = Arc::clone(&outbound);
    let runtime = tokio::runtime::Handle::current();
    windlass_launch::domain(LaunchOutside {
        folder: options.home.launch_dir(),
        services: Arc::new(Services::new(
            Arc::clone(&git) as Arc<dyn windlass_ports::Git>,
            Arc::clone(&outbound),
            Arc::clone(&clock) as Arc<dyn windlass_ports::Clock>,
        )),
        git,
        toolchain: Arc::new(HugoProgram::new(HugoPlaces {
            path: environment
                .path(&env::PATH)
                .map(PathBuf::into_os_string)
                .unwrap_or_default(),
            configured: settings.hugo.clone(),
            scratch: options.home.tmp_dir(),
        })),
        outbound,
        links: Arc::new(move |hosts| {
            let allowed = Arc::new(move |host: &str| hosts.contains(&host.to_ascii_lowercase()));
            let outbound = Arc::clone(&link_outbound);
            Arc::new(HttpLinkProbe::new(outbound, allowed, runtime.clone())) as Arc<dyn LinkProbe>
        }),
        models: Arc::new(ModelClient::new(
            model_outbound,
            clock,
            Arc::clone(entropy) as Arc<dyn Entropy>,
        )),
        tokens: Arc::new(NamedTokens {
            environment: environment.clone(),
            settings: settings.clone(),
            redactor: Arc::clone(&options.redactor),
        }),
        default_profile: match settings.profile {
            LaunchProfile::Local => Profile::Local,
            LaunchProfile::Ci => Profile::Ci,
            LaunchProfile::Prod => Profile::Prod,
        },
        local_roots: settings.local_roots.clone(),
        exec_allow: settings.exec_allow.clone(),
    })
}

/// Variables of the environment, to the hosts they may go to.
struct NamedTokens {
    environment: Environment,
    settings: LaunchSettings,
    redactor: Arc<Redactor>,
}

impl Tokens for NamedTokens {
    fn token(&self, variable: &str, host: &str) -> Result<Secret<String>, TokenError> {
        if !self.settings.may_send(variable, host) {
            return Err(TokenError::NotAllowed {
                variable: variable.to_owned(),
                host: host.to_owned(),
            });
        }
        let secret = self.environment.secret_named(variable);
        let secret = secret.ok_or_else(|| TokenError::NotSet {
            variable: variable.to_owned(),
        })?;
        self.redactor.register(&secret);
        Ok(secret)
    }
}
