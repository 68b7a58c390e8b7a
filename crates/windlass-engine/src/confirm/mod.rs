//! Plan → confirm → apply: sealing a plan for one principal, redeeming it once, and the one
//! approval path in front of every change.

mod gate;
mod issued;
mod token;

pub use gate::{ApplyRequest, Consent, Opened, OpenedToken, PolicyView, Sealed};
pub use issued::{IssuedToken, ReturnedToken, TokenPurpose, TokenRefusal};
pub use token::{Claims, Sealer, TokenError};

#[cfg(test)]
#[path = "token_tests.rs"]
mod token_tests;
