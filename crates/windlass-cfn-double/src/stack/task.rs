//! How a task starts: what it will do is decided here, from values that are known by now.

use serde_json::Value;

use super::names::Live;
use super::operation::{Job, Operation, Phase, Policy, Running, Source, State, Verb};
use super::policy::denial;
use super::{Resource, ResourceStatus, Stack};
use crate::env::Env;
use crate::faults::{Moment, ResourceEffect};
use crate::template::Definition;
use crate::template::eval::Evaluation;
use crate::types::{self, Naming, Recreation};

const REPLACES: &str = "Requested update requires the creation of a new physical resource; hence \
                        creating one.";

/// Starts a task and answers with its state; a task that has nothing to do is done at once.
pub fn start(stack: &mut Stack, operation: &Operation, index: usize, env: &mut Env) -> State {
    let task = &operation.tasks[index];
    let token = operation.token.as_deref();
    match &task.job {
        Job::Provision => provision(stack, operation, &task.logical_id, env),
        Job::Revert => revert(stack, operation, &task.logical_id, env),
        Job::Refuse { reason } => {
            let id = &task.logical_id;
            stack.mark(id, ResourceStatus::UpdateInProgress, None, token, env);
            fails_now(Verb::Update, reason.clone(), env)
        }
        Job::Delete {
            resource,
            source,
            policy,
        } => delete(stack, operation, resource, *source, *policy, env),
    }
}

fn fails_now(verb: Verb, reason: String, env: &Env) -> State {
    State::Running(Box::new(Running {
        verb,
        initiates: None,
        ends: Some(env.now),
        failure: Some(reason),
        next: None,
    }))
}

fn provision(stack: &mut Stack, operation: &Operation, id: &str, env: &mut Env) -> State {
    let Some(target) = stack.current.clone() else {
        return State::Done;
    };
    let Some(definition) = target.template.resources.get(id) else {
        return State::Done;
    };
    let properties = {
        let live = Live::new(stack, &target, env);
        Evaluation::new(&target.template, &live).value(&definition.properties)
    };
    let existing = stack
        .resources
        .get(id)
        .filter(|resource| is_updatable(resource))
        .cloned();
    let wanted = |properties: Value| described(id, definition, properties, &target.tags, env.now);
    match (properties, existing) {
        (Ok(properties), None) => {
            let next = wanted(properties);
            create(stack, operation, next, env)
        }
        (Ok(properties), Some(before)) => {
            let next = wanted(properties);
            update(stack, operation, &before, next, env)
        }
        (Err(reason), existing) => {
            let token = operation.token.as_deref();
            let (verb, status) = match existing {
                Some(_) => (Verb::Update, ResourceStatus::UpdateInProgress),
                None => {
                    let next = wanted(definition.properties.clone());
                    stack.resources.insert(id.to_owned(), next);
                    (Verb::Create, ResourceStatus::CreateInProgress)
                }
            };
            stack.mark(id, status, None, token, env);
            fails_now(verb, reason, env)
        }
    }
}

/// A resource whose creation failed is created again, not updated.
fn is_updatable(resource: &Resource) -> bool {
    resource.physical.is_some()
        && !resource.status.is_gone()
        && resource.status != ResourceStatus::CreateFailed
}

fn described(
    id: &str,
    definition: &Definition,
    properties: Value,
    tags: &std::collections::BTreeMap<String, String>,
    now: u64,
) -> Resource {
    Resource {
        logical_id: id.to_owned(),
        kind: definition.kind.clone(),
        physical: None,
        properties,
        metadata: definition.metadata.clone(),
        stack_tags: tags.clone(),
        needs: definition.needs(),
        deletion_policy: definition.deletion_policy.clone(),
        update_replace_policy: definition.update_replace_policy.clone(),
        status: ResourceStatus::CreateInProgress,
        reason: None,
        updated: now,
        drift: None,
        checked: None,
    }
}

