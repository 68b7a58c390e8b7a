//! Servers of others that offer tools, resources and prompts (MCP), as plain data.
//!
//! Nothing that comes from such a server is trusted: names, descriptions, results and errors are
//! text from outside. An implementation bounds it and removes control characters; it does not
//! redact it (windlass-secrets) and decides no call (windlass-policy). Not here: how a server is
//! reached (windlass-mcp-client).

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use windlass_types::{Digest, Secret};

use crate::Part;

/// Configured servers. None is started before something is asked of it.
pub trait ToolServers: Send + Sync + 'static {
    /// Every configured server and its state. Starts nothing, waits for nothing.
    fn servers(&self) -> Vec<ServerView>;

    /// Starts all servers that may run, at the same time, each within its own limit. A server that
    /// does not start is shown as failed and tried again later; the others are there.
    fn start(&self) -> BoxFuture<'_, Vec<ServerView>>;

    /// The tools of the servers that could be started, sorted by name; also those in quarantine.
    fn tools(&self) -> BoxFuture<'_, Vec<ServerTool>>;

    /// Calls a tool. Dropping the future cancels the call at the server.
    fn call<'a>(&'a self, call: ServerCall<'a>) -> BoxFuture<'a, Result<ServerReply, ServerError>>;

    /// The resources of a server.
    fn resources<'a>(
        &'a self,
        server: &'a str,
    ) -> BoxFuture<'a, Result<Vec<ServerResource>, ServerError>>;

    /// The contents of a resource.
    fn read_resource<'a>(
        &'a self,
        server: &'a str,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<ServerReply, ServerError>>;

    /// The prompts of a server.
    fn prompts<'a>(
        &'a self,
        server: &'a str,
    ) -> BoxFuture<'a, Result<Vec<ServerPrompt>, ServerError>>;

    /// A prompt with its arguments filled in.
    fn prompt<'a>(
        &'a self,
        server: &'a str,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<ServerReply, ServerError>>;

    /// Accepts a changed tool by the digest of what was shown. A definition that changed again
    /// since stays in quarantine.
    fn accept<'a>(
        &'a self,
        tool: &'a str,
        definition: Digest,
    ) -> BoxFuture<'a, Result<(), ServerError>>;

    /// Signs in to a remote server: the consent opens an address and returns where it led.
    fn sign_in<'a>(
        &'a self,
        server: &'a str,
        consent: &'a dyn Consent,
    ) -> BoxFuture<'a, Result<(), ServerError>>;

    /// Ends every server.
    fn stop(&self) -> BoxFuture<'_, ()>;
}

/// A server and how it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerView {
    /// The name in the settings.
    pub name: String,
    /// The program or the host, without arguments and secrets.
    pub target: String,
    /// How it is.
    pub state: ServerState,
    /// What the server calls itself, once it was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub software: Option<String>,
    /// The protocol revision that is spoken, once it was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// How many tools it offers.
    pub tools: usize,
    /// How many of them are in quarantine.
    pub quarantined: usize,
    /// Lines on its output that were no messages; they are left out.
    pub malformed_lines: u64,
}

/// How a server is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ServerState {
    /// The settings say not to use it.
    Disabled,
    /// Nothing was asked of it yet.
    Idle,
    /// It is being started or reached.
    Starting,
    /// It answers.
    Ready,
    /// It did not start, or it ended. It is tried again by itself.
    Failed {
        /// Why.
        cause: String,
        /// How often in a row.
        attempts: u32,
        /// In how long it is tried again; none: when something is asked of it.
        retry_in: Option<Duration>,
    },
    /// It asks to sign in first.
    SignInRequired,
    /// It was ended.
    Stopped,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerTool {
    /// The name for models: `server__tool`.
    pub name: String,
    /// The server.
    pub server: String,
    /// What the server calls it.
    pub tool: String,
    /// What it does, in the server's words.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// The server's hints. No reason to trust a call.
    pub hints: ToolHints,
    /// The digest of its definition.
    pub definition: Digest,
    /// Whether it may be called.
    pub standing: ToolStanding,
}

/// What a server says about a tool. Hints: a server may lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolHints {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// It reaches out to the world.
    pub open_world: Option<bool>,
}

/// Whether a tool is what it was when it was first seen or last accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum ToolStanding {
    /// It is.
    Pinned,
    /// Its definition has changed. It is not called until the change is accepted.
    Quarantined {
        /// What changed, as a unified diff.
        diff: String,
    },
}

/// A call of a tool.
pub struct ServerCall<'a> {
    /// The name for models: `server__tool`.
    pub tool: &'a str,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// What is kept of the result, and how long it may take.
    pub limits: CallLimits,
    /// Is told of progress.
    pub listener: Option<ProgressListener<'a>>,
}

/// Is told of progress.
pub type ProgressListener<'a> = &'a (dyn Fn(ServerProgress) + Send + Sync);

/// How far a call is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerProgress {
    /// How far.
    pub progress: f64,
    /// Out of how much.
    pub total: Option<f64>,
    /// In the server's words.
    pub message: Option<String>,
}

