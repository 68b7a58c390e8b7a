//! Change sets: proposals with a life of their own.

use super::diff::ResourceChange;
use super::{OnFailure, Stack, Target};
use crate::env::Env;

#[derive(Clone, Debug)]
pub struct ChangeSet {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    pub kind: Kind,
    pub created: u64,
    pub ready: u64,
    pub status: Status,
    pub reason: Option<String>,
    pub execution: Execution,
    pub target: Target,
    pub on_failure: Option<OnFailure>,
    pub changes: Vec<ResourceChange>,
    /// The same changes leaf by leaf, with values before and after.
    pub changes_with_values: Vec<ResourceChange>,
    /// What the status becomes when it is ready: `Err` with the reason for a failure.
    pub outcome: Result<(), String>,
    pub client_token: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Create,
    Update,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    CreatePending,
    CreateInProgress,
    CreateComplete,
    Failed,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::CreatePending => "CREATE_PENDING",
            Status::CreateInProgress => "CREATE_IN_PROGRESS",
            Status::CreateComplete => "CREATE_COMPLETE",
            Status::Failed => "FAILED",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    Unavailable,
    Available,
    InProgress,
    Complete,
    Failed,
    Obsolete,
}

impl Execution {
    pub fn name(self) -> &'static str {
        match self {
            Execution::Unavailable => "UNAVAILABLE",
            Execution::Available => "AVAILABLE",
            Execution::InProgress => "EXECUTE_IN_PROGRESS",
            Execution::Complete => "EXECUTE_COMPLETE",
            Execution::Failed => "EXECUTE_FAILED",
            Execution::Obsolete => "OBSOLETE",
        }
    }
}

/// The instants at which change sets progress.
pub fn wakes(stack: &Stack) -> impl Iterator<Item = u64> {
    stack
        .change_sets
        .iter()
        .filter_map(|change_set| match change_set.status {
            Status::CreatePending => Some(halfway(change_set)),
            Status::CreateInProgress => Some(change_set.ready),
            _ => None,
        })
}

fn halfway(change_set: &ChangeSet) -> u64 {
    change_set.created.midpoint(change_set.ready)
}

pub fn step(stack: &mut Stack, env: &Env) {
    for change_set in &mut stack.change_sets {
        if change_set.status == Status::CreatePending && halfway(change_set) <= env.now {
            change_set.status = Status::CreateInProgress;
        }
        if change_set.status == Status::CreateInProgress && change_set.ready <= env.now {
            match &change_set.outcome {
                Ok(()) => {
                    change_set.status = Status::CreateComplete;
                    change_set.execution = Execution::Available;
                }
                Err(reason) => {
                    change_set.status = Status::Failed;
                    change_set.reason = Some(reason.clone());
                }
            }
        }
    }
}

/// Records how the execution that was in progress ended.
pub fn executed(stack: &mut Stack, is_success: bool) {
    for change_set in &mut stack.change_sets {
        if change_set.execution == Execution::InProgress {
            change_set.execution = if is_success {
                Execution::Complete
            } else {
                Execution::Failed
            };
        }
    }
}
