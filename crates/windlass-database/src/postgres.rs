//! PostgreSQL by its extended protocol, which takes one statement at a time.
//!
//! Results are asked for as text, so that types of any extension can be shown.

mod functions;
mod login;
mod run;
mod session;
mod values;

pub use session::Session;
