//! The command line: arguments in, operations called, answers rendered.
//!
//! Holds arguments, help, output and following runs. Decides nothing about changes: it calls the
//! operation catalogue like every other surface. Knows no adapter, no server and no other surface;
//! the binary provides those as a [`Host`] and calls [`run`].

mod cli;
mod commands;
mod completion;
mod dispatch;
mod early;
mod exit;
mod flow;
mod group;
mod host;
mod interrupt;
mod output;
mod outward;
mod session;

#[cfg(test)]
mod no_host;

pub use dispatch::run;
pub use exit::meanings as exit_codes;
pub use host::{
    Advice, Announce, Host, HttpRequest, McpRequest, OpenOptions, Opened, ShortPath, ToolList,
    Toolsets, TourAnswer, TourPart, TourRequest, TuiRequest,
};
pub use interrupt::Interrupt;

/// The argument tree, for documents that are made from it.
pub fn command() -> clap::Command {
    <cli::Cli as clap::CommandFactory>::command()
}
