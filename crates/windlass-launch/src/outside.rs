//! What launches are given from outside: folders, programs, services, secrets.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc};

use windlass_engine::access::shown;
use windlass_launch_model::{Profile, config::Caller};
use windlass_ports::{CommitServices, Git, LanguageModel, LinkProbe, Outbound, Toolchain};
use windlass_types::{Principal, PrincipalKind, Problem, Secret};

use crate::fault::invalid;

/// Makes a prober that asks these hosts and no others.
pub type LinkProbes = Arc<dyn Fn(BTreeSet<String>) -> Arc<dyn LinkProbe> + Send + Sync>;

/// Everything a launch needs that is not in the store.
#[derive(Clone)]
pub struct LaunchOutside {
    /// Where runs keep their checkouts, one folder each.
    pub folder: PathBuf,
    /// Repositories.
    pub git: Arc<dyn Git>,
    /// Where pull requests are opened.
    pub services: Arc<dyn CommitServices>,
    /// Hugo.
    pub toolchain: Arc<dyn Toolchain>,
    /// HTTP to the services that configurations name.
    pub outbound: Arc<dyn Outbound>,
    /// External links.
    pub links: LinkProbes,
    /// Language models, for runs whose configuration names one.
    pub models: Arc<dyn LanguageModel>,
    /// The secrets configurations may name.
    pub tokens: Arc<dyn Tokens>,
    /// The profile of configurations that name none.
    pub default_profile: Profile,
    /// Folders of this machine that callers from the network may name repositories below.
    pub local_roots: Vec<PathBuf>,
    /// The programs that configurations may let Hugo start.
    pub exec_allow: Vec<String>,
}

impl LaunchOutside {
    /// What a caller may say in a configuration: the holder of a key may be anywhere.
    pub(crate) fn caller(&self, principal: &Principal) -> Caller {
        let caller = match principal.kind {
            PrincipalKind::Key => Caller::remote(self.local_roots.clone()),
            _ => Caller::local(),
        };
        caller.with_profile(self.default_profile)
    }

    /// Whether the installation lets Hugo start what this pattern names. Patterns are compared as
    /// texts: which programs a pattern lets through cannot be compared.
    pub(crate) fn may_start(&self, pattern: &str) -> bool {
        self.exec_allow.iter().any(|allowed| allowed == pattern)
    }

    /// Refuses a configuration that lets Hugo start programs which the installation does not
    /// allow: they would run with what the site gives them, and anyone may name a site.
    pub(crate) fn check_programs<'a>(
        &self,
        patterns: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), Problem> {
        let Some(refused) = patterns.into_iter().find(|named| !self.may_start(named)) else {
            return Ok(());
        };
        let refused = shown(refused);
        let message = format!(
            "hugo.exec_allow names {refused:?}, and the settings let no configuration have it started"
        );
        Err(invalid("/run_config/hugo/exec_allow", "not_allowed", message)
            .with("setting", "launch.exec_allow")
            .next(format!(
                "add it to config.toml, if every site may start it: [launch] exec_allow = [{refused:?}]"
            )))
    }
}

/// Secrets by the name of a variable.
pub trait Tokens: Send + Sync {
    /// The value of a variable, for requests to this host and no other. A configuration comes
    /// from the caller of a launch, so that it may not send any variable anywhere.
    fn token(&self, variable: &str, host: &str) -> Result<Secret<String>, TokenError>;
}

/// Why a secret is not handed out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Nobody said that this variable may go to this host.
    #[error(
        "the variable {variable} may not be sent to {host}; allow it in the settings: \
         [launch.tokens] {variable} = [\"{host}\"]"
    )]
    NotAllowed {
        /// The variable.
        variable: String,
        /// The host.
        host: String,
    },
    /// There is no such variable.
    #[error("the variable {variable} is not set")]
    NotSet {
        /// The variable.
        variable: String,
    },
}
