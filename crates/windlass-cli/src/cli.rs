//! The top of the argument tree: global flags and the list of commands.

use std::{ffi::OsString, path::PathBuf};

use clap::{
    ArgAction, Args, Parser, Subcommand,
    builder::{PossibleValuesParser, Styles, TypedValueParser as _, styling::AnsiColor},
};
use windlass_config::LogFormat;
use windlass_types::Problem;

use crate::{
    Host, OpenOptions,
    commands::{
        audit::AuditArgs,
        completions::CompletionsArgs,
        demo::DemoCommand,
        doctor::DoctorArgs,
        errors::ErrorsArgs,
        internal::InternalCommand,
        keys::KeysCommand,
        launch::{self, LaunchCommand},
        man::ManArgs,
        mcp::McpCommand,
        ops::OpsCommand,
        pack::{self, PackArgs, PackOutcome},
        pipeline::PipelineCommand,
        policy::PolicyCommand,
        rules::RulesCommand,
        runs::RunsCommand,
        sandbox::SandboxArgs,
        serve::ServeArgs,
        stack::{self, DocsArgs, StackCommand, StackOutcome},
        store::StoreCommand,
        tour::TourArgs,
        trust::{TrustArgs, TrustedArgs, UntrustArgs},
        webhooks::WebhooksCommand,
    },
    dispatch::Failure,
    group::Group,
    output::{ColorChoice, Mode, Options, Printer},
    outward::{Outward, Own},
    session::{Report, Session},
};

pub(crate) use crate::commands::pack::Program;

pub(crate) const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

const AFTER_HELP: &str = "\
Start here:
  windlass tour            a change planned, confirmed, killed halfway, resumed and rolled back
  windlass mcp serve       offer the operations to an MCP client on standard input and output
  windlass ops list        every operation, as the command line, MCP and HTTP offer it";

/// Plan, confirm, apply: durable operations that survive crashes and can be rolled back.
///
/// Every change is planned first, confirmed by a token bound to that exact plan, and applied by
/// a durable run whose journal survives a crash of any process.
#[derive(Debug, Parser)]
#[command(
    name = "windlass",
    version,
    styles = STYLES,
    after_help = AFTER_HELP,
    arg_required_else_help = true,
    subcommand_required = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
    /// The name the binary was started under.
    #[arg(skip)]
    pub(crate) program: Program,
}

// Flags that every command takes.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// Print one JSON document on standard output, and nothing else there.
    #[arg(long, global = true, conflicts_with = "agent")]
    pub(crate) json: bool,
    /// Print events as they happen, one JSON object per line; the result is the last line.
    #[arg(long, global = true)]
    pub(crate) agent: bool,
    /// Print nothing but data and failures.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Log more to standard error; repeat for even more.
    #[arg(long, short, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// How log lines are written.
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        value_parser = PossibleValuesParser::new(["human", "json"]).try_map(|text| text.parse::<LogFormat>())
    )]
    pub(crate) log_format: Option<LogFormat>,
    /// The directory that holds store, keys, settings and policy. Default: WINDLASS_HOME, or
    /// `.windlass` in your home directory.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) color: ColorChoice,
}

impl Globals {
    pub(crate) const fn printing(&self) -> Options {
        let mode = match (self.json, self.agent) {
            (true, _) => Mode::Json,
            (_, true) => Mode::Agent,
            _ => Mode::Human,
        };
        Options {
            mode,
            quiet: self.quiet,
            color: self.color,
        }
    }
}

/// Every command.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// List, describe and call operations.
    #[command(subcommand)]
    Ops(Group<OpsCommand>),
    /// Watch, control and inspect runs.
    #[command(subcommand)]
    Runs(Group<RunsCommand>),
    /// Change a scratch directory, durably: the built-in example.
    #[command(subcommand)]
    Demo(Group<DemoCommand>),
    /// Deploy agent configuration to the tools that read it.
    ///
    /// One repository holds instructions, skills, prompts and commands; pack renders them for
    /// each tool, shows what would change, and applies it so that it can be undone.
    Pack(PackArgs),
    /// Launch a product on a site: pages with evidence, checked, fixed, as a pull request.
    ///
    /// A product repository is read, facts are collected with the lines that prove them, pages
    /// are written into a copy of the site, gates check them, and what they find is fixed.
    /// Nothing is published before `windlass launch open-pr`.
    #[command(subcommand)]
    Launch(Group<LaunchCommand>),
    /// Turn a product spec into requirements, architecture, UX and a project that builds.
    ///
    /// Works by rules, without a model or a network, so that the same spec produces the same bytes;
    /// `[pipeline]` in the settings names a model. Every item names the part of the spec it comes
    /// from, and what was left out is reported.
    #[command(subcommand)]
    Pipeline(Group<PipelineCommand>),
    /// Deploy AWS stacks from one config, inspect them, and run them on this machine.
    ///
    /// Reads stacktape.yml, .yaml, .ts or .js. Every change is a durable run: it survives a kill
    /// of this command and continues with what CloudFormation does. Inspecting is read-only, by
    /// enforcement. `windlass stack dev` needs no AWS account.
    #[command(subcommand)]
    Stack(Group<StackCommand>),
    /// Ask the documentation; the answer cites its sources.
    Docs(DocsArgs),
    /// Serve MCP clients.
    #[command(subcommand)]
    Mcp(Group<McpCommand>),
    /// Run the daemon: drive runs, serve the HTTP API and MCP.
    Serve(ServeArgs),
    /// Create, list and revoke API keys.
    #[command(subcommand)]
    Keys(Group<KeysCommand>),
    /// Show webhook deliveries and send them again.
    #[command(subcommand)]
    Webhooks(Group<WebhooksCommand>),
    /// Show who called what, and with what result.
    Audit(AuditArgs),
    /// Show the policy and test what it would decide.
    #[command(subcommand)]
    Policy(Group<PolicyCommand>),
    /// Test what the rules about commands decide.
    #[command(subcommand)]
    Rules(Group<RulesCommand>),
    /// Run a program that can only touch what you allow, enforced by the kernel.
    ///
    /// Without options it may change the current directory, read everything but credentials, and
    /// connect to nothing. Its exit code is passed on. What this machine cannot enforce is refused.
    Sandbox(SandboxArgs),
    /// Let programs of a directory run: hooks, filters, configs that are code, bundlers, scripts.
    Trust(TrustArgs),
    /// Stop trusting a directory: its programs no longer run.
    Untrust(UntrustArgs),
    /// List the directories whose programs may run, and whether they changed since.
    Trusted(TrustedArgs),
    /// Back up, check and prune the store.
    #[command(subcommand)]
    Store(Group<StoreCommand>),
    /// Explain an error code, or list all of them.
    Errors(ErrorsArgs),
    /// Check this installation and suggest fixes.
    Doctor(DoctorArgs),
    /// See a durable change from plan to rollback, with a crash in between.
    Tour(TourArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Write the manual pages into a directory.
    Man(ManArgs),
    /// Work on Windlass itself.
    #[command(subcommand, hide = true)]
    Internal(InternalCommand),
}

