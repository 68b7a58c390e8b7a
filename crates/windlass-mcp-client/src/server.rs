//! One configured server: started when it is needed, watched, started again when it ends.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rmcp::service::ServiceError;
use serde_json::Value;
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep_until, timeout},
};
use windlass_ports::{Consent, ServerError, ServerState, ServerTool, ServerView, ToolStanding};
use windlass_types::Digest;

use crate::{
    clean,
    config::{ServerConfig, ServerTarget},
    connect::{self, ConnectFailure, Era, Live, Means},
    listing, names,
    pins::{self, Pins},
};

/// A server that lived this long starts again without a wait.
const STEADY: Duration = Duration::from_secs(60);
/// After so many failures in a row it is only tried again when something is asked of it.
const MOST_ATTEMPTS: u32 = 10;
/// A larger definition is left out: no model reads it.
const LARGEST_DEFINITION: usize = 256 * 1024;
/// How often signing in for the same rights helps, before it is the server that is wrong.
const MOST_SIGN_INS: u32 = 2;

/// A server and what is known of it.
pub(crate) struct Server {
    pub config: ServerConfig,
    means: Arc<Means>,
    status: watch::Sender<Status>,
    tools: Mutex<BTreeMap<String, Known>>,
    account: Mutex<Asked>,
    wake: Notify,
    halt: Notify,
    /// Held while a supervisor runs.
    supervised: Mutex<bool>,
}

#[derive(Clone)]
enum Status {
    Idle,
    Starting,
    Ready(Arc<Live>),
    Failed {
        cause: String,
        attempts: u32,
        until: Option<Instant>,
    },
    SignIn,
    Stopped,
}

/// A tool and its definition as the server offers it now.
#[derive(Clone)]
pub(crate) struct Known {
    pub tool: ServerTool,
    definition: Value,
}

/// What a server asked for when it last asked to sign in.
#[derive(Default)]
struct Asked {
    challenge: Option<String>,
    scope: Option<String>,
    /// How often it was signed in for that, without a call that succeeded since.
    times: u32,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a connection is given up.
enum Parting {
    Halt,
    Again,
    Ended(String),
}

impl Server {
    pub fn new(config: ServerConfig, means: Arc<Means>) -> Self {
        Self {
            config,
            means,
            status: watch::Sender::new(Status::Idle),
            tools: Mutex::default(),
            account: Mutex::default(),
            wake: Notify::new(),
            halt: Notify::new(),
            supervised: Mutex::default(),
        }
    }

    /// How it is.
    pub fn view(&self) -> ServerView {
        let status = self.status.borrow().clone();
        let live = match &status {
            Status::Ready(live) => Some(live),
            _ => None,
        };
        let tools = lock(&self.tools);
        let quarantined = tools
            .values()
            .filter(|known| known.tool.standing != ToolStanding::Pinned);
        let software = live.and_then(|live| live.info.server_info.as_ref());
        ServerView {
            name: self.config.name.clone(),
            target: self.target(),
            state: match &status {
                _ if !self.config.enabled => ServerState::Disabled,
                Status::Idle => ServerState::Idle,
                Status::Starting => ServerState::Starting,
                Status::Ready(_) => ServerState::Ready,
                Status::Failed {
                    cause,
                    attempts,
                    until,
                } => ServerState::Failed {
                    cause: cause.clone(),
                    attempts: *attempts,
                    retry_in: until.map(|until| until.saturating_duration_since(Instant::now())),
                },
                Status::SignIn => ServerState::SignInRequired,
                Status::Stopped => ServerState::Stopped,
            },
            software: software.map(|software| {
                clean::line(&format!("{} {}", software.name, software.version), 200)
            }),
            protocol: live.map(|live| clean::line(live.info.protocol_version.as_str(), 40)),
            tools: tools.len(),
            quarantined: quarantined.count(),
            malformed_lines: live
                .and_then(|live| live.child.as_ref())
                .map_or(0, |child| child.malformed_lines()),
        }
    }

    fn target(&self) -> String {
        match &self.config.target {
            ServerTarget::Stdio(program) => clean::line(&program.command, 200),
            ServerTarget::Remote(remote) => {
                let host = url::Url::parse(&remote.url).ok();
                let host = host.as_ref().map(|url| url.origin().ascii_serialization());
                host.unwrap_or_else(|| "an address from a variable".to_owned())
            }
        }
    }

    /// Its tools, as they were last offered.
    pub fn tools(&self) -> Vec<ServerTool> {
        let known = lock(&self.tools);
        known.values().map(|known| known.tool.clone()).collect()
    }

