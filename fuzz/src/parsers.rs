//! Parsers whose crates would bring an HTTP server, TLS and telemetry into this build.
//!
//! They are pure modules, so their files are compiled here as they are.

#[path = "../../crates/windlass-engine/src/confirm/sealed.rs"]
#[expect(dead_code, reason = "the target opens sealed state and seals none")]
pub mod sealed;

#[path = "../../crates/windlass-mcp/src/wire/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "the target reads frames; transports use the rest"
)]
pub mod wire;
