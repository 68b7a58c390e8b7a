//! One redaction pass for everything that leaves the process: logs, events, public
//! artifacts, tool output, error messages, webhook bodies.
//!
//! The first net is the `Secret` type, which cannot be printed; this is the second. It
//! knows the shapes of provider tokens, credentials in headers, URLs and assignments, and
//! the exact values registered at run time. It does not decide what is public and does no
//! IO of its own. Called by surfaces, the engine's event writer and the log writer.

mod anchors;
mod assignment;
mod pem;
mod redactor;
mod rules;
mod scan;
mod value;
mod writer;

pub use redactor::Redactor;
pub use writer::RedactingWriter;