/// Bounds on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// How much text of a result is kept, in bytes: its beginning and its end.
    pub text: usize,
    /// How much of each picture or file is kept, in bytes of base64. A larger one is left out.
    pub media: usize,
    /// How long it may take.
    pub time: Duration,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            text: 100 * 1024,
            media: 5 * 1024 * 1024,
            time: Duration::from_secs(600),
        }
    }
}

/// What came of a call, a resource or a prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerReply {
    /// Text, pictures and files.
    pub parts: Vec<Part>,
    /// The structured result, where there is one and it is within the limit for text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Whether the server says that the call failed.
    pub is_error: bool,
    /// Bytes that were left out because of the limits.
    pub omitted: u64,
}

/// A resource of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerResource {
    /// Its address.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// Its media type.
    pub media_type: Option<String>,
}

/// A prompt of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerPrompt {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its arguments: name, and whether it must be given.
    pub arguments: Vec<(String, bool)>,
}

/// Why a server did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// No server or tool has this name.
    #[error("no {kind} is called `{name}`")]
    Unknown {
        /// `server` or `tool`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// The server is not there now. Nothing was sent.
    #[error("the MCP server `{server}` is not available: {cause}")]
    Unavailable {
        /// The server.
        server: String,
        /// Why.
        cause: String,
    },
    /// The server ended, or the connection broke, while it was asked. It may have done it.
    #[error("the MCP server `{server}` ended while it was asked: {cause}")]
    Interrupted {
        /// The server.
        server: String,
        /// Why.
        cause: String,
    },
    /// The server did not answer in time. It was told that nobody waits any more.
    #[error("the MCP server `{server}` did not answer within {} s", .limit.as_secs_f64())]
    TimedOut {
        /// The server.
        server: String,
        /// The limit.
        limit: Duration,
    },
    /// The server refused, in its words.
    #[error("the MCP server `{server}` refused: {said} (code {code})")]
    Refused {
        /// The server.
        server: String,
        /// The error code of the protocol.
        code: i32,
        /// What it said.
        said: String,
    },
    /// The tool's definition has changed since it was accepted. Nothing was sent.
    #[error(
        "the tool `{tool}` has changed since it was accepted; look at the change and accept it first"
    )]
    Quarantined {
        /// The tool.
        tool: String,
    },
    /// The server asks to sign in, or for more rights than were given.
    #[error("the MCP server `{server}` asks to sign in{}", wanted(.scope.as_deref()))]
    SignInRequired {
        /// The server.
        server: String,
        /// The rights that it asks for, where it says.
        scope: Option<String>,
    },
    /// Signing in failed.
    #[error("signing in to the MCP server `{server}` failed: {cause}")]
    SignInFailed {
        /// The server.
        server: String,
        /// Why.
        cause: String,
    },
    /// What was accepted or pinned could not be kept.
    #[error("the state of the MCP server `{server}` could not be kept: {cause}")]
    NotKept {
        /// The server.
        server: String,
        /// Why.
        cause: String,
    },
}

fn wanted(scope: Option<&str>) -> String {
    scope.map_or_else(String::new, |scope| format!(" with the rights `{scope}`"))
}

/// Asks the user to sign in.
pub trait Consent: Send + Sync {
    /// Where the sign-in page sends the user back to: an address that this consent listens on.
    fn redirect_address(&self) -> String;

    /// Opens the address for the user, and returns the whole address they were sent back to.
    fn ask<'a>(&'a self, address: &'a str) -> BoxFuture<'a, Result<String, String>>;
}

/// Answers what a server asks the user during a call (elicitation). Without one, every question
/// is declined.
pub trait Questions: Send + Sync + 'static {
    /// Asks the user.
    fn ask(&self, question: ServerQuestion) -> BoxFuture<'_, QuestionAnswer>;
}

/// What a server asks the user.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerQuestion {
    /// The server.
    pub server: String,
    /// The question, in the server's words.
    pub message: String,
    /// The JSON Schema of the form.
    pub schema: Value,
}

/// The user's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionAnswer {
    /// The form, filled in.
    Accept(Map<String, Value>),
    /// No.
    Decline,
    /// No answer.
    Cancel,
}

/// Keeps the tokens of remote servers. Their text is opaque, and secret.
pub trait ServerTokens: Send + Sync + 'static {
    /// The tokens of a server.
    fn load(&self, server: &str) -> Result<Option<Secret<String>>, String>;
    /// Keeps them.
    fn save(&self, server: &str, tokens: Secret<String>) -> Result<(), String>;
    /// Forgets them.
    fn clear(&self, server: &str) -> Result<(), String>;
}

/// Keeps the definitions of tools as they were accepted. Their text is opaque.
pub trait ToolPins: Send + Sync + 'static {
    /// What was kept of a server.
    fn load(&self, server: &str) -> Result<Option<String>, String>;
    /// Keeps it.
    fn save(&self, server: &str, pins: String) -> Result<(), String>;
}
