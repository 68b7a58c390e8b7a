//! Defects of domains that the catalogue refuses.

/// A defect in a domain.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CatalogueError {
    /// Two operations share a name or a tool name within a toolset.
    #[error("two operations are called {0}")]
    Duplicate(String),
    /// An operation is not in the toolset that its domain names.
    #[error("{0} is not in the toolset of its domain")]
    Toolset(String),
    /// Two routes share a verb and a path.
    #[error("two routes are {0}")]
    DuplicateRoute(String),
    /// An input schema is not a JSON Schema.
    #[error("the input schema of {operation} is not valid: {reason}")]
    Schema {
        /// The operation.
        operation: String,
        /// What is wrong.
        reason: String,
    },
    /// An example does not fit its own schema.
    #[error("an example of {operation} does not fit its schema: {reason}")]
    Example {
        /// The operation.
        operation: String,
        /// What is wrong.
        reason: String,
    },
}
