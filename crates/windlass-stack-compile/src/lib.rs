//! A stack's config as one CloudFormation template.
//!
//! Pure: the typed config and a few facts (where to, what was packaged) go in; the template, its
//! outputs, tags and everything a deploy must check come out, or every reason why not. The same
//! input produces the same bytes. Not here: reading configs, packaging, AWS.

mod alarms;
mod artifacts;
mod cdn;
mod cf;
mod compile;
mod compiled;
mod connect;
mod domains;
mod events;
mod facts;
mod forward;
mod limits;
mod name;
mod network;
mod outputs;
mod overrides;
mod params;
mod raw;
mod references;
mod refusal;
mod shared;
mod stack;
mod text;
mod types;

pub use artifacts::{Need, NeedKind, needed_artifacts};
pub use compile::{compile, connections, parameter};
pub use compiled::{
    Compiled, CompiledResource, CompiledScript, Output, SecretUse, State, SyncedBucket, state_of,
};
pub use connect::{Connection, Parameter};
pub use facts::{Artifact, Facts, Network};
pub use limits::{INLINE_BYTES, TEMPLATE_BYTES};
pub use name::{bastion_group_id, role_id, variable};
pub use refusal::{Refusal, Refusals, Remark};
