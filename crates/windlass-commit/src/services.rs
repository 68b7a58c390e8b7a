//! Which service an address means, and whether it can work at all.

use std::sync::Arc;
use std::time::Duration;

use windlass_ports::commit_service::{
    CommitService, CommitServices, ServiceAddress, ServiceFault, ServiceKind, Stage,
};
use windlass_ports::{Clock, Git, Outbound};

use crate::exchange::{Api, TIMEOUT};
use crate::guard::fault;
use crate::{GitHub, GitLab, HttpService, LocalGit};

/// The services there are.
pub struct Services {
    git: Arc<dyn Git>,
    outbound: Arc<dyn Outbound>,
    clock: Arc<dyn Clock>,
    timeout: Duration,
}

impl Services {
    /// Services that run git, call out and wait through these.
    pub fn new(git: Arc<dyn Git>, outbound: Arc<dyn Outbound>, clock: Arc<dyn Clock>) -> Self {
        Self {
            git,
            outbound,
            clock,
            timeout: TIMEOUT,
        }
    }

    /// The same with another limit for each exchange over HTTP (60 s by default).
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    fn api(&self, adapter: &'static str, base: &str, address: &ServiceAddress) -> Api {
        Api {
            adapter,
            outbound: Arc::clone(&self.outbound),
            clock: Arc::clone(&self.clock),
            base: base.trim_end_matches('/').to_owned(),
            token: address.token.clone(),
            headers: Vec::new(),
            timeout: self.timeout,
        }
    }
}

impl CommitServices for Services {
    fn open(&self, address: ServiceAddress) -> Result<Arc<dyn CommitService>, ServiceFault> {
        let endpoint = address
            .endpoint_url
            .as_deref()
            .map(str::trim)
            .filter(|url| !url.is_empty());
        let has_token = address
            .token
            .as_ref()
            .is_some_and(|token| !token.expose_secret().trim().is_empty());
        let need_token = |adapter| match has_token {
            true => Ok(()),
            false => Err(fault(
                adapter,
                Stage::Commit,
                format!(
                    "there is no token for {adapter}; put one into the environment variable that \
                     commit_service.github_token_env names"
                ),
            )),
        };
        let service: Arc<dyn CommitService> = match address.kind {
            ServiceKind::Local => Arc::new(LocalGit::new(Arc::clone(&self.git), &address)),
            ServiceKind::GitHub => {
                need_token(GitHub::NAME)?;
                let api = self.api(GitHub::NAME, endpoint.unwrap_or(GitHub::PUBLIC), &address);
                Arc::new(GitHub::new(api, endpoint.is_some(), address.allowed))
            }
            ServiceKind::GitLab => {
                need_token(GitLab::NAME)?;
                let api = self.api(GitLab::NAME, endpoint.unwrap_or(GitLab::PUBLIC), &address);
                Arc::new(GitLab::new(api, endpoint.is_some(), address.allowed))
            }
            ServiceKind::Http => {
                let base = endpoint.ok_or_else(|| {
                    fault(
                        HttpService::NAME,
                        Stage::Commit,
                        "the commit service has no address; set commit_service.endpoint_url",
                    )
                })?;
                let api = self.api(HttpService::NAME, base, &address);
                Arc::new(HttpService::new(api, address.allowed))
            }
        };
        Ok(service)
    }
}
