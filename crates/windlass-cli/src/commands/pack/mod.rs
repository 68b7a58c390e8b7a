//! `windlass pack`: agent configuration, deployed to the tools that read it.
//!
//! Each command builds the input of one operation, sees to the yes it needs, and shows the
//! answer. Nothing about manifests, targets or overlays is decided here. Also the whole command
//! line when the binary is started as `agentpack`.

mod add;
mod bootstrap;
mod completions;
mod consent;
mod context;
mod deploy;
mod diff;
mod doctor;
mod evolve;
mod explain;
mod fetch;
mod guided;
mod help;
mod import;
mod init;
mod lock;
mod mcp;
mod options;
mod overlay;
mod plan;
mod policy;
mod preview;
mod program;
mod record;
mod remote;
mod remove;
mod rollback;
mod schema;
mod score;
mod show;
mod snapshots;
mod status;
mod sync;
mod tui;
mod undo;
mod uninstall;
mod update;
mod watch;
mod wire;

use std::cell::RefCell;

use clap::{Args, Subcommand, builder::PossibleValuesParser};
use windlass_config::env;
use windlass_types::Problem;

use self::{
    context::Context,
    show::{Places, View},
};
use crate::{
    Host, OpenOptions,
    cli::Need,
    output::Printer,
    session::{Report, Session},
};

pub(crate) use options::PackOptions;
pub(crate) use program::Program;
use wire::Wire;
pub(crate) use wire::{EXIT_NOTES, PackOutcome};

#[cfg(test)]
mod call_tests;
#[cfg(test)]
mod pack_tests;

// Everything behind `windlass pack`.
#[derive(Args, Debug)]
#[command(
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true
)]
pub(crate) struct PackArgs {
    #[command(flatten)]
    options: PackOptions,
    #[command(subcommand)]
    command: PackCommand,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum PackCommand {
    /// Create a configuration repository.
    Init(init::InitArgs),
    /// Import what the tools already have into the repository.
    Import(import::ImportArgs),
    /// Add a module to the manifest.
    Add(add::AddArgs),
    /// Remove a module from the manifest.
    Remove(remove::RemoveArgs),
    /// Pin every module's source in the lockfile.
    Lock(lock::LockArgs),
    /// Fetch the sources the lockfile pins.
    Fetch(fetch::FetchArgs),
    /// Lock where needed, then fetch.
    Update(update::UpdateArgs),
    /// Show what deploying would change.
    Plan(plan::PlanArgs),
    /// Show the differences that deploying would make.
    Diff(diff::DiffArgs),
    /// Show the plan, with differences if asked.
    Preview(preview::PreviewArgs),
    /// Show the plan, and apply it with --apply.
    Deploy(deploy::DeployArgs),
    /// Show where deployed files were changed, are missing, or are extra.
    Status(status::StatusArgs),
    /// Plan, or deploy, whenever the repository changes.
    Watch(watch::WatchArgs),
    /// Restore the state after an earlier deployment.
    Rollback(rollback::RollbackArgs),
    /// Restore the state before an event.
    Undo(undo::UndoArgs),
    /// Remove everything pack deployed.
    Uninstall(uninstall::UninstallArgs),
    /// List, show and prune what rollback and undo work from.
    #[command(subcommand)]
    Snapshots(snapshots::SnapshotsCommand),
    /// Check directories, ignore rules and the repository.
    Doctor(doctor::DoctorArgs),
    /// Show which module and layer each file comes from.
    #[command(subcommand)]
    Explain(explain::ExplainCommand),
    /// Keep edits made to deployed files, or restore missing ones.
    #[command(subcommand)]
    Evolve(evolve::EvolveCommand),
    /// Edit, rebase and locate overlays.
    #[command(subcommand)]
    Overlay(overlay::OverlayCommand),
    /// Install the files that let agents operate pack.
    Bootstrap(bootstrap::BootstrapArgs),
    /// Set the remote of the repository.
    #[command(subcommand)]
    Remote(remote::RemoteCommand),
    /// Pull and push the repository.
    Sync(sync::SyncArgs),
    /// Record an event, given as JSON on standard input.
    Record(record::RecordArgs),
    /// Rank modules by recorded failures.
    Score(score::ScoreArgs),
    /// Check the repository against rules, audit and pin its sources.
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// Serve the pack tools to MCP clients.
    #[command(subcommand)]
    Mcp(mcp::McpCommand),
    /// Browse plan, drift and history in a terminal UI; apply and undo from there.
    Tui(tui::TuiArgs),
    /// Describe every command.
    Help(help::HelpArgs),
    /// Describe the JSON that commands print.
    Schema(schema::SchemaArgs),
    /// Print a completion script for a shell.
    Completions(completions::CompletionsArgs),
}

impl PackArgs {
    /// What the command needs around it.
    pub(crate) const fn need(&self) -> Need {
        use PackCommand as C;
        match &self.command {
            C::Deploy(args) if args.apply => Need::Long,
            C::Watch(_)
            | C::Rollback(_)
            | C::Undo(_)
            | C::Uninstall(_)
            | C::Bootstrap(_)
            | C::Evolve(_)
            | C::Overlay(_)
            | C::Mcp(_)
            | C::Tui(_) => Need::Long,
            _ => Need::Short,
        }
    }