    /// A tool by its name for models.
    pub fn tool(&self, name: &str) -> Option<ServerTool> {
        lock(&self.tools).get(name).map(|known| known.tool.clone())
    }

    /// A connection. Starts the server when it was not started, waits while it starts, and says
    /// at once when it has failed.
    pub async fn live(self: &Arc<Self>) -> Result<Arc<Live>, ServerError> {
        if !self.config.enabled {
            return Err(self.unavailable("the settings disable it".to_owned()));
        }
        let mut status = self.status.subscribe();
        self.supervise();
        loop {
            let now = status.borrow_and_update().clone();
            match now {
                Status::Ready(live) => return Ok(live),
                Status::SignIn => {
                    return Err(ServerError::SignInRequired {
                        server: self.config.name.clone(),
                        scope: lock(&self.account).scope.clone(),
                    });
                }
                Status::Failed { cause, until, .. } => return Err(self.failed(&cause, until)),
                Status::Idle | Status::Starting => {}
                Status::Stopped => return Err(self.unavailable("it was stopped".to_owned())),
            }
            if status.changed().await.is_err() {
                return Err(self.unavailable("it was stopped".to_owned()));
            }
        }
    }

    fn failed(&self, cause: &str, until: Option<Instant>) -> ServerError {
        let again = until.map_or_else(String::new, |until| {
            let wait = until.saturating_duration_since(Instant::now());
            format!("; it is tried again in {} s", wait.as_secs_f64().ceil())
        });
        self.unavailable(format!("{cause}{again}"))
    }

    fn unavailable(&self, cause: String) -> ServerError {
        ServerError::Unavailable {
            server: self.config.name.clone(),
            cause,
        }
    }

    /// Starts the supervisor when there is none. A server that is only tried on demand is
    /// tried now.
    fn supervise(self: &Arc<Self>) {
        let mut supervised = lock(&self.supervised);
        if !*supervised {
            *supervised = true;
            self.status.send_replace(Status::Starting);
            tokio::spawn(Arc::clone(self).keep_alive());
            return;
        }
        let waits = matches!(&*self.status.borrow(), Status::Failed { until: None, .. });
        if waits {
            self.status.send_replace(Status::Starting);
            self.wake.notify_one();
        }
    }

    /// Connects, watches, connects again.
    async fn keep_alive(self: Arc<Self>) {
        let mut attempts = 0;
        let mut era = Era::default();
        let mut signed_in_alone = false;
        loop {
            // While a server that failed is tried again, its failure stays to be seen.
            if !matches!(&*self.status.borrow(), Status::Failed { .. }) {
                self.status.send_replace(Status::Starting);
            }
            let began = Instant::now();
            let opening = timeout(self.config.start_limit, self.open(era));
            let opened = tokio::select! {
                opened = opening => opened,
                () = self.halt.notified() => return self.stopped(),
            };
            let cause = match opened {
                Ok(Ok((service, live, spoken))) => {
                    era = spoken;
                    self.status.send_replace(Status::Ready(Arc::clone(&live)));
                    match self.watch(service, &live).await {
                        Parting::Halt => return self.stopped(),
                        Parting::Again => continue,
                        Parting::Ended(cause) => {
                            if began.elapsed() > STEADY {
                                attempts = 0;
                            }
                            cause
                        }
                    }
                }
                Ok(Err(ConnectFailure::SignIn(challenge))) => {
                    if !signed_in_alone && self.sign_in_alone(challenge.as_deref()).await {
                        signed_in_alone = true;
                        continue;
                    }
                    self.remember(challenge);
                    self.status.send_replace(Status::SignIn);
                    tokio::select! {
                        () = self.wake.notified() => continue,
                        () = self.halt.notified() => return self.stopped(),
                    }
                }
                Ok(Err(ConnectFailure::Other(cause))) => cause,
                Err(_) => {
                    let limit = self.config.start_limit.as_secs_f64();
                    format!("it was not ready within {limit} s")
                }
            };
            // What was true of a server that worked may be what is wrong now.
            era = Era::default();
            attempts += 1;
            tracing::warn!(server = self.config.name, cause, "an MCP server failed");
            let wait = self.means.timing.backoff(attempts);
            let until = (attempts < MOST_ATTEMPTS).then(|| Instant::now() + wait);
            self.status.send_replace(Status::Failed {
                cause,
                attempts,
                until,
            });
            let pause = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = pause => {}
                () = self.wake.notified() => {}
                () = self.halt.notified() => return self.stopped(),
            }
        }
    }

