//! What every tool is.

use serde_json::Value;
use windlass_ports::{BoxFuture, ToolSpec};

use crate::{Context, Failure, Look, Places, Ran};

/// A tool. Its arguments were checked against its schema before any of these is called.
pub trait Tool: Send + Sync {
    /// What the model is told: name, description, schema of the arguments.
    fn spec(&self) -> &ToolSpec;

    /// What a call would touch. Does nothing; may look at names, never at contents.
    fn look(&self, input: &Value, places: &Places) -> Result<Look, Failure>;

    /// Makes the call. Dropping the future stops it.
    fn run<'a>(&'a self, input: Value, context: &'a Context) -> BoxFuture<'a, Ran>;
}
