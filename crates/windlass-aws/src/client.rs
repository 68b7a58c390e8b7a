//! The adapter: one value for all targets, a session for each, made when first needed.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use aws_credential_types::Credentials;
use tokio::sync::OnceCell;
use windlass_config::env::Environment;
use windlass_ports::aws::{AwsFailure, AwsFailureKind, Target};
use windlass_ports::{Clock, Entropy, entropy};

use crate::credentials;
use crate::pace::Pace;
use crate::session::Session;

/// How often a call is tried where the environment does not say.
const MAX_ATTEMPTS: u32 = 5;

/// AWS, as this process's environment reaches it.
pub struct Aws {
    /// Where every AWS variable is read from.
    pub(crate) environment: HashMap<String, String>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Made at first use: loading certificates takes longer than most commands.
    http: OnceLock<Result<reqwest::Client, String>>,
    pub(crate) max_attempts: u32,
    entropy: Arc<dyn Entropy>,
    sessions: Mutex<BTreeMap<Target, Arc<OnceCell<Arc<Session>>>>>,
    paces: Mutex<BTreeMap<String, Pace>>,
}

impl fmt::Debug for Aws {
    /// No environment: it holds credentials.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Aws")
    }
}

impl Aws {
    /// The adapter over an environment. Nothing is read or sent yet.
    pub fn new(
        environment: &Environment,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        let environment: HashMap<String, String> = environment
            .all()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            // An empty variable sets nothing; the SDK takes an empty region for one.
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let max_attempts = environment
            .get("AWS_MAX_ATTEMPTS")
            .and_then(|text| text.parse().ok())
            .filter(|attempts| *attempts > 0)
            .unwrap_or(MAX_ATTEMPTS);
        Self {
            environment,
            clock,
            http: OnceLock::new(),
            max_attempts,
            entropy,
            sessions: Mutex::default(),
            paces: Mutex::default(),
        }
    }

    /// The client of signed calls.
    pub(crate) fn http(&self, action: &str) -> Result<&reqwest::Client, AwsFailure> {
        let made = self.http.get_or_init(|| {
            reqwest::Client::builder()
                .redirect(reqwest::redirect::Policy::none())
                .connect_timeout(crate::session::CONNECT_TIMEOUT)
                .user_agent(concat!("Windlass/", env!("CARGO_PKG_VERSION")))
                .build()
                .map_err(|error| error.to_string())
        });
        made.as_ref().map_err(|cause| {
            let message = format!("no HTTP client can be created: {cause}");
            AwsFailure::local(AwsFailureKind::Unreachable, action, message)
        })
    }

    /// The session of a target.
    pub(crate) async fn session(&self, target: &Target) -> Arc<Session> {
        let cell = {
            let mut sessions = locked(&self.sessions);
            Arc::clone(sessions.entry(target.clone()).or_default())
        };
        let session = cell
            .get_or_init(|| async { Arc::new(Session::open(self, target).await) })
            .await;
        Arc::clone(session)
    }

    /// The session of a target that has credentials and a region to call with.
    pub(crate) async fn ready(
        &self,
        target: &Target,
        action: &str,
    ) -> Result<Arc<Session>, AwsFailure> {
        let session = self.session(target).await;
        self.credentials(&session, target, action).await?;
        session.require_region(action)?;
        Ok(session)
    }

    /// A session's credentials, or why there are none.
    pub(crate) async fn credentials(
        &self,
        session: &Session,
        target: &Target,
        action: &str,
    ) -> Result<Credentials, AwsFailure> {
        let profile = &session.profile;
        let found = match session.credentials.get().await {
            Ok(found) => found,
            Err(error) => {
                self.forget(target);
                return Err(credentials::failure(action, target, profile, &error));
            }
        };
        // Standing in with the machine's role would call with permissions that were not requested.
        match &target.profile {
            Some(named) if credentials::is_ambient(&found) => {
                self.forget(target);
                Err(credentials::ambient_failure(action, named))
            }
            _ => Ok(found),
        }
    }

    /// Reads files and credentials again for the next call: they were refused, and the user
    /// may have renewed them by then.
    pub(crate) fn forget(&self, target: &Target) {
        locked(&self.sessions).remove(target);
    }

    /// Records a failure and returns it.
    pub(crate) fn noted(&self, target: &Target, failure: AwsFailure) -> AwsFailure {
        if failure.kind == AwsFailureKind::Auth {
            self.forget(target);
        }
        tracing::debug!(action = %failure.action, code = %failure.code, kind = ?failure.kind, "AWS call failed");
        failure
    }

    /// The pace of a service in a region.
    pub(crate) fn pace(&self, key: &str) -> Pace {
        locked(&self.paces).get(key).copied().unwrap_or_default()
    }

    pub(crate) fn change_pace(&self, key: &str, change: fn(Pace) -> Pace) {
        let mut paces = locked(&self.paces);
        let pace = paces.entry(key.to_owned()).or_default();
        *pace = change(*pace);
    }

    pub(crate) fn random(&self) -> u64 {
        u64::from_le_bytes(entropy::random(&*self.entropy))
    }
}

/// A panic elsewhere leaves these maps whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
