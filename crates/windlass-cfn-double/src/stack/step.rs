//! The state machine: everything that is due happens, in a fixed order, until nothing is.
//!
//! `step` is called at every instant at which something can happen (`next_wake`); calling it more
//! often changes nothing.

use std::collections::BTreeSet;

use super::begin::{
    begin_delete, begin_rollback_of_create, begin_rollback_of_update, cleanup_tasks,
};
use super::operation::{OnFailure, Operation, Phase, State};
use super::{Stack, StackStatus, change_set, drift, finish, names, task};
use crate::env::Env;

/// The next instant at which something happens by itself.
pub fn next_wake(stack: &Stack) -> Option<u64> {
    let tasks = stack
        .operation
        .iter()
        .flat_map(|operation| &operation.tasks)
        .filter_map(|task| match &task.state {
            State::Running(running) => running.initiates.into_iter().chain(running.ends).min(),
            _ => None,
        });
    tasks
        .chain(change_set::wakes(stack))
        .chain(drift::wakes(stack))
        .min()
}

/// Releases hanging resources.
pub fn release(stack: &mut Stack, logical_id: &str, env: &Env) {
    for task in stack
        .operation
        .iter_mut()
        .flat_map(|operation| &mut operation.tasks)
        .filter(|task| task.logical_id == logical_id)
    {
        if let State::Running(running) = &mut task.state
            && running.ends.is_none()
        {
            running.ends = Some(env.now);
        }
    }
}

/// Does everything that is due.
pub fn step(stack: &mut Stack, env: &mut Env) {
    change_set::step(stack, env);
    drift::step(stack, env);
    while let Some(mut operation) = stack.operation.take() {
        let mut moved = run_due(stack, &mut operation, env);
        let is_stopping = operation.is_cancelled
            || (operation.stops_at_failure() && !operation.failed.is_empty());
        if is_stopping {
            finish::cancel_all(stack, &mut operation, env);
        } else {
            while let Some(index) = operation.ready() {
                let state = task::start(stack, &operation, index, env);
                operation.tasks[index].state = state;
                moved = true;
            }
        }
        if operation.is_running() {
            stack.operation = Some(operation);
            if !moved {
                return;
            }
        } else {
            end_phase(stack, operation, env);
        }
    }
}

/// Announces and ends what is due by now.
fn run_due(stack: &mut Stack, operation: &mut Operation, env: &mut Env) -> bool {
    let mut moved = false;
    let token = operation.token.clone();
    for index in 0..operation.tasks.len() {
        let is_due = |at: Option<u64>| at.is_some_and(|at| at <= env.now);
        let State::Running(running) = &operation.tasks[index].state else {
            continue;
        };
        let (initiates, ends) = (is_due(running.initiates), is_due(running.ends));
        if initiates {
            finish::initiate(stack, &mut operation.tasks[index], token.as_deref(), env);
        }
        if ends {
            finish::end(stack, operation, index, env);
        }
        moved |= initiates || ends;
    }
    moved
}

fn end_phase(stack: &mut Stack, operation: Operation, env: &mut Env) {
    let has_failed = operation.is_cancelled || !operation.failed.is_empty();
    match operation.phase {
        Phase::Create => end_create(stack, &operation, has_failed, env),
        Phase::Update => end_update(stack, &operation, has_failed, env),
        Phase::UpdateCleanup => {
            drop_removed(stack);
            stack.enter(
                StackStatus::UpdateComplete,
                None,
                operation.token.as_deref(),
                env,
            );
            change_set::executed(stack, true);
            if let Some(stable) = &mut stack.stable {
                stable.resources.clone_from(&stack.resources);
            }
        }
        Phase::RollbackOfCreate => {
            let (status, reason) = if has_failed {
                (
                    StackStatus::RollbackFailed,
                    Some(operation.failure_reason()),
                )
            } else {
                (StackStatus::RollbackComplete, None)
            };
            stack.old.clear();
            stack.enter(status, reason, operation.token.as_deref(), env);
        }
        Phase::RollbackOfUpdate => end_rollback(stack, &operation, has_failed, env),
        Phase::RollbackCleanup => {
            drop_removed(stack);
            let token = operation.token.as_deref();
            stack.enter(StackStatus::UpdateRollbackComplete, None, token, env);
            if let Some(stable) = &mut stack.stable {
                stable.resources.clone_from(&stack.resources);
            }
        }
        Phase::Delete => end_delete(stack, &operation, has_failed, env),
    }
}

