//! Language models behind the `LanguageModel` port: servers with a chat-completions API.
//!
//! One client for every server with that interface: hosted ones, gateways, and models served
//! on this machine. It sends through the `Outbound` port, so the address policy holds for
//! every request and there is no second HTTP client. A request is one exchange with bounded
//! retries; the answer is whole or an error, never a beginning that looks like an end.
//!
//! Not here: prompts, checking what an answer says (windlass-model-calls), budgets, records.

mod backoff;
mod client;
mod dialect;
mod events;
mod failure;
mod reply;
mod request;

pub use client::ChatCompletions;
pub use events::{EventReader, EventTooLong};
pub use reply::ReplyBuilder;
