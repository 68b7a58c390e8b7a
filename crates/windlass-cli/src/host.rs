//! What the command line asks of the binary: the only place that knows adapters and servers.

use std::{
    ffi::{OsStr, OsString},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use serde_json::Value;
use windlass_config::{Environment, Home, Settings};
use windlass_engine::{contract::Contract, operation::Catalogue};
use windlass_ports::{BoxFuture, Sandbox};
use windlass_secrets::Redactor;
use windlass_types::{Principal, Problem};

use crate::Interrupt;

/// Where and how to open an installation.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// How the group of commands is called that has a program name of its own; its suggested
    /// commands begin with it.
    pub program: String,
    /// The home: `--home`, or what the environment names.
    pub home: Home,
    /// The environment as it was at start-up.
    pub environment: Environment,
    /// The settings file, with the environment and the flags applied.
    pub settings: Settings,
    /// The redaction pass, which logs already go through; the engine must use the same one.
    pub redactor: Arc<Redactor>,
    /// Whether to look only: nothing is made or written, and nobody who writes is waited for.
    pub reads_only: bool,
}

/// An open installation.
#[derive(Clone)]
pub struct Opened {
    /// Every operation, and the engine behind them.
    pub catalogue: Catalogue,
    /// The user of the command line.
    pub principal: Principal,
}

/// How tools are offered to MCP clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ToolList {
    /// One tool per operation.
    #[default]
    Full,
    /// A few tools that find, describe and call the others.
    Lean,
}

/// Which toolsets are offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Toolsets {
    /// All but those that are offered on request only.
    #[default]
    Default,
    /// Those of these names, which exist.
    Named(Vec<String>),
}

/// An MCP server on standard input and output.
#[derive(Clone, Debug)]
pub struct McpRequest {
    /// Which toolsets are offered.
    pub toolsets: Toolsets,
    /// How tools are offered.
    pub tools: ToolList,
    /// Whether the fixtures of the conformance suite are offered instead; test builds only.
    pub fixtures: bool,
    /// The project calls work in.
    pub project: Option<PathBuf>,
    /// When to stop.
    pub shutdown: Interrupt,
}

/// Called once with the address a server listens on, e.g. `http://127.0.0.1:7717/mcp`.
pub type Announce = Arc<dyn Fn(&str) + Send + Sync>;

/// A server on a TCP port.
#[derive(Clone)]
pub struct HttpRequest {
    /// The address to listen on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Which toolsets are offered over MCP.
    pub toolsets: Toolsets,
    /// How tools are offered over MCP.
    pub tools: ToolList,
    /// Whether callers need no API key and act as the local user.
    pub no_auth: bool,
    /// Whether the HTTP API is served.
    pub api: bool,
    /// Whether MCP is served.
    pub mcp: bool,
    /// Whether the fixtures of the conformance suite are offered instead; test builds only.
    pub fixtures: bool,
    /// The project calls work in.
    pub project: Option<PathBuf>,
    /// The home, where the server's own keys are.
    pub home: Home,
    /// The settings: hosts, origins, limits, time and size limits.
    pub settings: Settings,
    /// Called with the address once the server listens.
    pub announce: Announce,
    /// When to stop.
    pub shutdown: Interrupt,
}

/// Writes a path the way a person would here.
pub type ShortPath = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Says what to do about a failure, one thing per text.
pub type Advice = Arc<dyn Fn(&Problem) -> Vec<String> + Send + Sync>;

/// A screen in this terminal.
#[derive(Clone)]
pub struct TuiRequest {
    /// The name commands are suggested under.
    pub program: String,
    /// The repository, profile, target and machine that were given, as fields of an object.
    pub arguments: Value,
    /// Ties every call of the screen together.
    pub request_id: String,
    /// The directory calls work in.
    pub directory: Option<PathBuf>,
    /// Whether colours are used.
    pub colour: bool,
    /// Whether nothing may be written.
    pub read_only: bool,
    /// Writes paths.
    pub short_path: ShortPath,
    /// Says what to do about failures.
    pub advice: Advice,
    /// When to stop.
    pub shutdown: Interrupt,
}

