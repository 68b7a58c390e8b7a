//! JSON-RPC on the wire: bytes in, judged messages out. No IO, no state of a connection.
//!
//! Not here: who may call what and when (the transports), and what a method does (the
//! handlers). The stdio transport reads lines with it; the HTTP guard asks it why a body
//! was refused; fuzz targets feed it anything.

mod envelope;
mod fault;
mod frame;
mod line;
mod method;

pub(crate) use envelope::{Id, Shape, shape};
pub use fault::{Fault, codes};
pub use frame::{Frame, FrameReader, Glance, MAX_BATCH, Message, unknown_method};
pub use line::{Line, LineReader};
pub use method::{RequestError, is_known_method, is_modern, request_from_parts};

#[cfg(test)]
mod frame_tests;
#[cfg(test)]
mod line_tests;
