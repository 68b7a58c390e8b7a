//! One redaction pass for everything that is told: logs, events, audit, answers, error messages,
//! webhook bodies. Content that the caller asked for (artifacts, files, templates) is no such thing.
//!
//! The first net is the `Secret` type, which cannot be printed; this is the second. It
//! knows the shapes of provider tokens, credentials in headers, URLs and assignments, and
//! the exact values registered at run time. It does not decide what is public and does no
//! IO of its own. Called by surfaces, the engine's event writer and the log writer.

mod anchors;
mod assignment;
mod body;
mod context;
mod kinds;
#[cfg(test)]
mod linear_tests;
mod pem;
mod random;
mod redactor;
mod repeats;
mod rules;
pub mod samples;
mod scan;
mod strange;
mod value;
mod words;
mod work;
mod writer;

pub use redactor::Redactor;
pub use writer::RedactingWriter;
