//! An agent's conversation as data.
//!
//! What was said is kept whole; what is sent to a model is made from it, by pure functions in
//! this order: [`sanitise`] (every call has exactly one result, right behind it), [`reduce`]
//! (turns alternate, old text is cut until the rest fits), and [`validate`], which refuses what a
//! provider would refuse. Not here: IO, the order of things (windlass-agent-loop), wire formats
//! (windlass-llm).

mod estimate;
mod merge;
mod placeholder;
mod sanitise;
mod taint;
mod trim;
mod validate;

#[cfg(test)]
mod generated;

pub use estimate::{Estimate, tokens_of, tokens_of_tools};
pub use merge::merge;
pub use placeholder::{CANCELLED, INTERRUPTED, INVALID_ARGUMENTS, REJECTED, TRIMMED, placeholder};
pub use sanitise::sanitise;
pub use taint::{Source, SourceKind, TaintHit, Told, first_seen_outside};
pub use trim::{Reduced, TrimState, Window, reduce};
pub use validate::{Invalid, validate};
