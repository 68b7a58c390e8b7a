//! `[server]`: where the HTTP surfaces listen and what they accept.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    num::{NonZeroU32, NonZeroU64},
    path::PathBuf,
};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

use crate::{Deprecation, settings::whole};

/// Settings of the HTTP surfaces.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a [server] table")]
pub struct ServerSettings {
    /// The address to listen on. Loopback by default; anything else is reachable by others.
    #[serde(deserialize_with = "listen")]
    #[schemars(with = "String")]
    pub listen: SocketAddr,
    /// Host names requests may carry besides loopback names, as `name` or `name:port`.
    pub allowed_hosts: Vec<String>,
    /// Origins browsers may call from besides loopback, as `https://host` or `https://host:port`.
    #[serde(deserialize_with = "origins")]
    pub allowed_origins: Vec<String>,
    /// Whether allowed origins receive CORS headers, so that scripts of other sites may read answers.
    pub cors: bool,
    /// Where clients reach this server, such as `https://windlass.example.org`; what addresses in
    /// webhooks and challenges are built on. Default: the address it listens on.
    #[serde(deserialize_with = "public_url")]
    pub public_url: Option<String>,
    /// Versions of the API that are on their way out, by name, such as `v1`.
    pub deprecations: BTreeMap<String, Deprecation>,
    /// The largest request body, in bytes.
    #[schemars(range(min = 1024))]
    pub body_limit_bytes: u32,
    /// How long a request may take before it is answered with a timeout, in seconds.
    #[schemars(range(min = 1))]
    pub request_timeout_seconds: NonZeroU64,
    /// Directories that callers with a key may name, with what is below them: where a change is
    /// made, a config repository, the project of a stack. Default: the directory the server was
    /// started in.
    pub roots: Vec<PathBuf>,
    /// Connections at once, in total. Fewer where the process may not open as many files.
    pub max_connections: NonZeroU32,
    /// Connections at once from one address, or one IPv6 network. Loopback addresses are not
    /// counted, since a proxy on this machine brings the connections of everyone.
    pub max_connections_per_address: NonZeroU32,
    /// Event streams open at once, in total.
    pub max_streams: NonZeroU32,
    /// Event streams open at once with one key.
    pub max_streams_per_key: NonZeroU32,
    /// How long a client may take to send the head of a request, and how long a connection may
    /// wait for the next one, in seconds.
    #[schemars(range(min = 1))]
    pub header_timeout_seconds: NonZeroU64,
    /// How long a client may take nothing of its answer before the connection is closed, in
    /// seconds.
    #[schemars(range(min = 1))]
    pub stall_timeout_seconds: NonZeroU64,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7717)),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            cors: false,
            public_url: None,
            deprecations: BTreeMap::new(),
            body_limit_bytes: 8 * 1024 * 1024,
            request_timeout_seconds: whole(60),
            roots: Vec::new(),
            max_connections: count(1024),
            max_connections_per_address: count(256),
            max_streams: count(256),
            max_streams_per_key: count(64),
            header_timeout_seconds: whole(15),
            stall_timeout_seconds: whole(30),
        }
    }
}

impl ServerSettings {
    /// Where clients reach this server, without a slash at the end.
    pub fn public_base(&self) -> String {
        match &self.public_url {
            Some(url) => url.clone(),
            None => format!("http://{}", self.listen),
        }
    }
}

const fn count(number: u32) -> NonZeroU32 {
    match NonZeroU32::new(number) {
        Some(number) => number,
        None => NonZeroU32::MIN,
    }
}

/// An address to build others on: scheme, host, perhaps a port and a path, nothing after it.
fn public_url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let text = text.trim_end_matches('/').to_owned();
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    let plain = |rest: &str| {
        !rest.is_empty() && !rest.contains(['?', '#', '@', '"', ' ']) && !rest.starts_with('/')
    };
    if !rest.is_some_and(plain) {
        return Err(de::Error::custom(format!(
            "`{text}` is not an address clients can be given: write `https://host`, with a port or a path where needed"
        )));
    }
    Ok(Some(text))
}

fn listen<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|_| {
        de::Error::custom(format!("`{text}` is not an address to listen on: write an IP address and a port, such as `127.0.0.1:7717`"))
    })
}

/// An origin is compared as text, so only the form browsers send is accepted.
fn origins<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let origins = Vec::<String>::deserialize(deserializer)?;
    for origin in &origins {
        let host = origin
            .strip_prefix("https://")
            .or_else(|| origin.strip_prefix("http://"));
        let plain = |host: &str| {
            !host.is_empty()
                && host
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
        };
        if !host.is_some_and(plain) || origin.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(de::Error::custom(format!(
                "`{origin}` is not an origin: write `https://host` or `https://host:port` in lower case, without a path"
            )));
        }
    }
    Ok(origins)
}
