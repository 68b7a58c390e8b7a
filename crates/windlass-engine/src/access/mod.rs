//! Who may come in, how often, and what they may have meant.

mod declined;
mod jobs;
mod keys;
mod limits;
mod roots;
mod tiers;

pub use declined::Declined;
pub use jobs::JobLimit;
pub use keys::{ApiKeys, KeyView, MadeKey, NewKey, unauthorized};
pub use limits::{Limits, Meter, Permit, RateStatus, Refused};
pub use roots::{Roots, is_below};
pub use tiers::{Tier, Tiers};
pub use windlass_text::suggest::{nearest, shown};
