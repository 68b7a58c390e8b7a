//! Every bound of the loop. Nothing in it repeats without one.

/// How often an answer that reached the output limit is continued in a turn.
pub const MOST_CONTINUATIONS: u32 = 3;
/// How often a conversation is cut because the provider counted more than was estimated.
pub const MOST_FORCED_CUTS: u32 = 2;
/// How much larger the output limit is with each continuation.
pub(crate) const LARGER_OUTPUT: u64 = 2;
