//! What is known of providers and models without asking them.
//!
//! Data and pure functions. Not here: reading settings, keys or the environment.

mod catalogue;
mod names;
mod table;

pub use catalogue::{Catalogue, CatalogueError, ModelFacts, ModelOverride, Price, Thinks, bundled};
pub use names::{ModelName, ProviderError, parse_model};
pub use table::{PROVIDERS, Provider, infer_provider, provider};
