//! Outbound HTTP behind the `Outbound` port and WebSockets behind `MessageSockets`, with an address
//! policy that cannot be sidestepped.
//!
//! An address is checked as text before anything is sent, and every name is resolved by a
//! resolver that checks what it found; the connection goes to exactly those addresses, so
//! a name that changes its mind between check and connect gains nothing. Redirects are
//! answers. Not here: what is sent, signatures and retries (windlass-engine's outbox).

mod address;
#[cfg(test)]
mod forbidden_tests;
mod outbound;
mod policy;
mod resolver;
mod sockets;

pub use address::{AddressClass, address_is_public, classify};
pub use outbound::HttpOutbound;
pub use policy::OutboundPolicy;
pub use resolver::{Lookup, SystemLookup};
pub use sockets::WebSockets;
