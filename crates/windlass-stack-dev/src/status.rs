//! The state of each resource, as the HTTP API and the session file show it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::lock::locked;
use crate::session::Phase;

/// What precedes the reason of [`Condition::NotLocal`].
pub(crate) const NOT_LOCAL: &str = "not-local: ";
/// The reason of what is part of a deployment only.
pub(crate) const NOTHING_LOCAL: &str = "it has nothing to run locally";

/// What a resource is to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It runs code, or is a way in to code that runs.
    Workload,
    /// It holds data.
    Database,
    /// It does not run here.
    Elsewhere,
}

/// Its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It is being started.
    Starting,
    /// It runs; the address where it has one.
    Running(Option<String>),
    /// It runs when it is asked to: a batch job.
    Idle,
    /// It failed; says why.
    Failed(String),
    /// The deployed one is used.
    Remote,
    /// It cannot run here; says what can be done.
    NotLocal(String),
}

impl Condition {
    /// As `workloads` shows it: the address, or a word, or `error: …`.
    pub fn shown(&self) -> String {
        match self {
            Self::Starting => "starting".to_owned(),
            Self::Running(Some(address)) => address.clone(),
            Self::Running(None) => "running".to_owned(),
            Self::Idle => "idle".to_owned(),
            Self::Failed(why) => format!("error: {why}"),
            Self::Remote => "remote".to_owned(),
            Self::NotLocal(why) => format!("{NOT_LOCAL}{why}"),
        }
    }

    fn is_fine(&self) -> bool {
        matches!(self, Self::Running(_) | Self::Idle)
    }
}

/// One resource.
#[derive(Clone, Debug)]
struct Known {
    role: Role,
    kind: &'static str,
    condition: Condition,
    restarts: u32,
}

/// All of them.
#[derive(Default)]
pub(crate) struct Board {
    known: Mutex<BTreeMap<String, Known>>,
}

impl Board {
    pub fn add(&self, name: &str, role: Role, kind: &'static str, condition: Condition) {
        let known = Known {
            role,
            kind,
            condition,
            restarts: 0,
        };
        locked(&self.known).insert(name.to_owned(), known);
    }

    pub fn set(&self, name: &str, condition: Condition) {
        if let Some(known) = locked(&self.known).get_mut(name) {
            known.condition = condition;
        }
    }

    pub fn restarted(&self, name: &str) {
        if let Some(known) = locked(&self.known).get_mut(name) {
            known.restarts += 1;
        }
    }

    pub fn get(&self, name: &str) -> Option<(Role, &'static str, Condition)> {
        let known = locked(&self.known);
        let found = known.get(name)?;
        Some((found.role, found.kind, found.condition.clone()))
    }

    pub fn names(&self, role: Role) -> Vec<String> {
        let known = locked(&self.known);
        let of_role = known.iter().filter(|(_, known)| known.role == role);
        of_role.map(|(name, _)| name.clone()).collect()
    }

    /// At least one workload, everything that should run here runs, and nothing failed at an
    /// emulator.
    pub fn is_ready(&self) -> bool {
        let known = locked(&self.known);
        let mut local = known
            .values()
            .filter(|known| known.role != Role::Elsewhere)
            .peekable();
        let has_failed = |known: &Known| matches!(known.condition, Condition::Failed(_));
        known.values().any(|known| known.role == Role::Workload)
            && !known.values().any(has_failed)
            && local.peek().is_some()
            && local.all(|known| known.condition.is_fine())
    }

    /// The first that failed, and why.
    pub fn failure(&self) -> Option<(String, String)> {
        let known = locked(&self.known);
        known
            .iter()
            .find_map(|(name, known)| match &known.condition {
                Condition::Failed(why) => Some((name.clone(), why.clone())),
                _ => None,
            })
    }

    /// `{phase, ready, workloads}`, and the fields next to them.
    pub fn render(&self, phase: Phase) -> Value {
        let of = |role: Role| -> BTreeMap<String, String> {
            let known = locked(&self.known);
            let of_role = known.iter().filter(|(_, known)| known.role == role);
            of_role
                .map(|(name, known)| (name.clone(), known.condition.shown()))
                .collect()
        };
        json!({
            "phase": phase,
            "ready": phase == Phase::Ready && self.is_ready(),
            "workloads": of(Role::Workload),
            "databases": of(Role::Database),
            "elsewhere": of(Role::Elsewhere),
        })
    }

    /// More about each.
    pub fn details(&self) -> Value {
        let known = locked(&self.known);
        let entries = known.iter().map(|(name, known)| {
            let about = json!({
                "type": known.kind,
                "role": known.role,
                "status": known.condition.shown(),
                "restarts": known.restarts,
            });
            (name.clone(), about)
        });
        Value::Object(entries.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_is_every_local_resource_and_at_least_one_workload() {
        let running = || Condition::Running(None);
        for (conditions, ready) in [
            (vec![], false),
            (vec![(Role::Database, running())], false),
            (vec![(Role::Workload, running())], true),
            (
                vec![
                    (Role::Workload, running()),
                    (Role::Workload, Condition::Failed("x".into())),
                ],
                false,
            ),
            (
                vec![
                    (Role::Workload, running()),
                    (Role::Database, Condition::Starting),
                ],
                false,
            ),
            (
                vec![
                    (Role::Workload, Condition::Idle),
                    (Role::Elsewhere, Condition::NotLocal("x".into())),
                ],
                true,
            ),
            (
                vec![
                    (Role::Workload, running()),
                    (Role::Elsewhere, Condition::Failed("x".into())),
                ],
                false,
            ),
        ] {
            let board = Board::default();
            for (index, (role, condition)) in conditions.iter().enumerate() {
                board.add(&index.to_string(), *role, "function", condition.clone());
            }
            assert_eq!(board.is_ready(), ready, "{conditions:?}");
        }
    }
}
