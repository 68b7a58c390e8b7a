//! `windlass stack info`: what is deployed, what was done, and the AWS identity in use.

pub(super) mod operations;
pub(super) mod stack;
pub(super) mod stacks;
pub(super) mod whoami;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum InfoCommand {
    /// Show a stack: status, outputs, resources, and what holds it up.
    Stack(stack::InfoStackArgs),
    /// List the stacks of a region.
    Stacks(stacks::InfoStacksArgs),
    /// List what was done to stacks, from here and elsewhere.
    Operations(operations::InfoOperationsArgs),
    /// Show the current AWS identity.
    Whoami(whoami::InfoWhoamiArgs),
}
