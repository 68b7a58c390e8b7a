//! The settings of MCP servers as values, read from TOML and from the `mcp.json` of other tools.
//!
//! Pure: text in, values and warnings out, every one with its place. Variables are expanded when
//! a server is started and not here, so that a setting never holds a secret that was not written
//! in it.

mod read;
mod tree;

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

pub use read::{parse_json, parse_toml};

/// How long a server may take to start and to say what it offers.
pub(crate) const START_LIMIT: Duration = Duration::from_secs(10);

/// A configured server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// The name, as the settings say it.
    pub name: String,
    /// How it is reached.
    pub target: ServerTarget,
    /// Whether it is used.
    pub enabled: bool,
    /// How long it may take to start.
    pub start_limit: Duration,
    /// How long a call may take, where the caller allows more.
    pub call_limit: Option<Duration>,
    /// Only these tools, where any is named.
    pub only_tools: Vec<String>,
    /// None of these tools.
    pub without_tools: Vec<String>,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTarget {
    /// A program, over its standard streams.
    Stdio(StdioConfig),
    /// An address, over streamable HTTP.
    Remote(RemoteConfig),
}

/// A program.
#[derive(Clone, PartialEq, Eq)]
pub struct StdioConfig {
    /// The program.
    pub command: String,
    /// Its arguments. `${NAME}` is expanded, `$NAME` is left to the program.
    pub arguments: Vec<String>,
    /// Variables of its environment. `$NAME` and `${NAME}` are expanded.
    pub environment: BTreeMap<String, String>,
    /// Variables of Windlass's own environment that it gets besides the harmless ones.
    pub pass: Vec<String>,
    /// Where it starts.
    pub directory: Option<PathBuf>,
}

/// An address.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteConfig {
    /// The address. `${NAME}` is expanded.
    pub url: String,
    /// Headers of every request. `$NAME` and `${NAME}` are expanded.
    pub headers: BTreeMap<String, String>,
    /// How to sign in, when the server asks for it.
    pub sign_in: SignIn,
}

/// How to sign in to a server.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SignIn {
    /// The client's id, where it was registered beforehand.
    pub client_id: Option<String>,
    /// The client's secret. Variables in it are expanded.
    pub client_secret: Option<String>,
    /// The address of a document that describes the client; used before registering one.
    pub client_metadata_url: Option<String>,
    /// The rights to ask for; otherwise those that the server names.
    pub scopes: Vec<String>,
    /// Signs in without a user.
    pub credentials: Option<ClientCredentials>,
}

/// How a client signs in by itself.
#[derive(Clone, PartialEq, Eq)]
pub enum ClientCredentials {
    /// By its id and secret.
    Secret,
    /// By a signed statement.
    PrivateKey {
        /// The key as PEM. Variables in it are expanded.
        pem: String,
        /// The signature algorithm, such as `ES256`.
        algorithm: String,
    },
}

// Values of environments, headers and secrets are never shown, only their names.
impl fmt::Debug for StdioConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StdioConfig")
            .field("command", &self.command)
            .field("arguments", &self.arguments)
            .field("environment", &self.environment.keys().collect::<Vec<_>>())
            .field("pass", &self.pass)
            .field("directory", &self.directory)
            .finish()
    }
}

impl fmt::Debug for RemoteConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RemoteConfig")
            .field("url", &self.url)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("sign_in", &self.sign_in)
            .finish()
    }
}

impl fmt::Debug for SignIn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SignIn")
            .field("client_id", &self.client_id)
            .field("has_secret", &self.client_secret.is_some())
            .field("client_metadata_url", &self.client_metadata_url)
            .field("scopes", &self.scopes)
            .field("without_user", &self.credentials.is_some())
            .finish()
    }
}

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Servers {
    /// The servers, by name.
    pub servers: Vec<ServerConfig>,
    /// What was left out.
    pub warnings: Vec<ConfigWarning>,
}

/// A place in a text, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character in it.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}", self.line, self.column)
    }
}

/// Why settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct ConfigError {
    /// Where.
    pub place: Place,
    /// What is wrong there.
    pub message: String,
}

/// A setting without effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigWarning {
    /// Where.
    pub place: Place,
    /// Why.
    pub message: String,
}

impl fmt::Display for ConfigWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.message)
    }
}