    /// Whether the command draws on the whole terminal, where log lines would be in the way.
    pub(crate) const fn fills_the_terminal(&self) -> bool {
        matches!(self.command, PackCommand::Tui(_))
    }

    /// Everything that can be answered or must be refused before anything is opened or read.
    pub(crate) fn before_opening(
        &self,
        host: &dyn Host,
        printer: &Printer,
        program: Program,
    ) -> Result<Option<Report>, Problem> {
        match &self.command {
            PackCommand::Help(args) => return args.run(host, printer, program).map(Some),
            PackCommand::Schema(args) => return Ok(Some(args.run(printer))),
            PackCommand::Completions(args) => return Ok(Some(args.run(printer, program))),
            PackCommand::Init(args) => args.needs_a_terminal(printer)?,
            PackCommand::Tui(_) => tui::needs_a_terminal(printer)?,
            _ => {}
        }
        self.refuse_without_yes(printer)?;
        Ok(None)
    }

    /// Does it.
    pub(crate) async fn run(
        self,
        session: &Session,
        host: &dyn Host,
        open: &OpenOptions,
    ) -> Result<Report, Problem> {
        use PackCommand as C;
        let mut options = self.options;
        if matches!(self.command, C::Rollback(_)) {
            // A snapshot knows its own profile and machine.
            (options.profile, options.machine) = (None, None);
        }
        let context = &Context {
            session,
            open,
            options,
            view: View {
                paint: session.printer.paint(),
                places: Places::find(
                    open.environment.path(&env::HOME),
                    std::env::current_dir().ok(),
                ),
                program: open.program.clone(),
            },
            warned: RefCell::default(),
        };
        match self.command {
            C::Init(args) => args.run(context).await,
            C::Import(args) => args.run(context).await,
            C::Add(args) => args.run(context).await,
            C::Remove(args) => args.run(context).await,
            C::Lock(args) => args.run(context).await,
            C::Fetch(args) => args.run(context).await,
            C::Update(args) => args.run(context).await,
            C::Plan(args) => args.run(context).await,
            C::Diff(args) => args.run(context).await,
            C::Preview(args) => args.run(context).await,
            C::Deploy(args) => args.run(context).await,
            C::Status(args) => args.run(context).await,
            C::Watch(args) => args.run(context).await,
            C::Rollback(args) => args.run(context).await,
            C::Undo(args) => args.run(context).await,
            C::Uninstall(args) => args.run(context).await,
            C::Snapshots(command) => command.run(context).await,
            C::Doctor(args) => args.run(context).await,
            C::Explain(command) => command.run(context).await,
            C::Evolve(command) => command.run(context).await,
            C::Overlay(command) => command.run(context).await,
            C::Bootstrap(args) => args.run(context).await,
            C::Remote(command) => command.run(context).await,
            C::Sync(args) => args.run(context).await,
            C::Record(args) => args.run(context).await,
            C::Score(args) => args.run(context).await,
            C::Policy(command) => command.run(context).await,
            C::Mcp(command) => command.run(session, host, open).await,
            C::Tui(args) => args.run(context, host).await,
            C::Help(_) | C::Schema(_) | C::Completions(_) => {
                Err(Problem::internal("dispatch", "the command needs no engine"))
            }
        }
    }
}

/// The layers an overlay can lie in.
fn overlay_scopes() -> PossibleValuesParser {
    PossibleValuesParser::new(["global", "machine", "project"])
}
