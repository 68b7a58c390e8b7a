//! Who may come in, how often, and what they may have meant.

mod declined;
mod jobs;
mod keys;
mod limits;
mod tiers;

pub use declined::Declined;
pub use jobs::JobLimit;
pub use keys::{ApiKeys, KeyView, MadeKey, NewKey, unauthorized};
pub use limits::{Limits, Meter, Permit, RateStatus, Refused};
pub use tiers::{Tier, Tiers};
pub use windlass_config::file::nearest;
