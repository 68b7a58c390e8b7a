//! Answers of language models as checked values: ask, read, validate, send back what is wrong.
//!
//! For every domain that wants data and not prose from a model. Works over the `LanguageModel`
//! port, so a caller that records, replays or budgets calls passes a model that does; one that
//! leaves failing servers alone for a while is here. Not here: prompts, servers, what becomes of a
//! value.

mod breaker;
mod extract;
mod guarded;
mod structured;

pub use extract::json_in;
pub use guarded::Guarded;
pub use structured::{
    DEFAULT_REPAIRS, ModelCall, Structured, StructuredError, StructuredFault, structured,
};
