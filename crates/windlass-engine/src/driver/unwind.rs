//! Undoing: completed effects, last one first, each recorded when it is taken back.

use windlass_ports::BoxFuture;
use windlass_types::{
    Problem,
    journal::{UndoCompleted, UndoFailed},
};

use super::{journal_context::JournalContext, lock};
use crate::run::RunError;

/// How a completed effect is taken back.
pub(super) struct Undo {
    pub(super) key: String,
    pub(super) undo: Box<dyn FnMut() -> BoxFuture<'static, Result<(), Problem>> + Send>,
}

/// Takes back everything that was done; the keys of what could not be.
pub(super) async fn unwind(context: &JournalContext) -> Result<Vec<String>, RunError> {
    let mut undos = std::mem::take(&mut *lock(&context.undos));
    let mut residue = lock(&context.memo).dangling();
    while let Some(mut undo) = undos.pop() {
        let recorded = lock(&context.memo).undone.get(&undo.key).copied();
        match recorded {
            Some(true) => continue,
            Some(false) => {
                residue.push(undo.key);
                continue;
            }
            None => {}
        }
        if context.is_stopping() {
            return Err(RunError::Suspended);
        }
        let twice = context
            .engine
            .probe
            .as_ref()
            .is_some_and(|probe| probe.undo_twice(&context.run_id, &undo.key));
        let mut result = (undo.undo)().await;
        if twice && result.is_ok() {
            result = (undo.undo)().await;
        }
        let body = match result {
            Ok(()) => UndoCompleted { key: undo.key }.into(),
            Err(problem) => {
                residue.push(undo.key.clone());
                UndoFailed { key: undo.key, problem }.into()
            }
        };
        context.journal(vec![body], context.child_span()).await?;
    }
    Ok(residue)
}
