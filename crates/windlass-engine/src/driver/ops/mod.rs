//! The context's calls, one file each: how each is answered from the journal or done again.

pub(super) mod artifact;
pub(super) mod child;
pub(super) mod emit;
pub(super) mod paid;
pub(super) mod record;
pub(super) mod step;
pub(super) mod timer;
pub(super) mod wait;
pub(super) mod webhook;
