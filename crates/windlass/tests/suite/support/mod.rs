//! What the tests share: homes, the binary, a small HTTP client, an engine in this process.

pub(super) mod binary;
pub(super) mod directory;
pub(super) mod home;
pub(super) mod http;
pub(super) mod keyed;
pub(super) mod library;
pub(super) mod loopback;
pub(super) mod mcp;
pub(super) mod random;
pub(super) mod scene;
