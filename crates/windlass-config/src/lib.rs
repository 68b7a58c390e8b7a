//! What a user can set: environment variables, the settings file, and where the home is.
//!
//! The only crate that reads the environment. Reads files but creates and changes none;
//! makes no decision that depends on a setting. The binary resolves everything here once
//! and hands plain values to the other crates.

mod deprecation;
pub mod env;
pub mod file;
pub mod home;
mod launch;
mod limits;
mod pipeline;
mod server;
mod settings;
mod stack;
mod store;
mod telemetry;
mod webhooks;

pub use deprecation::Deprecation;
pub use env::{EnvVar, Environment};
pub use file::FileError;
pub use home::{Home, HomeError};
pub use launch::{LaunchProfile, LaunchSettings, ModelSettings};
pub use limits::{LimitSettings, Tier};
pub use pipeline::{PipelineGenerator, PipelineModel, PipelineSettings, PipelineTimeouts};
pub use server::ServerSettings;
pub use settings::{Settings, SettingsError};
pub use stack::StackSettings;
pub use store::StoreSettings;
pub use telemetry::{LogFormat, TelemetrySettings};
pub use webhooks::{SecretSource, SecretSourceError, WebhookSettings};
