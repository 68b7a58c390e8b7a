//! What the surface is given: the catalogue, the keys, and what it may accept.
//!
//! Not settings: the binary reads those and fills this in.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::body::Bytes;
use tokio_util::sync::CancellationToken;
use windlass_engine::{
    access::{ApiKeys, Limits, Tier},
    operation::Catalogue,
};
use windlass_types::{Principal, Timestamp};

use crate::{
    guard::{Hosts, Origins, Streams, Tiers},
    routes::Rendered,
    serve::{ListenOptions, ServeError},
    traffic::Traffic,
};

/// How callers are told apart.
#[derive(Clone, Debug)]
pub enum AuthMode {
    /// Every request carries an API key.
    Keys,
    /// A request without a key acts as this principal. Only on a loopback address, where
    /// everyone who can connect is a user of this machine. A key that is sent still counts.
    LoopbackOpen(Principal),
}

/// Addresses that work without a key because we signed them.
pub trait SignedAddresses: Send + Sync {
    /// Whether this path was signed to work until `exp`, in seconds since 1970, and still does.
    fn admits(&self, path: &str, exp: i64, sig: &str, now: Timestamp) -> bool;
}

/// A version of the API that is on its way out.
#[derive(Clone, Debug)]
pub struct Deprecation {
    /// Since when.
    pub since: Timestamp,
    /// When it ends.
    pub sunset: Timestamp,
    /// Where to read about it.
    pub link: Option<String>,
}

/// What the surface is made of.
#[derive(Clone)]
pub struct HttpState {
    /// What can be called.
    pub catalogue: Catalogue,
    /// Who may call.
    pub keys: Arc<ApiKeys>,
    /// How often callers called.
    pub limits: Limits,
    /// How often they may call, by tier name. `anonymous` (what needs no key, by address),
    /// `unauthorized` (requests without a key that works, by address) and `local` (the principal
    /// of open mode) have defaults.
    pub tiers: BTreeMap<String, Tier>,
    /// How callers are told apart.
    pub auth: AuthMode,
    /// The address to be served on; its IP is an allowed host.
    pub listen: SocketAddr,
    /// `Host` values taken besides loopback names and `listen`, as `name` or `name:port`.
    pub allowed_hosts: Vec<String>,
    /// `Origin` values taken besides loopback ones, as `https://host` or `https://host:port`.
    pub allowed_origins: Vec<String>,
    /// Whether allowed origins receive CORS headers.
    pub cors: bool,
    /// Where clients reach this server, without a slash at the end; taken from the request's
    /// own Host when absent.
    pub public_url: Option<String>,
    /// What reads the signatures of artifact addresses; without it they need a key.
    pub signed_addresses: Option<Arc<dyn SignedAddresses>>,
    /// Versions of the API that are on their way out, by the first segment of their paths.
    pub deprecations: BTreeMap<String, Deprecation>,
    /// The largest request body, in bytes.
    pub body_limit: usize,
    /// How long a request that is not a stream may take.
    pub request_timeout: Duration,
    /// A reader of a stream that takes longer to take what it was sent is told to come back.
    pub slow_reader: Duration,
    /// Streams open at once, in total.
    pub max_streams: usize,
    /// Streams open at once, of one caller.
    pub max_streams_per_key: usize,
    /// What this server counts: answers by status, connections, streams.
    pub traffic: Arc<Traffic>,
    /// Cancelled when the server stops; ends open streams.
    pub closing: CancellationToken,
}

impl HttpState {
    /// A state with defaults for everything that can have one.
    pub fn new(
        catalogue: Catalogue,
        keys: Arc<ApiKeys>,
        auth: AuthMode,
        listen: SocketAddr,
    ) -> Self {
        Self {
            catalogue,
            keys,
            limits: Limits::default(),
            tiers: BTreeMap::new(),
            auth,
            listen,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            cors: false,
            public_url: None,
            signed_addresses: None,
            deprecations: BTreeMap::new(),
            body_limit: 8 * 1024 * 1024,
            request_timeout: Duration::from_secs(60),
            slow_reader: Duration::from_secs(15),
            max_streams: 256,
            max_streams_per_key: 64,
            traffic: Arc::default(),
            closing: CancellationToken::new(),
        }
    }

    /// How this state may be served; refused when open mode would be reachable by others.
    pub fn listen_options(&self) -> Result<ListenOptions, ServeError> {
        if matches!(self.auth, AuthMode::LoopbackOpen(_)) && !self.listen.ip().is_loopback() {
            return Err(ServeError::OpenToOthers {
                address: self.listen,
            });
        }
        Ok(ListenOptions::new(
            self.listen,
            self.closing.clone(),
            Arc::clone(&self.traffic),
        ))
    }
}

/// The state as requests use it: with everything worked out that is the same for all of them.
pub(crate) struct Shared {
    pub(crate) state: HttpState,
    pub(crate) hosts: Hosts,
    pub(crate) origins: Origins,
    pub(crate) tiers: Tiers,
    pub(crate) streams: Streams,
    pub(crate) rendered: Rendered,
    /// Every scope an operation may need, separated by spaces.
    pub(crate) scopes: String,
    pub(crate) openapi: OnceLock<Bytes>,
}

impl Shared {
    pub(crate) fn new(state: HttpState) -> Arc<Self> {
        let mut scopes: Vec<&str> = state
            .catalogue
            .operations()
            .map(|info| info.scope.as_str())
            .collect();
        scopes.sort_unstable();
        scopes.dedup();
        let scopes = scopes.join(" ");
        Arc::new(Self {
            hosts: Hosts::new(
                state.listen,
                &state.allowed_hosts,
                state.public_url.as_deref(),
            ),
            origins: Origins::new(&state.allowed_origins, state.public_url.as_deref()),
            tiers: Tiers::new(&state.tiers),
            rendered: Rendered::default(),
            streams: Streams::new(state.max_streams, state.max_streams_per_key),
            scopes,
            openapi: OnceLock::new(),
            state,
        })
    }
}
