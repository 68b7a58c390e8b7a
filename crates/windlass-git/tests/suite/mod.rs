//! One file per subject; `support` holds what they share.

mod agreement;
mod branches;
mod changes;
mod exports;
mod failures;
mod foreign;
mod hostile;
mod objects;
mod queries;
mod support;
mod texts;
mod transfers;
