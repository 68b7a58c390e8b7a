//! How an MCP server introduces itself to clients.

/// The identity of a server.
#[derive(Clone, Copy, Debug)]
pub struct McpIdentity {
    /// The server's name.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// What a model is told about the server.
    pub instructions: &'static str,
}
