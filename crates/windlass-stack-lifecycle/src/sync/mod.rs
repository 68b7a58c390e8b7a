//! Files of a stack's buckets and websites, put into their buckets after a deploy.
//!
//! A website is built with the values of the deployed stack; a directory becomes a manifest of
//! digests, headers and tags; what differs goes into the bucket, pages last, and what is gone is
//! removed after that. Contents are kept in the asset store under their digest, so an earlier
//! manifest can be restored. Every step may be repeated. Not here: when it happens, hooks, the
//! version record (windlass-stack, `versions`).

mod apply;
mod build;
mod content_type;
mod difference;
mod dotenv;
mod headers;
mod inject;
mod invalidate;
mod manifest;
mod place;
mod plan;
mod source;

pub use apply::{Progress, SyncDone, apply, restore};
pub use build::{Built, Setting, build};
pub use invalidate::invalidate;
pub use manifest::{Entry, Manifest, Manifests, Ownership};
pub use place::{Place, place};
pub use plan::{Plan, plan};
pub use source::{SyncSource, sources};
