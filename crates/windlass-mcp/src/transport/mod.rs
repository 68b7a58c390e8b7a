//! The stdio transport under rmcp's service loop: strict about input, calm about clients.
//!
//! Not here: HTTP (`crate::http`) and the handlers. `serve` is what a binary calls.

mod fds;
mod flight;
mod outbox;
mod stdio;

pub use fds::open_stdio;
pub use stdio::{StdioOptions, serve, serve_stdio};
