//! What a stack config says.
//!
//! A `stacktape.yml` (or `.ts`, `.js`) is read with positions, its directives are resolved, and
//! it becomes a typed [`Config`], or a list of faults that name file, line and column. Nothing is
//! asked of the world but through what callers hand in: files beneath the project, programs,
//! other stacks' outputs. Not here: CloudFormation, packaging, AWS.

pub mod arguments;
mod check;
mod defaults;
pub mod directive;
mod evaluate;
mod fault;
mod find;
mod load;
pub mod model;
mod schema;
mod starter;
mod tagged;
mod tree;
mod value;
mod yaml;

pub use check::{CDN_PARAMS, referenceable_params};
pub use directive::{Allowed, Context, CustomCall, GitInfo, Lookups, NoLookups};
pub use evaluate::{Interpreters, Made};
pub use fault::{Fault, FaultKind, Faults};
pub use find::{CONFIG_NAMES, LoadedFile, find_config, load_file};
pub use load::{ConfigText, LoadFailure, Loaded, load, load_value};
pub use model::Config;
pub use schema::{schema, sorted};
pub use starter::{Starter, starter};
pub use tree::Place;
pub use value::{Data, DataMap, RUNTIME_KEY, Runtime, Scalar, Text};