/// What a command needs around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// An engine for a moment; dropped when interrupted.
    Short,
    /// An engine for as long as it takes; ends gracefully when interrupted.
    Long,
}

impl Command {
    /// How its outcome looks to programs.
    pub(crate) fn outward(&self, program: Program, host: &dyn Host) -> Box<dyn Outward> {
        match self {
            Self::Pack(args) => Box::new(PackOutcome::of_command(args, program, host)),
            Self::Stack(command) => or_own(StackOutcome::of_command(command, host), host),
            _ => or_own(None::<Own>, host),
        }
    }

    /// The same of a command line that was not understood.
    pub(crate) fn outward_of_arguments(
        program: Program,
        args: &[OsString],
        host: &dyn Host,
    ) -> Box<dyn Outward> {
        match PackOutcome::of_arguments(program, args, host) {
            Some(outcome) => Box::new(outcome),
            None => or_own(StackOutcome::of_arguments(args, host), host),
        }
    }

    /// Whether the command draws on the whole terminal, where log lines would be in the way.
    pub(crate) const fn fills_the_terminal(&self) -> bool {
        matches!(self, Self::Pack(args) if args.fills_the_terminal())
    }

    /// What can be answered or must be refused before anything is opened or read.
    pub(crate) fn before_opening(
        &self,
        host: &dyn Host,
        printer: &Printer,
        program: Program,
    ) -> Result<Option<Report>, Problem> {
        match self {
            Self::Pack(args) => args.before_opening(host, printer, program),
            _ => Ok(None),
        }
    }

    /// What the command needs around it.
    pub(crate) fn need(&self) -> Need {
        match self {
            Self::Mcp(_) | Self::Serve(_) | Self::Stack(_) => Need::Long,
            Self::Ops(command) => command.need(),
            Self::Runs(command) => command.need(),
            Self::Demo(command) => command.need(),
            Self::Pack(args) => args.need(),
            Self::Launch(command) => command.need(),
            Self::Pipeline(command) => command.need(),
            Self::Store(command) => command.need(),
            Self::Webhooks(command) => command.need(),
            _ => Need::Short,
        }
    }

    /// Does it, on an open installation.
    pub(crate) async fn run(
        self,
        session: &Session,
        host: &dyn Host,
        options: &OpenOptions,
    ) -> Result<Report, Failure> {
        let report = match self {
            Self::Ops(command) => return command.0.run(session).await,
            Self::Launch(command) => return command.0.run(session).await,
            Self::Pipeline(command) => return command.0.run(session).await,
            Self::Stack(command) => return command.0.run(session).await,
            Self::Docs(args) => return args.answer(session).await,
            Self::Runs(command) => command.0.run(session).await,
            Self::Demo(command) => command.0.run(session).await,
            Self::Pack(args) => args.run(session, host, options).await,
            Self::Mcp(command) => command.0.run(session, host, options).await,
            Self::Serve(args) => args.run(session, host, options).await,
            Self::Keys(command) => command.0.run(session).await,
            Self::Webhooks(command) => command.0.run(session).await,
            Self::Audit(args) => args.run(session).await,
            Self::Policy(command) => command.0.run(session, options).await,
            Self::Rules(command) => command.0.run(session, options),
            Self::Trust(args) => args.run(session).await,
            Self::Untrust(args) => args.run(session).await,
            Self::Trusted(args) => args.run(session).await,
            Self::Store(command) => command.0.run(session, options).await,
            Self::Internal(command) => command.run(session, host),
            Self::Errors(_)
            | Self::Doctor(_)
            | Self::Sandbox(_)
            | Self::Tour(_)
            | Self::Completions(_)
            | Self::Man(_) => Err(Problem::internal("dispatch", "the command needs no engine")),
        };
        Ok(report?)
    }
}

/// An outcome in the form of a contract, or in Windlass's own.
fn or_own<T: Outward + 'static>(outcome: Option<T>, host: &dyn Host) -> Box<dyn Outward> {
    match outcome {
        Some(outcome) => Box::new(outcome),
        None => Box::new(Own {
            line_contract: host.line_contract(),
        }),
    }
}

/// What groups of commands say about exit codes, besides what holds for all.
pub(crate) fn exit_notes() -> impl Iterator<Item = (u8, &'static str)> {
    [pack::EXIT_NOTES, stack::EXIT_NOTES, launch::EXIT_NOTES]
        .into_iter()
        .flatten()
        .copied()
}

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
