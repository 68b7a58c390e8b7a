//! What a session gives its tools: places, ports, bounds.

use std::{ffi::OsString, fmt, sync::Arc};

use tokio_util::sync::CancellationToken;
use windlass_ports::{
    BlobStore, BoxFuture, Clock, Entropy, Outbound, Sandbox, sandbox::Confinement,
};
use windlass_types::Secret;

use crate::{Places, Spills, Tasks};

/// Everything a call may use. Made once for a session; `cancel` and `progress` are of one call.
#[derive(Clone)]
pub struct Context {
    /// The directories.
    pub places: Arc<Places>,
    /// Where earlier contents of files are kept for undo.
    pub blobs: Arc<dyn BlobStore>,
    /// Where long output goes. For `view` to show it, the places have it as a readable directory.
    pub spills: Arc<Spills>,
    /// Hides secrets in output, before it is kept anywhere.
    pub hiding: Arc<dyn Hiding>,
    /// Keeps new secrets.
    pub secrets: Option<Arc<dyn Secrets>>,
    /// Confines commands; without it they run as the user.
    pub sandbox: Option<CommandSandbox>,
    /// The environment commands start from: the caller leaves out what holds credentials.
    pub environment: Arc<[(OsString, OsString)]>,
    /// Commands in the background.
    pub tasks: Arc<Tasks>,
    /// HTTP.
    pub outbound: Option<Arc<dyn Outbound>>,
    /// Documentation.
    pub docs: Option<Arc<dyn Docs>>,
    /// Skills.
    pub skills: Option<Arc<dyn Skills>>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Whether policy let this call read outside the session's directories.
    pub may_read_outside: bool,
    /// Whether there is a person to ask.
    pub is_attended: bool,
    /// Stops the call.
    pub cancel: CancellationToken,
    /// Told what happens while the call runs.
    pub progress: Option<Watcher>,
}

impl fmt::Debug for Context {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Context")
            .field("places", &self.places)
            .finish_non_exhaustive()
    }
}

/// Told what happens while a call runs.
pub type Watcher = Arc<dyn Fn(Progress<'_>) + Send + Sync>;

/// Confinement of commands.
#[derive(Clone)]
pub struct CommandSandbox {
    /// What enforces it.
    pub sandbox: Arc<dyn Sandbox>,
    /// What commands may touch. The directory is replaced by the call's.
    pub confinement: Confinement,
}

/// A stream of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Its output.
    Out,
    /// Its messages.
    Err,
}

/// What happens while a call runs; in no journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// A command wrote something; secrets are hidden.
    Output(Stream, &'a [u8]),
    /// A command has written nothing for some time.
    Silent,
}

/// Hides secrets in output.
pub trait Hiding: Send + Sync {
    /// Begins a text that arrives in pieces: a secret may be cut anywhere.
    fn begin(&self) -> Box<dyn Veil>;
}

/// Hides secrets in one text.
pub trait Veil: Send {
    /// Takes a piece and adds what can be told by now.
    fn push(&mut self, piece: &[u8], told: &mut Vec<u8>);

    /// Adds what was held back.
    fn finish(&mut self, told: &mut Vec<u8>);
}

/// Keeps secrets that tools make.
pub trait Secrets: Send + Sync {
    /// Keeps a value and returns the marker that takes its place wherever it would be told.
    fn keep(&self, kind: &str, value: Secret<String>) -> Result<String, String>;
}

/// A search over documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocQuery {
    /// What is looked for.
    pub keywords: Vec<String>,
    /// What must not be in an answer.
    pub exclude: Vec<String>,
    /// The most answers.
    pub limit: usize,
}

/// A passage that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocHit {
    /// Its heading.
    pub title: String,
    /// Where it is.
    pub address: String,
    /// Its text.
    pub text: String,
}

/// Documentation.
pub trait Docs: Send + Sync {
    /// The best passages, best first.
    fn search(&self, query: DocQuery) -> BoxFuture<'_, Result<Vec<DocHit>, String>>;
}

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillText {
    /// Its name.
    pub name: String,
    /// Its instructions.
    pub text: String,
}

/// Skills.
pub trait Skills: Send + Sync {
    /// The skill at an address that the session was told about.
    fn load<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<SkillText, String>>;
}
