//! The command line: arguments in, operations called, answers rendered.
//!
//! Holds arguments, help, output, following runs, the tour and the generated reference. Decides
//! nothing about changes: it calls the operation catalogue like every other surface. Knows no
//! adapter and no server; the binary provides those as a [`Host`] and calls [`run`].

mod cli;
mod commands;
mod dispatch;
mod early;
mod exit;
mod flow;
mod host;
mod interrupt;
mod output;
mod reference;
mod session;
mod tour;

pub use dispatch::run;
pub use host::{
    Advice, Announce, Host, HttpRequest, McpRequest, OpenOptions, Opened, ShortPath, ToolList,
    Toolsets, TuiRequest,
};
pub use interrupt::Interrupt;
