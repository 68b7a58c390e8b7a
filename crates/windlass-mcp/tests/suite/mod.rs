//! Whole servers over both transports.

mod cases;
mod eras;
#[cfg(feature = "conformance-fixtures")]
mod fixtures;
mod http;
mod malformed;
mod stdio;
mod support;
