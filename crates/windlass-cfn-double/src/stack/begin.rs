//! How operations begin: the stack's first event and the graph of tasks.

use std::collections::BTreeSet;

use super::operation::{Job, OnFailure, Operation, Phase, Policy, Source, Task};
use super::policy::denial;
use super::{Resource, ResourceStatus, Stack, StackStatus, Target, finish, names};
use crate::env::Env;
use crate::types;

const BY_USER: &str = "User Initiated";

/// A stack that does not exist yet, or only as a place for change sets.
pub fn begin_create(
    stack: &mut Stack,
    target: Target,
    on_failure: OnFailure,
    token: Option<&str>,
    env: &mut Env,
) -> Result<(), String> {
    let tasks = provision_tasks(stack, &target)?;
    stack.created = env.now;
    stack.disable_rollback = on_failure == OnFailure::DoNothing;
    stack.current = Some(target);
    stack.enter(
        StackStatus::CreateInProgress,
        Some(BY_USER.to_owned()),
        token,
        env,
    );
    let mut operation = Operation::new(Phase::Create, token.map(str::to_owned));
    operation.on_failure = on_failure;
    operation.plan(tasks);
    stack.operation = Some(operation);
    Ok(())
}

/// A stack that exists and should become something else.
pub fn begin_update(
    stack: &mut Stack,
    target: Target,
    disable_rollback: bool,
    token: Option<&str>,
    env: &mut Env,
) -> Result<(), String> {
    let mut tasks = provision_tasks(stack, &target)?;
    let kept: BTreeSet<String> = tasks
        .iter()
        .map(|(task, _)| task.logical_id.clone())
        .collect();
    let refused: Vec<(Task, Vec<String>)> = stack
        .resources
        .values()
        .filter(|resource| !kept.contains(&resource.logical_id) && !resource.status.is_gone())
        .filter_map(|resource| {
            let id = &resource.logical_id;
            let reason = denial(stack.policy.as_ref(), "Update:Delete", id, &resource.kind)?;
            Some((Task::new(id, Job::Refuse { reason }), Vec::new()))
        })
        .collect();
    tasks.splice(0..0, refused);
    stack.updated = Some(env.now);
    stack.disable_rollback = disable_rollback;
    stack.current = Some(target);
    stack.enter(
        StackStatus::UpdateInProgress,
        Some(BY_USER.to_owned()),
        token,
        env,
    );
    let mut operation = Operation::new(Phase::Update, token.map(str::to_owned));
    if disable_rollback {
        operation.on_failure = OnFailure::DoNothing;
    }
    operation.plan(tasks);
    stack.operation = Some(operation);
    Ok(())
}

fn provision_tasks(stack: &Stack, target: &Target) -> Result<Vec<(Task, Vec<String>)>, String> {
    let active = names::active(stack, target)?;
    Ok(active
        .iter()
        .map(|id| {
            let needs = target
                .template
                .resources
                .get(id)
                .map(|definition| definition.needs())
                .unwrap_or_default();
            (Task::new(id, Job::Provision), needs)
        })
        .collect())
}

/// Removes everything; `retain` names resources that are left behind.
pub fn begin_delete(
    stack: &mut Stack,
    retain: &[String],
    reason: Option<String>,
    token: Option<&str>,
    env: &mut Env,
) {
    if let Some(mut interrupted) = stack.operation.take() {
        finish::cancel_all(stack, &mut interrupted, env);
    }
    stack.deleted = Some(env.now);
    stack.enter(StackStatus::DeleteInProgress, reason, token, env);
    let mut operation = Operation::new(Phase::Delete, token.map(str::to_owned));
    operation.plan(removal_tasks(stack, retain, Phase::Delete));
    stack.operation = Some(operation);
}

/// Undoes a first creation.
pub fn begin_rollback_of_create(
    stack: &mut Stack,
    reason: String,
    token: Option<&str>,
    env: &mut Env,
) {
    stack.enter(StackStatus::RollbackInProgress, Some(reason), token, env);
    let mut operation = Operation::new(Phase::RollbackOfCreate, token.map(str::to_owned));
    operation.plan(removal_tasks(stack, &[], Phase::RollbackOfCreate));
    stack.operation = Some(operation);
}

