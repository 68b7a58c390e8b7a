//! MySQL and MariaDB by their client protocol: one statement per message, results as text.
//!
//! The two capabilities that could do more, several statements in one message and reading local
//! files for the server, are never announced.

mod auth;
mod functions;
mod packet;
mod run;
mod session;
mod values;

pub use session::Session;
