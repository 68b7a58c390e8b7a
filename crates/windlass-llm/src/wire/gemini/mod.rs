//! Gemini.
//!
//! The server signs parts of an answer and wants the signatures back where they were. A call's
//! signature is the call's metadata; a thought's is the thought's; that of words is a thought
//! without words behind them, so that no other part has to know of signatures.

mod reply;
mod request;

pub(super) use reply::GeminiReply;
pub(super) use request::{body, endpoint};

/// The id of a thought of this server: others' are not sent to it.
const THOUGHT: &str = "gemini:thought";
/// The id of a signature that belongs to the words before it.
const OF_WORDS: &str = "gemini:words";
/// The id of a signature that came alone.
const ALONE: &str = "gemini:alone";

/// The field of a part, and of a call's metadata.
const SIGNATURE: &str = "thoughtSignature";
/// In a call's metadata: the id is the server's own, not one that was made here.
const HAS_ID: &str = "has_id";
