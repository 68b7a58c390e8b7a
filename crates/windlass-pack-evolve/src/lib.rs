//! Drift taken back into overlays, and overlays edited and rebased.
//!
//! Decides what an overlay should hold and says so as file actions; committing them, on a branch
//! or not, is the caller's work.
