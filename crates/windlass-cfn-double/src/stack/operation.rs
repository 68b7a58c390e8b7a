//! What is happening to a stack: one phase at a time, each a graph of tasks.

use super::Resource;

/// What the caller wants when a first creation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    Rollback,
    DoNothing,
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Create,
    Update,
    /// Removes what an update replaced or dropped; cannot fail the stack.
    UpdateCleanup,
    RollbackOfCreate,
    RollbackOfUpdate,
    /// Removes what a failed update had added.
    RollbackCleanup,
    Delete,
}

#[derive(Clone, Debug)]
pub struct Operation {
    pub phase: Phase,
    pub on_failure: OnFailure,
    pub token: Option<String>,
    pub change_set: Option<String>,
    pub tasks: Vec<Task>,
    /// Logical ids in the order in which they failed, with what was being done.
    pub failed: Vec<(String, Verb)>,
    pub is_cancelled: bool,
}

#[derive(Clone, Debug)]
pub struct Task {
    pub logical_id: String,
    pub job: Job,
    /// Positions of tasks that must be done first.
    pub needs: Vec<usize>,
    pub state: State,
}

#[derive(Clone, Debug)]
pub enum Job {
    /// Create, update or replace: decided when its needs are done, since only then its values are.
    Provision,
    /// Back to how it was in the stable state.
    Revert,
    Delete {
        resource: Box<Resource>,
        source: Source,
        policy: Policy,
    },
    /// Fails at once: the stack policy forbids what the update would do.
    Refuse { reason: String },
}

/// Where a resource that is deleted is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Current,
    Old,
}

/// What happens to the physical resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    Delete,
    Retain,
    Snapshot,
}

#[derive(Clone, Debug)]
pub enum State {
    Waiting,
    Running(Box<Running>),
    Done,
    Failed,
}

#[derive(Clone, Debug)]
pub struct Running {
    pub verb: Verb,
    /// When the physical id becomes known; `None` once it is, or when it never will be.
    pub initiates: Option<u64>,
    /// `None` hangs until it is released or cancelled.
    pub ends: Option<u64>,
    pub failure: Option<String>,
    /// The resource as it will be.
    pub next: Option<Box<Resource>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Create,
    Update,
    Replace,
    Revert,
    Delete,
}

impl Operation {
    pub fn new(phase: Phase, token: Option<String>) -> Operation {
        Operation {
            phase,
            on_failure: OnFailure::Rollback,
            token,
            change_set: None,
            tasks: Vec::new(),
            failed: Vec::new(),
            is_cancelled: false,
        }
    }

    /// Adds tasks and turns needs by name into needs by position.
    pub fn plan(&mut self, tasks: Vec<(Task, Vec<String>)>) {
        let ids: Vec<String> = tasks
            .iter()
            .map(|(task, _)| task.logical_id.clone())
            .collect();
        for (position, (mut task, needs)) in tasks.into_iter().enumerate() {
            task.needs = ids
                .iter()
                .enumerate()
                .filter(|(index, id)| *index != position && needs.contains(id))
                .map(|(index, _)| index)
                .collect();
            self.tasks.push(task);
        }
    }

    /// Whether the first failure ends the phase; else independent work continues.
    pub fn stops_at_failure(&self) -> bool {
        matches!(self.phase, Phase::Create | Phase::Update)
            && self.on_failure != OnFailure::DoNothing
    }

    pub fn is_running(&self) -> bool {
        self.tasks
            .iter()
            .any(|task| matches!(task.state, State::Running(_)))
    }

    /// The next task that can start.
    pub fn ready(&self) -> Option<usize> {
        // A clean-up tries everything: what it cannot remove does not keep the rest.
        let goes_on = matches!(self.phase, Phase::UpdateCleanup | Phase::RollbackCleanup);
        let is_over = |need: &usize| match self.tasks[*need].state {
            State::Done => true,
            State::Failed => goes_on,
            State::Waiting | State::Running(_) => false,
        };
        self.tasks
            .iter()
            .position(|task| matches!(task.state, State::Waiting) && task.needs.iter().all(is_over))
    }

    /// The sentence a stack gives as its reason.
    pub fn failure_reason(&self) -> String {
        let list = |verbs: &[Verb]| -> Vec<&str> {
            self.failed
                .iter()
                .filter(|(_, verb)| verbs.contains(verb))
                .map(|(id, _)| id.as_str())
                .collect()
        };
        [
            ("create", list(&[Verb::Create])),
            ("update", list(&[Verb::Update, Verb::Replace, Verb::Revert])),
            ("delete", list(&[Verb::Delete])),
        ]
        .into_iter()
        .filter(|(_, ids)| !ids.is_empty())
        .map(|(verb, ids)| {
            format!(
                "The following resource(s) failed to {verb}: [{}].",
                ids.join(", ")
            )
        })
        .collect::<Vec<_>>()
        .join(" ")
    }
}

impl Task {
    pub fn new(logical_id: &str, job: Job) -> Task {
        Task {
            logical_id: logical_id.to_owned(),
            job,
            needs: Vec::new(),
            state: State::Waiting,
        }
    }
}
