//! One file per subject; `support` holds what they share.

mod agreement;
mod changes;
mod failures;
mod queries;
mod support;
mod texts;
mod transfers;
