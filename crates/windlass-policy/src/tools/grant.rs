//! What a person allowed for longer than one call.

use windlass_types::Timestamp;

/// An allowance made while working: weaker than rules, which may still ask or refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Names it in decisions.
    pub id: String,
    /// The tool's full name.
    pub tool: String,
    /// How its commands start; empty for tools that run none.
    pub prefix: Vec<String>,
    /// The directory it holds in; anywhere when absent.
    pub project: Option<String>,
    /// Until when it holds; for the session when absent.
    pub expires: Option<Timestamp>,
}
