//! `windlass stack dev`: the stack on this machine. Without a further word it is started and
//! watched; the session continues when the watching ends.

pub(super) mod live;
pub(super) mod logs;
pub(super) mod rebuild;
pub(super) mod start;
pub(super) mod status;
pub(super) mod stop;

use clap::{Args, Subcommand};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct DevArgs {
    #[command(flatten)]
    pub(super) live: live::LiveArgs,
    #[command(subcommand)]
    pub(super) command: Option<DevCommand>,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum DevCommand {
    /// Start the stack on this machine and return once it is ready.
    Start(start::StartArgs),
    /// Show the state and address of each workload and database.
    Status(status::StatusArgs),
    /// Show lines of the session's log.
    Logs(logs::LogsArgs),
    /// Build workloads again.
    Rebuild(rebuild::RebuildArgs),
    /// End the session and everything in it.
    Stop(stop::StopArgs),
}
