//! Undoing: completed effects, last one first, each recorded when it is taken back.

use std::{collections::HashSet, panic::AssertUnwindSafe};

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
    /// Not at all: the step has no undo, and what it did stays.
    Nothing { key: String },
}

pub(super) type UndoStep = Box<dyn FnMut() -> BoxFuture<'static, Result<(), Problem>> + Send>;

impl Undo {
    fn key(&self) -> &str {
        match self {
            Self::Step { key, .. } | Self::Child { key, .. } | Self::Nothing { key } => key,
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
            Undo::Nothing { .. } => {
                residue.push(key);
                continue;
            }
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
/// beside it ended first: children can still be undone, steps only be named.
fn add_unreached(context: &JournalContext, undos: &mut Vec<Undo>) -> Vec<String> {
    let memo = lock(&context.memo);
    let reached: HashSet<String> = undos.iter().map(|undo| undo.key().to_owned()).collect();
    let mut steps: Vec<String> = memo
        .steps
        .iter()
        .filter(|(key, step)| {
            step.is_effect && !reached.contains(*key) && !memo.undone.contains_key(*key)
        })
        .map(|(key, _)| key.clone())
        .collect();
    steps.sort_unstable();
    let children = memo
        .children
        .iter()
        .filter(|(key, _)| !reached.contains(*key));
    undos.extend(children.map(|(key, child)| Undo::Child {
        key: key.clone(),
        run_id: child.run_id.clone(),
    }));
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
