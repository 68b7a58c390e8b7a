//! The pack screen: plan, drift and history of a configuration repository, in a terminal.
//!
//! `update` decides (an event in, effects out), `view` draws, `calls` and `read` talk to the
//! operation catalogue, `screen` owns the terminal. Nothing about manifests, targets or plans is
//! decided here, and nothing is written without a yes to a question on the screen.

mod calls;
mod drive;
mod event;
mod listing;
mod question;
mod read;
mod screen;
mod state;
mod text;
mod update;
mod view;

use std::{path::PathBuf, sync::Arc};

use serde_json::Value;
use windlass_types::{Principal, Problem};

pub use screen::run;

/// Writes a path the way a person would here.
pub type ShortPath = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Says what to do about a failure, one thing per text.
pub type Advice = Arc<dyn Fn(&Problem) -> Vec<String> + Send + Sync>;

/// What the screen shows, to whom.
#[derive(Clone)]
pub struct Options {
    /// How the program is called, e.g. `windlass pack`.
    pub program: String,
    /// The repository, profile, target and machine that were given, as fields of an object.
    pub arguments: Value,
    /// The user.
    pub principal: Principal,
    /// Ties every call of this screen together.
    pub request_id: String,
    /// The directory calls work in.
    pub directory: Option<PathBuf>,
    /// Whether colours are used; without them signs and emphasis remain.
    pub colour: bool,
    /// Whether nothing may be written.
    pub read_only: bool,
    /// Writes paths.
    pub short_path: ShortPath,
    /// Says what to do about failures.
    pub advice: Advice,
}
