//! From the packaging of each workload to artifacts that are named by their content.
//!
//! A function becomes a zip whose bytes depend on nothing but its sources, so an unchanged source
//! is an unchanged digest. An image is named by the digest of what it would be built from, so a
//! preview needs no build. Uploading asks the asset store first and sends what is missing.
//! Not here: the template (windlass-stack-compile), credentials, when to package (windlass-stack).
//! Everything but the upload blocks; call it where blocking is allowed.

mod cache;
mod context;
mod dockerfile;
mod engine;
mod failure;
mod glob;
mod image;
mod job;
mod lang;
mod program;
mod stage;
mod tools;
mod tree;
mod trim;
mod upload;
mod workshop;
mod zip;

pub use engine::{CliEngine, ContainerEngine, ImageBuild};
pub use failure::REASON;
pub use glob::Globs;
pub use image::ImagePlan;
pub use job::{FunctionJob, ImageJob};
pub use tools::Tools;
pub use tree::{Found, Kind, Links, Node, Walk};
pub use trim::trim_packages;
pub use upload::{Upload, UploadPlan, asset_bucket, plan_upload, upload, zip_key};
pub use workshop::{Limits, Workshop, Zip};
