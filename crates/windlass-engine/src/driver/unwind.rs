//! Undoing: completed effects, last one first, each recorded when it is taken back.

use std::{collections::HashSet, panic::AssertUnwindSafe};

use futures::FutureExt as _;
use windlass_ports::BoxFuture;
use windlass_types::{
    Body, Problem, RunId,
    journal::{UndoCompleted, UndoFailed},
};

use super::{
    execute::panic_problem,
    journal_context::JournalContext,
    lock,
    ops::child,
    shortage::{self, Pause},
};
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
            Undo::Step { mut undo, .. } => take_back_patiently(context, &key, &mut undo).await?,
            Undo::Child { run_id, .. } => match child::take_back(context, &run_id).await? {
                Some(result) => result,
                None => continue,
            },
            Undo::Nothing { .. } => {
                residue.push(key);
                continue;
            }
        };
        let wait = undo_key(&key);
        let body = match result {
            Ok(()) => UndoCompleted { key }.into(),
            Err(problem) => {
                residue.push(key.clone());
                UndoFailed { key, problem }.into()
            }
        };
        let mut bodies = vec![body];
        bodies.extend(shortage::ended(context, &wait));
        context.journal(bodies, context.child_span()).await?;
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

/// Takes a step back, again and again while the machine has too little of something for it.
async fn take_back_patiently(
    context: &JournalContext,
    key: &str,
    undo: &mut UndoStep,
) -> Result<Result<(), Problem>, RunError> {
    let wait = undo_key(key);
    let mut attempt = 1;
    loop {
        let result = take_back(context, key, undo).await;
        let pause = match &result {
            Err(problem) => Pause::after(context, &wait, problem, attempt),
            Ok(()) => None,
        };
        let Some(pause) = pause else {
            return Ok(result);
        };
        let until = pause.until;
        let mut bodies: Vec<Body> = shortage::ended(context, &wait).into_iter().collect();
        shortage::note(context, &wait, until);
        bodies.push(pause.started());
        context.journal(bodies, context.child_span()).await?;
        tokio::select! {
            () = context.engine.until(until) => {}
            () = context.stopped() => return Err(RunError::Suspended),
        }
        attempt += 1;
    }
}

/// What an undo waits as; its step may have waited, too.
fn undo_key(key: &str) -> String {
    format!("{key}/undo")
}

async fn take_back(
    context: &JournalContext,
    key: &str,
    undo: &mut UndoStep,
) -> Result<(), Problem> {
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
