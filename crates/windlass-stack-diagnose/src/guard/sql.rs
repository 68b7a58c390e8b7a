//! Read-only SQL: one statement, of a kind that reads, without writes hidden inside it.
//!
//! The text is split into tokens exactly as the server splits it ([`lex`]); the rules then look
//! at tokens ([`check`]), so comments, quoting and escapes cannot hide a word. What a dialect's
//! grammar could not turn into a write is let through, right or wrong: the server judges syntax.

mod check;
mod functions;
mod lex;
mod token;

pub use check::{Statement, StatementKind, check};
pub use functions::is_built_in;
pub use windlass_ports::database::SqlEngine;

#[cfg(test)]
#[path = "sql_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "sql_functions_tests.rs"]
mod functions_tests;

#[cfg(test)]
#[path = "sql_mysql_tests.rs"]
mod mysql_tests;