fn end_create(stack: &mut Stack, operation: &Operation, has_failed: bool, env: &mut Env) {
    let token = operation.token.as_deref();
    let reason = if has_failed {
        operation.failure_reason()
    } else {
        match finish::outputs(stack, env) {
            Ok(outputs) => {
                finish::settle(stack, outputs, env);
                stack.enter(StackStatus::CreateComplete, None, token, env);
                change_set::executed(stack, true);
                return;
            }
            Err(reason) => format!("{}.", reason.trim_end_matches('.')),
        }
    };
    change_set::executed(stack, false);
    match operation.on_failure {
        OnFailure::DoNothing => {
            stack.enter(StackStatus::CreateFailed, Some(reason), token, env);
        }
        OnFailure::Rollback => {
            let reason = format!("{reason} Rollback requested by user.");
            begin_rollback_of_create(stack, reason, token, env);
        }
        OnFailure::Delete => {
            let reason = format!("{reason} Delete requested by user.");
            begin_delete(stack, &[], Some(reason), token, env);
        }
    }
}

fn end_update(stack: &mut Stack, operation: &Operation, has_failed: bool, env: &mut Env) {
    let token = operation.token.as_deref();
    let reason = if operation.is_cancelled {
        "User Initiated".to_owned()
    } else if has_failed {
        operation.failure_reason()
    } else {
        match finish::outputs(stack, env) {
            Ok(outputs) => return clean_up(stack, outputs, operation, env),
            Err(reason) => reason,
        }
    };
    change_set::executed(stack, false);
    if operation.on_failure == OnFailure::DoNothing && !operation.is_cancelled {
        stack.enter(StackStatus::UpdateFailed, Some(reason), token, env);
    } else {
        begin_rollback_of_update(stack, reason, &[], token, env);
    }
}

fn clean_up(stack: &mut Stack, outputs: Vec<super::Output>, operation: &Operation, env: &mut Env) {
    let token = operation.token.clone();
    let keep: BTreeSet<String> = stack
        .current
        .as_ref()
        .and_then(|target| names::active(stack, target).ok())
        .unwrap_or_default()
        .into_iter()
        .collect();
    finish::settle(stack, outputs, env);
    stack.enter(
        StackStatus::UpdateCompleteCleanupInProgress,
        None,
        token.as_deref(),
        env,
    );
    let mut next = Operation::new(Phase::UpdateCleanup, token);
    next.plan(cleanup_tasks(stack, &keep, Phase::UpdateCleanup));
    stack.operation = Some(next);
}

fn end_rollback(stack: &mut Stack, operation: &Operation, has_failed: bool, env: &mut Env) {
    let token = operation.token.clone();
    if has_failed {
        let reason = Some(operation.failure_reason());
        stack.enter(
            StackStatus::UpdateRollbackFailed,
            reason,
            token.as_deref(),
            env,
        );
        return;
    }
    let keep: BTreeSet<String> = stack
        .stable
        .iter()
        .flat_map(|stable| stable.resources.keys().cloned())
        .collect();
    stack.enter(
        StackStatus::UpdateRollbackCompleteCleanupInProgress,
        None,
        token.as_deref(),
        env,
    );
    let mut next = Operation::new(Phase::RollbackCleanup, token);
    next.plan(cleanup_tasks(stack, &keep, Phase::RollbackCleanup));
    stack.operation = Some(next);
}

fn end_delete(stack: &mut Stack, operation: &Operation, has_failed: bool, env: &mut Env) {
    let token = operation.token.as_deref();
    if has_failed {
        let reason = Some(operation.failure_reason());
        stack.enter(StackStatus::DeleteFailed, reason, token, env);
        return;
    }
    stack.old.clear();
    env.unpublish(&stack.id);
    stack.enter(StackStatus::DeleteComplete, None, token, env);
}

/// After a clean-up nothing of what it removed, or could not remove, belongs to the stack.
fn drop_removed(stack: &mut Stack) {
    stack.old.clear();
    stack.resources.retain(|_, resource| {
        !resource.status.is_gone() && !resource.status.name().starts_with("DELETE")
    });
}
