//! Whether a config makes sense: first its shape, then what it refers to.

mod params;
mod references;
mod routes;
mod schedule;
mod shape;

pub use params::{CDN_PARAMS, referenceable_params};
pub(crate) use references::References;
pub(crate) use shape::check as check_shape;
