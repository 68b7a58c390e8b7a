//! Scripts of a stack's config: files and commands that run on this machine, with
//! tunnels to its databases where they ask for them, and commands that run on its bastion.
//!
//! A script is given what the deployed stack knows (connectTo, `$ResourceParam`, secrets) as
//! variables, and the permissions of a resource where it asks for them. What it prints is redacted
//! before it is shown. [`Values`] and [`Program`] also serve other programs of a config.
//! Not here: when hooks run and what their failure means (windlass-stack), functions that are
//! called during a deploy.

mod bastion;
mod environment;
mod expression;
mod failure;
mod hooks;
mod interpreter;
mod program;
mod remote;
mod role;
mod run;
mod tail;
mod tunnels;
mod values;

pub use environment::{Environment, read_pairs};
pub use hooks::{Moment, due};
pub use interpreter::Interpreters;
pub use program::{Ending, Listener, Program, follow};
pub use run::{ScriptCall, ScriptOutcome, run};
pub use tail::Tail;
pub use values::{Audience, Resolved, Values};