fn create(stack: &mut Stack, operation: &Operation, mut next: Resource, env: &mut Env) -> State {
    let id = next.logical_id.clone();
    let token = operation.token.as_deref();
    // What an earlier failed creation left behind makes way for the new attempt.
    if let Some(remains) = stack.resources.remove(&id)
        && !remains.status.is_gone()
    {
        env.gone(&stack.region, &remains);
    }
    stack.resources.insert(id.clone(), next.clone());
    stack.mark(&id, ResourceStatus::CreateInProgress, None, token, env);
    if let Some(reason) = types::complaint(&next.kind, &id, &next.properties)
        .or_else(|| env.missing(&stack.region, &next.kind, &next.properties))
    {
        return fails_now(Verb::Create, reason, env);
    }
    let physical = types::physical(
        &next.kind,
        &next.properties,
        &naming(stack, &id),
        &mut env.ids,
    );
    if physical.is_named
        && let Some(owner) = env.owner(&stack.region, &next.kind, &physical.id)
    {
        let reason = format!("{} already exists in stack {owner}", physical.name);
        return fails_now(Verb::Create, reason, env);
    }
    next.physical = Some(physical);
    let effect = env.faults.take(&stack.name, &id, Moment::Create);
    running(stack, Verb::Create, Some(next), effect, &id, env)
}

fn naming<'a>(stack: &'a Stack, logical_id: &'a str) -> Naming<'a> {
    Naming {
        account: &stack.account,
        region: &stack.region,
        stack: &stack.name,
        logical_id,
    }
}

/// A task in progress that lasts as long as its resource does.
fn running(
    stack: &Stack,
    verb: Verb,
    next: Option<Resource>,
    effect: Option<ResourceEffect>,
    id: &str,
    env: &Env,
) -> State {
    let kind = next.as_ref().map(|next| next.kind.as_str());
    let kind = kind.unwrap_or_default();
    let duration = env.durations.of(&stack.name, id, kind);
    let announces = matches!(verb, Verb::Create | Verb::Replace);
    let (ends, failure) = match effect {
        None => (Some(env.now + duration), None),
        Some(ResourceEffect::Fail { reason }) => (Some(env.now + duration), Some(reason)),
        Some(ResourceEffect::Hang) => (None, None),
    };
    State::Running(Box::new(Running {
        verb,
        initiates: announces.then_some(env.now + duration / 2),
        ends,
        failure,
        next: next.map(Box::new),
    }))
}

fn update(
    stack: &mut Stack,
    operation: &Operation,
    before: &Resource,
    mut next: Resource,
    env: &mut Env,
) -> State {
    let id = next.logical_id.clone();
    let token = operation.token.as_deref();
    next.physical.clone_from(&before.physical);
    let retagged = types::takes_tags(&next.kind) && before.stack_tags != next.stack_tags;
    let needed = needed_recreation(before, &next, env);
    if needed.is_none() && !retagged && before.status != ResourceStatus::UpdateFailed {
        // Policies, metadata and order are the stack's own business: no event.
        next.status = before.status;
        next.updated = before.updated;
        next.drift.clone_from(&before.drift);
        next.checked = before.checked;
        stack.resources.insert(id, next);
        return State::Done;
    }
    let replaces = needed == Some(Recreation::Always);
    let action = if replaces {
        "Update:Replace"
    } else {
        "Update:Modify"
    };
    let reason = replaces.then_some(REPLACES);
    stack.mark(&id, ResourceStatus::UpdateInProgress, reason, token, env);
    let verb = if replaces {
        Verb::Replace
    } else {
        Verb::Update
    };
    if let Some(refusal) = denial(stack.policy.as_ref(), action, &id, &next.kind)
        .or_else(|| types::complaint(&next.kind, &id, &next.properties))
        .or_else(|| env.missing(&stack.region, &next.kind, &next.properties))
    {
        return fails_now(verb, refusal, env);
    }
    if replaces {
        let physical = types::physical(
            &next.kind,
            &next.properties,
            &naming(stack, &id),
            &mut env.ids,
        );
        if physical.is_named && before.physical_id() == Some(physical.id.as_str()) {
            let reason = format!(
                "CloudFormation cannot update a stack when a custom-named resource requires \
                 replacing. Rename {} and update the stack again.",
                physical.name
            );
            return fails_now(verb, reason, env);
        }
        if physical.is_named
            && let Some(owner) = env.owner(&stack.region, &next.kind, &physical.id)
        {
            let reason = format!("{} already exists in stack {owner}", physical.name);
            return fails_now(verb, reason, env);
        }
        next.physical = Some(physical);
    }
    next.status = ResourceStatus::UpdateInProgress;
    let effect = env.faults.take(&stack.name, &id, Moment::Update);
    running(stack, verb, Some(next), effect, &id, env)
}