    fn stopped(&self) {
        *lock(&self.supervised) = false;
        self.status.send_replace(Status::Stopped);
    }

    /// Connects and asks for the tools: a server is ready when it is known what it offers.
    async fn open(&self, era: Era) -> Result<(Service, Arc<Live>, Era), ConnectFailure> {
        let (service, live, spoken) = connect::connect(&self.config, &self.means, era).await?;
        let live = Arc::new(live);
        if let Err(error) = self.list(&live).await {
            return Err(match error {
                ListFailure::Pins(cause) => ConnectFailure::Other(cause),
                ListFailure::Service(error) => match connect::challenge_of(&error) {
                    Some(challenge) => ConnectFailure::SignIn(Some(challenge)),
                    None => ConnectFailure::Other(connect::causes(&error)),
                },
            });
        }
        Ok((service, live, spoken))
    }

    /// Returns when the connection is over.
    async fn watch(&self, service: Service, live: &Live) -> Parting {
        let end = service.cancellation_token();
        let ended = service.waiting();
        tokio::pin!(ended);
        let parting = loop {
            tokio::select! {
                _ = &mut ended => {
                    return Parting::Ended(match &live.child {
                        Some(child) => child.obituary().await,
                        None => "the connection ended".to_owned(),
                    });
                }
                () = live.handler.tools_changed.notified() => {
                    // The last known tools stay; a tool that changed is compared when it is listed.
                    let listed = timeout(self.config.start_limit, self.list(live)).await;
                    if !matches!(listed, Ok(Ok(()))) {
                        tracing::warn!(server = self.config.name, "the changed tools cannot be listed");
                    }
                }
                () = self.wake.notified() => break Parting::Again,
                () = self.halt.notified() => break Parting::Halt,
            }
        };
        end.cancel();
        let _ = ended.await;
        if let Some(child) = &live.child {
            child.stop().await;
        }
        parting
    }

    /// Asks for the tools and compares them with what was accepted.
    async fn list(&self, live: &Live) -> Result<(), ListFailure> {
        if live.info.capabilities.tools.is_none() {
            return Ok(());
        }
        let offered = listing::pages(live).await.map_err(ListFailure::Service)?;
        let name = &self.config.name;
        let kept = self.means.pins.load(name).map_err(ListFailure::Pins)?;
        let mut pins = match kept {
            Some(text) => Pins::parse(&text).map_err(ListFailure::Pins)?,
            None => Pins::default(),
        };
        let mut known = BTreeMap::new();
        let mut has_changed = false;
        for tool in offered {
            let own = tool.name.to_string();
            let is_wanted =
                self.config.only_tools.is_empty() || self.config.only_tools.contains(&own);
            if !is_wanted || self.config.without_tools.contains(&own) {
                continue;
            }
            let definition = pins::definition(&tool);
            if definition.to_string().len() > LARGEST_DEFINITION {
                tracing::warn!(
                    server = name,
                    "a tool with an oversized definition is left out"
                );
                continue;
            }
            let public = names::public(name, &own);
            if known.contains_key(&public) {
                continue;
            }
            let (standing, is_new) = pins.judge(&own, &definition);
            has_changed |= is_new;
            let tool = listing::offer(name, public.clone(), &tool, &definition, standing);
            known.insert(public, Known { tool, definition });
        }
        if has_changed {
            let kept = self.means.pins.save(name, pins.to_text());
            kept.map_err(ListFailure::Pins)?;
        }
        *lock(&self.tools) = known;
        Ok(())
    }

    /// Accepts a tool as it is offered now.
    pub fn accept(&self, name: &str, definition: Digest) -> Result<(), ServerError> {
        let not_kept = |cause: String| ServerError::NotKept {
            server: self.config.name.clone(),
            cause,
        };
        let mut known = lock(&self.tools);
        let Some(found) = known.get_mut(name) else {
            return Err(ServerError::Unknown {
                kind: "tool",
                name: clean::line(name, 200),
            });
        };
        if found.tool.definition != definition {
            return Err(ServerError::Quarantined {
                tool: name.to_owned(),
            });
        }
        let kept = self.means.pins.load(&self.config.name).map_err(not_kept)?;
        let mut pins = match kept {
            Some(text) => Pins::parse(&text).map_err(not_kept)?,
            None => Pins::default(),
        };
        pins.accept(&found.tool.tool, &found.definition);
        let text = pins.to_text();
        let kept = self.means.pins.save(&self.config.name, text);
        kept.map_err(not_kept)?;
        found.tool.standing = ToolStanding::Pinned;
        Ok(())
    }

