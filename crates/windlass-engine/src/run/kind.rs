//! A kind of run: the code behind a name.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;
use windlass_ports::BoxFuture;
use windlass_types::{Event, RunRecord};

use super::{ExportedFile, RunContext, RunError};

/// The code of a run. Its control flow must depend on nothing but the input and what the
/// context returned, so that executing it again over the journal leads to the same place.
pub trait RunKind: Send + Sync + 'static {
    /// The name journals use; never changed once released.
    fn name(&self) -> &str;

    /// Executes a run, from the start or over what the journal already holds.
    fn run<'a>(
        &'a self,
        context: &'a dyn RunContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>>;

    /// What an export of such a run holds besides its journal: other forms of it, each a pure
    /// function of what is given.
    fn export_files(&self, _record: &RunRecord, _events: &[Event]) -> Vec<ExportedFile> {
        Vec::new()
    }
}

/// Every kind of this process.
pub struct RunKinds(pub(crate) HashMap<String, Arc<dyn RunKind>>);

impl RunKinds {
    pub(crate) fn get(&self, name: &str) -> Option<Arc<dyn RunKind>> {
        self.0.get(name).cloned()
    }
}