/// What the changed properties need together; `None` when none changed.
fn needed_recreation(before: &Resource, next: &Resource, env: &Env) -> Option<Recreation> {
    let (Value::Object(old), Value::Object(new)) = (&before.properties, &next.properties) else {
        return (before.properties != next.properties).then_some(Recreation::Never);
    };
    let needed = old
        .keys()
        .chain(new.keys())
        .filter(|name| old.get(*name) != new.get(*name))
        .map(|name| {
            let before = old.get(name).unwrap_or(&Value::Null);
            let after = new.get(name).unwrap_or(&Value::Null);
            types::recreation(&next.kind, name, before, after)
        })
        .max()?;
    // Whether a conditional change replaces is the service's secret; the double updates in place
    // unless configured otherwise.
    if needed == Recreation::Conditionally && env.replaces_conditionally(&next.logical_id) {
        return Some(Recreation::Always);
    }
    Some(needed)
}

fn revert(stack: &mut Stack, operation: &Operation, id: &str, env: &mut Env) -> State {
    let before = stack
        .stable
        .as_ref()
        .and_then(|stable| stable.resources.get(id))
        .cloned();
    let Some(before) = before else {
        return State::Done;
    };
    if !stack.resources.contains_key(id) {
        stack.resources.insert(id.to_owned(), before);
        return State::Done;
    }
    let token = operation.token.as_deref();
    stack.mark(id, ResourceStatus::UpdateInProgress, None, token, env);
    let effect = env.faults.take(&stack.name, id, Moment::Rollback);
    running(stack, Verb::Revert, Some(before), effect, id, env)
}

fn delete(
    stack: &mut Stack,
    operation: &Operation,
    resource: &Resource,
    source: Source,
    policy: Policy,
    env: &mut Env,
) -> State {
    let id = &resource.logical_id;
    let token = operation.token.as_deref();
    if resource.physical.is_none() {
        record(
            stack,
            resource,
            source,
            ResourceStatus::DeleteComplete,
            None,
            token,
            env,
        );
        return State::Done;
    }
    if policy == Policy::Retain {
        env.keep(&stack.name, resource, "retained");
        record(
            stack,
            resource,
            source,
            ResourceStatus::DeleteSkipped,
            None,
            token,
            env,
        );
        return State::Done;
    }
    record(
        stack,
        resource,
        source,
        ResourceStatus::DeleteInProgress,
        None,
        token,
        env,
    );
    let moment = match operation.phase {
        Phase::RollbackOfCreate => Moment::Rollback,
        _ => Moment::Delete,
    };
    let effect = env.faults.take(&stack.name, id, moment).or_else(|| {
        let reason = env.undeletable(resource)?;
        Some(ResourceEffect::Fail { reason })
    });
    running(stack, Verb::Delete, Some(resource.clone()), effect, id, env)
}

/// Records what happens to a resource that is going, wherever it is listed.
pub(super) fn record(
    stack: &mut Stack,
    resource: &Resource,
    source: Source,
    status: ResourceStatus,
    reason: Option<&str>,
    token: Option<&str>,
    env: &mut Env,
) {
    match source {
        Source::Current => stack.mark(&resource.logical_id, status, reason, token, env),
        Source::Old => stack.record(resource, status, reason, token, env),
    }
}
