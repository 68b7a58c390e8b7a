//! Plan → confirm → apply: the gate in front of every call, and the tokens that confirm a plan.

mod gate;
mod sealed;
mod token;

pub use gate::PolicyView;
pub(crate) use gate::{Judged, Passage, Question, bounded, cannot_wait};
pub use sealed::{Claims, SealedError, Sealer};
pub use token::{IssuedToken, ReturnedToken, TokenPurpose, TokenRefusal};

#[cfg(test)]
#[path = "sealed_tests.rs"]
mod sealed_tests;
