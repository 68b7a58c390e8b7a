//! Language models behind the `LanguageModel` port, whatever interface their server offers.
//!
//! One client for four wire formats: chat completions, as hosted servers, gateways and programs on
//! this machine offer them, OpenAI Responses, Anthropic Messages and Gemini. It sends through the
//! `Outbound` port, so the address policy holds for every request and there is no second HTTP
//! client. A request is one exchange with bounded retries; the answer is whole or an error, never
//! a beginning that looks like an end, and a call half said is no call. What is known of providers
//! and models without asking them is data here, too.
//!
//! Not here: prompts, checking what an answer says (windlass-model-calls), budgets, records.

mod backoff;
mod client;
mod draft;
mod events;
mod failure;
pub mod provider;
mod reply;
mod wire;

pub use client::ModelClient;
pub use events::{EventReader, EventTooLong};
pub use reply::ReplyBuilder;

/// The longest answer, and the longest event of one.
pub(crate) const MAX_ANSWER: usize = 16 * 1024 * 1024;
