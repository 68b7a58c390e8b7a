//! Undoing: completed effects, last one first, each recorded when it is taken back.

use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use windlass_ports::BoxFuture;
use windlass_types::{
    Problem, RunId,
    journal::{UndoCompleted, UndoFailed},
};

use super::{execute::panic_problem, journal_context::JournalContext, lock, ops::child};
use crate::run::RunError;

/// How an effect is taken back.
pub(super) enum Undo {
    /// By the step's own undo.
    Step { key: String, undo: UndoStep },
    /// By cancelling the child run or rolling it back.
    Child { key: String, run_id: RunId },
}

pub(super) type UndoStep = Box<dyn FnMut() -> BoxFuture<'static, Result<(), Problem>> + Send>;

impl Undo {
    fn key(&self) -> &str {
        match self {
            Self::Step { key, .. } | Self::Child { key, .. } => key,
        }
    }
}

/// Takes back everything that was done; the keys of what could not be.
pub(super) async fn unwind(context: &JournalContext) -> Result<Vec<String>, RunError> {
    let mut undos = std::mem::take(&mut *lock(&context.undos));
    let mut residue: Vec<String> = lock(&context.open).iter().cloned().collect();
    residue.extend(add_unreached(context, &mut undos));
    while let Some(undo) = undos.pop() {
        let key = undo.key().to_owned();
        let recorded = lock(&context.memo).undone.get(&key).copied();
        match recorded {
            Some(true) => continue,
            Some(false) => {
                residue.push(key);
                continue;
            }
            None => {}
        }
        if context.is_stopping() {
            return Err(RunError::Suspended);
        }
        let result = match undo {
            Undo::Step { undo, .. } => take_back(context, &key, undo).await,
            Undo::Child { run_id, .. } => match child::take_back(context, &run_id).await? {
                Some(result) => result,
                None => continue,
            },
        };
        let body = match result {
            Ok(()) => UndoCompleted { key }.into(),
            Err(problem) => {
                residue.push(key.clone());
                UndoFailed { key, problem }.into()
            }
        };
        context.journal(vec![body], context.child_span()).await?;
    }
    Ok(residue)
}

/// What the journal records and this execution of the code did not come by, because a branch
/// beside it ended first: children can be taken back all the same, steps only be named.
fn add_unreached(context: &JournalContext, undos: &mut Vec<Undo>) -> Vec<String> {
    let memo = lock(&context.memo);
    let is_reached = |undos: &[Undo], key: &str| undos.iter().any(|undo| undo.key() == key);
    let mut steps: Vec<String> = memo
        .steps
        .iter()
        .filter(|(key, step)| {
            step.undoable && !is_reached(undos, key) && !memo.undone.contains_key(*key)
        })
        .map(|(key, _)| key.clone())
        .collect();
    steps.sort_unstable();
    for (key, child) in &memo.children {
        if !is_reached(undos, key) {
            undos.push(Undo::Child {
                key: key.clone(),
                run_id: child.run_id.clone(),
            });
        }
    }
    steps
}

async fn take_back(context: &JournalContext, key: &str, mut undo: UndoStep) -> Result<(), Problem> {
    let probe = context.engine.probe.as_ref();
    let twice = probe.is_some_and(|probe| probe.undo_twice(&context.run_id, key));
    let work = async {
        undo().await?;
        if twice { undo().await } else { Ok(()) }
    };
    AssertUnwindSafe(work)
        .catch_unwind()
        .await
        .unwrap_or_else(|panic| Err(panic_problem("undo", &*panic)))
}