/// The tour in this terminal.
pub struct TourRequest<'a> {
    /// Which chapters.
    pub part: TourPart,
    /// Whether the tour's home and directory stay.
    pub keep: bool,
    /// Prints one line.
    pub line: &'a dyn Fn(&str),
    /// Waits for the reader before a command runs; none where nobody can answer.
    pub wait: Option<&'a dyn Fn() -> TourAnswer>,
    /// Whether colours are used.
    pub colour: bool,
}

/// Which part of the tour is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TourPart {
    /// The first chapter.
    Beginning,
    /// The chapter of this number, from 1.
    Chapter(usize),
    /// Every chapter.
    All,
}

/// What the reader of the tour wants when a command is about to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TourAnswer {
    /// Run it.
    Continue,
    /// Run it and all others, without asking.
    RunAll,
    /// End the tour.
    Leave,
}

/// What the binary provides.
pub trait Host: Send + Sync {
    /// The contract of a toolset, which shapes what its commands print for programs, also before
    /// anything is opened.
    fn contract(&self, toolset: &str) -> &'static dyn Contract;

    /// The contract that names the codes in the last line of `--agent`, whatever the command.
    fn line_contract(&self) -> &'static dyn Contract;

    /// Opens the installation: store, policy, keys, domains. Called inside a Tokio runtime.
    /// Starts no driver; the command line does where a command needs one.
    fn open<'a>(&'a self, options: &'a OpenOptions) -> BoxFuture<'a, Result<Opened, Problem>>;

    /// Serves MCP on standard input and output until the client closes it or `shutdown`.
    fn serve_stdio<'a>(
        &'a self,
        opened: Opened,
        request: McpRequest,
    ) -> BoxFuture<'a, Result<(), Problem>>;

    /// Serves HTTP until `shutdown`, then lets calls in progress end.
    fn serve_http<'a>(
        &'a self,
        opened: Opened,
        request: HttpRequest,
    ) -> BoxFuture<'a, Result<(), Problem>>;

    /// Shows the screen until it is left or `shutdown`. Standard input and output are a
    /// terminal.
    fn show_tui<'a>(
        &'a self,
        opened: Opened,
        request: TuiRequest,
    ) -> BoxFuture<'a, Result<(), Problem>>;

    /// Holds the session of local development that a plan file describes until it is stopped.
    /// Called inside a runtime with several threads.
    fn run_dev_manager<'a>(
        &'a self,
        options: &'a OpenOptions,
        plan: &'a Path,
    ) -> BoxFuture<'a, Result<(), Problem>>;

    /// What confines programs here; bubblewrap is looked for in `path`.
    fn sandbox(&self, path: Option<&OsStr>) -> Arc<dyn Sandbox>;

    /// Runs a stage of the sandbox: what a command that was prepared starts this program with.
    fn enter_sandbox(&self, arguments: &[OsString]) -> ExitCode;

    /// Serves a CloudFormation for the tour until the process is killed, after printing its
    /// address.
    fn serve_double<'a>(&'a self) -> BoxFuture<'a, Result<(), Problem>>;

    /// Plays the tour; what was run, for programs.
    fn play_tour(&self, request: TourRequest<'_>) -> Result<Value, Problem>;

    /// Every generated document, by its path from the root of the repository.
    fn generate(&self, catalogue: &Catalogue) -> Result<Vec<(PathBuf, String)>, Problem>;

    /// The manual pages, by file name.
    fn man_pages(&self) -> Result<Vec<(String, String)>, Problem>;

    /// A page of Markdown about a command, whose tree is built, and those below it.
    fn command_page(&self, command: &clap::Command, name: &str) -> String;
}