    fn remember(&self, challenge: Option<String>) {
        let scope = challenge.as_deref().and_then(crate::http::scope_of);
        let mut asked = lock(&self.account);
        if asked.scope != scope {
            asked.times = 0;
        }
        asked.challenge = challenge;
        asked.scope = scope;
    }

    async fn sign_in_alone(&self, challenge: Option<&str>) -> bool {
        let ServerTarget::Remote(remote) = &self.config.target else {
            return false;
        };
        let Ok(account) = connect::account(&self.config.name, remote, &self.means) else {
            return false;
        };
        if !account.needs_nobody() {
            return false;
        }
        let challenge = challenge.map(str::to_owned);
        let runtime = tokio::runtime::Handle::current();
        // The SDK's future stays on its thread, so it gets one.
        let signed_in = tokio::task::spawn_blocking(move || {
            runtime.block_on(account.sign_in_alone(challenge.as_deref()))
        });
        match signed_in
            .await
            .unwrap_or_else(|error| Err(error.to_string()))
        {
            Ok(()) => true,
            Err(cause) => {
                tracing::warn!(server = self.config.name, cause, "signing in failed");
                false
            }
        }
    }

    /// Signs in with the user's consent, and connects again.
    pub async fn sign_in(self: &Arc<Self>, consent: &dyn Consent) -> Result<(), ServerError> {
        let failed = |cause: String| ServerError::SignInFailed {
            server: self.config.name.clone(),
            cause: clean::line(&cause, clean::LONGEST_MESSAGE),
        };
        let ServerTarget::Remote(remote) = &self.config.target else {
            return Err(failed("it is a program of this machine".to_owned()));
        };
        let account = connect::account(&self.config.name, remote, &self.means).map_err(failed)?;
        let challenge = {
            let mut asked = lock(&self.account);
            asked.times += 1;
            if asked.times > MOST_SIGN_INS {
                return Err(failed(
                    "it asks again for what it was given; its operator has to look at that"
                        .to_owned(),
                ));
            }
            asked.challenge.clone()
        };
        let signed_in = account.sign_in(challenge.as_deref(), consent).await;
        signed_in.map_err(failed)?;
        if *lock(&self.supervised) {
            // Who asks now waits for the connection with the new rights.
            self.status.send_replace(Status::Starting);
            self.wake.notify_one();
        }
        self.live().await.map(drop)
    }

    /// A call succeeded, so what was given is enough.
    pub fn is_satisfied(&self) {
        lock(&self.account).times = 0;
    }

    /// What an error of a question means.
    pub async fn explain(&self, error: ServiceError, live: &Live) -> ServerError {
        let server = self.config.name.clone();
        if let Some(challenge) = connect::challenge_of(&error) {
            self.remember(Some(challenge));
            let scope = lock(&self.account).scope.clone();
            return ServerError::SignInRequired { server, scope };
        }
        match error {
            ServiceError::McpError(error) => ServerError::Refused {
                server,
                code: error.code.0,
                said: clean::block(&error.message, clean::LONGEST_MESSAGE),
            },
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
                if connect::is_unreachable(&error) {
                    // The connection is given up, so that its state is seen and it is tried again.
                    self.wake.notify_one();
                }
                let cause = match (&live.child, &error) {
                    (Some(child), _) => child.obituary().await,
                    (None, ServiceError::TransportSend(error)) => connect::causes(error),
                    (None, _) => "the connection ended".to_owned(),
                };
                ServerError::Interrupted { server, cause }
            }
            other => ServerError::Interrupted {
                server,
                cause: connect::causes(&other),
            },
        }
    }

    /// Ends the server, without waiting for its end.
    pub fn halt(&self) {
        if *lock(&self.supervised) {
            self.halt.notify_one();
        }
    }

    /// Ends the server and waits until it has ended.
    pub async fn stop(&self) {
        if !*lock(&self.supervised) {
            return;
        }
        let mut status = self.status.subscribe();
        self.halt.notify_one();
        let is_stopped = |status: &Status| matches!(status, Status::Stopped);
        // The sender lives as long as this does.
        let _ = status.wait_for(is_stopped).await;
    }
}

type Service = rmcp::service::RunningService<rmcp::RoleClient, crate::handler::Handler>;

enum ListFailure {
    Service(ServiceError),
    Pins(String),
}
