//! Who may come in, how often, and what they may have meant.

mod keys;
mod limits;

pub use keys::{ApiKeys, KeyView, NewKey};
pub use limits::{Limits, Permit, RateStatus, Tier};
pub use windlass_config::file::nearest;