/// Goes back to the stable state; `skip` names resources that are taken as they are.
pub fn begin_rollback_of_update(
    stack: &mut Stack,
    reason: String,
    skip: &[String],
    token: Option<&str>,
    env: &mut Env,
) {
    let Some(stable) = stack.stable.clone() else {
        return begin_rollback_of_create(stack, reason, token, env);
    };
    stack.current = Some(stable.target.clone());
    stack.enter(
        StackStatus::UpdateRollbackInProgress,
        Some(reason),
        token,
        env,
    );
    for id in skip {
        skip_resource(stack, id, token, env);
    }
    let tasks = stable
        .resources
        .values()
        .filter(|before| needs_revert(stack.resources.get(&before.logical_id), before))
        .map(|before| {
            let task = Task::new(&before.logical_id, Job::Revert);
            (task, before.needs.clone())
        })
        .collect();
    let mut operation = Operation::new(Phase::RollbackOfUpdate, token.map(str::to_owned));
    operation.plan(tasks);
    stack.operation = Some(operation);
}

/// Counts as reverted; what it really is differs from what the template says, which is drift.
fn skip_resource(stack: &mut Stack, id: &str, token: Option<&str>, env: &mut Env) {
    let before = stack
        .stable
        .as_ref()
        .and_then(|stable| stable.resources.get(id))
        .cloned();
    let Some(before) = before else { return };
    if let Some(resource) = stack.resources.get_mut(id) {
        let actual = resource.properties.clone();
        let physical = resource.physical.clone();
        *resource = before;
        if resource.physical != physical {
            resource.drift = Some(super::DriftState::Deleted);
        } else if resource.properties != actual {
            resource.drift = Some(super::DriftState::Modified(actual));
        }
    }
    stack.mark(id, ResourceStatus::UpdateComplete, None, token, env);
}

fn needs_revert(now: Option<&Resource>, before: &Resource) -> bool {
    match now {
        None => true,
        Some(now) => {
            !now.status.is_settled()
                || now.physical != before.physical
                || now.properties != before.properties
                || now.stack_tags != before.stack_tags
        }
    }
}

/// Everything that exists, each behind what needs it.
fn removal_tasks(stack: &Stack, retain: &[String], phase: Phase) -> Vec<(Task, Vec<String>)> {
    let current = stack
        .resources
        .values()
        .filter(|resource| !resource.status.is_gone())
        .map(|resource| {
            let policy = if retain.contains(&resource.logical_id) {
                Policy::Retain
            } else {
                deletion_policy(resource, phase)
            };
            (resource, Source::Current, policy)
        });
    let old = stack
        .old
        .iter()
        .map(|resource| (resource, Source::Old, Policy::Delete));
    reversed(current.chain(old).collect())
}

/// What a clean-up removes: current resources that are not kept, and replaced physical ones.
pub(super) fn cleanup_tasks(
    stack: &Stack,
    keep: &BTreeSet<String>,
    phase: Phase,
) -> Vec<(Task, Vec<String>)> {
    let current = stack
        .resources
        .values()
        .filter(|resource| !keep.contains(&resource.logical_id))
        .map(|resource| (resource, Source::Current, deletion_policy(resource, phase)));
    let in_use = stack
        .resources
        .values()
        .filter(|resource| keep.contains(&resource.logical_id))
        .filter_map(Resource::physical_id)
        .collect::<BTreeSet<_>>();
    let old = stack
        .old
        .iter()
        .filter(|resource| {
            resource
                .physical_id()
                .is_some_and(|id| !in_use.contains(id))
        })
        .map(|resource| {
            let policy = match (phase, resource.update_replace_policy.as_deref()) {
                (Phase::UpdateCleanup, Some("Retain")) => Policy::Retain,
                (Phase::UpdateCleanup, Some("Snapshot")) => Policy::Snapshot,
                _ => Policy::Delete,
            };
            (resource, Source::Old, policy)
        });
    reversed(current.chain(old).collect())
}

fn deletion_policy(resource: &Resource, phase: Phase) -> Policy {
    let is_undoing = matches!(phase, Phase::RollbackOfCreate | Phase::RollbackCleanup);
    let written = resource.deletion_policy.as_deref();
    match written
        .unwrap_or_else(|| types::default_deletion_policy(&resource.kind, &resource.properties))
    {
        "Retain" => Policy::Retain,
        "RetainExceptOnCreate" if !is_undoing => Policy::Retain,
        // A resource that was never used has nothing worth a snapshot.
        "Snapshot" if !is_undoing => Policy::Snapshot,
        _ => Policy::Delete,
    }
}

fn reversed(found: Vec<(&Resource, Source, Policy)>) -> Vec<(Task, Vec<String>)> {
    found
        .iter()
        .map(|(resource, source, policy)| {
            let dependents = found
                .iter()
                .filter(|(other, _, _)| other.needs.contains(&resource.logical_id))
                .map(|(other, _, _)| other.logical_id.clone())
                .collect();
            let job = Job::Delete {
                resource: Box::new((*resource).clone()),
                source: *source,
                policy: *policy,
            };
            (Task::new(&resource.logical_id, job), dependents)
        })
        .collect()
}
