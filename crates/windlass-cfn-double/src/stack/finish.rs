//! How tasks end, well or badly, and what a stack has when all of them are done.

use super::names::Live;
use super::operation::{Job, Operation, Policy, Running, Source, State, Task, Verb};
use super::{Output, ResourceStatus, Stable, Stack, imports, task};
use crate::env::Env;
use crate::template::eval::Evaluation;

/// The physical resource now exists.
pub fn initiate(stack: &mut Stack, task: &mut Task, token: Option<&str>, env: &mut Env) {
    let id = task.logical_id.clone();
    let State::Running(running) = &mut task.state else {
        return;
    };
    running.initiates = None;
    let Some(next) = running.next.as_deref() else {
        return;
    };
    let status = match running.verb {
        Verb::Replace => {
            let before = stack.resources.insert(id.clone(), next.clone());
            stack.old.extend(before);
            ResourceStatus::UpdateInProgress
        }
        _ => {
            stack.resources.insert(id.clone(), next.clone());
            ResourceStatus::CreateInProgress
        }
    };
    env.born(&stack.id, &stack.region, next);
    let reason = Some("Resource creation Initiated");
    stack.mark(&id, status, reason, token, env);
}

/// The task's time is over.
pub fn end(stack: &mut Stack, operation: &mut Operation, index: usize, env: &mut Env) {
    let token = operation.token.clone();
    let token = token.as_deref();
    let task = &mut operation.tasks[index];
    let id = task.logical_id.clone();
    let State::Running(running) = std::mem::replace(&mut task.state, State::Done) else {
        return;
    };
    if let Some(reason) = &running.failure {
        let (status, source) = match (&task.job, running.verb) {
            (Job::Delete { source, .. }, _) => (ResourceStatus::DeleteFailed, *source),
            (_, Verb::Create) => (ResourceStatus::CreateFailed, Source::Current),
            _ => (ResourceStatus::UpdateFailed, Source::Current),
        };
        match &task.job {
            Job::Delete { resource, .. } => {
                task::record(stack, resource, source, status, Some(reason), token, env);
            }
            _ => stack.mark(&id, status, Some(reason), token, env),
        }
        task.state = State::Failed;
        operation.failed.push((id, running.verb));
        return;
    }
    succeed(stack, task, &running, token, env);
}

fn succeed(stack: &mut Stack, task: &Task, running: &Running, token: Option<&str>, env: &mut Env) {
    let id = task.logical_id.as_str();
    match running.verb {
        Verb::Create => stack.mark(id, ResourceStatus::CreateComplete, None, token, env),
        Verb::Replace => stack.mark(id, ResourceStatus::UpdateComplete, None, token, env),
        Verb::Update => {
            if let Some(next) = running.next.as_deref() {
                stack.resources.insert(id.to_owned(), next.clone());
            }
            stack.mark(id, ResourceStatus::UpdateComplete, None, token, env);
        }
        Verb::Revert => {
            if let Some(before) = running.next.as_deref() {
                let now = stack.resources.insert(id.to_owned(), before.clone());
                let is_replaced = |now: &super::Resource| {
                    now.physical.is_some() && now.physical != before.physical
                };
                stack.old.extend(now.filter(is_replaced));
            }
            stack.mark(id, ResourceStatus::UpdateComplete, None, token, env);
        }
        Verb::Delete => {
            let Job::Delete {
                resource,
                source,
                policy,
            } = &task.job
            else {
                return;
            };
            if *policy == Policy::Snapshot {
                env.keep(&stack.name, resource, "snapshot");
            }
            env.gone(&stack.region, resource);
            let status = ResourceStatus::DeleteComplete;
            task::record(stack, resource, *source, status, None, token, env);
        }
    }
}

/// Stops everything in progress because a sibling failed or the user asked.
pub fn cancel_all(stack: &mut Stack, operation: &mut Operation, env: &mut Env) {
    let token = operation.token.clone();
    for task in &mut operation.tasks {
        let State::Running(running) = &task.state else {
            continue;
        };
        let verb = running.verb;
        let (status, reason) = match verb {
            Verb::Create => (ResourceStatus::CreateFailed, "Resource creation cancelled"),
            _ => (ResourceStatus::UpdateFailed, "Resource update cancelled"),
        };
        task.state = State::Failed;
        stack.mark(
            &task.logical_id,
            status,
            Some(reason),
            token.as_deref(),
            env,
        );
        operation.failed.push((task.logical_id.clone(), verb));
    }
}

/// Outputs and exports of what was built, or why there are none.
pub fn outputs(stack: &Stack, env: &Env) -> Result<Vec<Output>, String> {
    let Some(target) = &stack.current else {
        return Ok(Vec::new());
    };
    let live = Live::new(stack, target, env);
    let evaluation = Evaluation::new(&target.template, &live);
    let mut outputs = Vec::new();
    for (key, rule) in &target.template.outputs {
        if !evaluation.holds(rule.condition.as_ref())? {
            continue;
        }
        let export = match &rule.export {
            Some(name) => Some(evaluation.text(name)?),
            None => None,
        };
        outputs.push(Output {
            key: key.clone(),
            value: evaluation.text(&rule.value)?,
            description: rule.description.clone(),
            export,
        });
    }
    env.check_exports(stack, &outputs)?;
    Ok(outputs)
}

/// From here on a failed update goes back to this.
pub fn settle(stack: &mut Stack, outputs: Vec<Output>, env: &mut Env) {
    let Some(target) = stack.current.clone() else {
        return;
    };
    env.publish(stack, &outputs);
    let used = imports(stack, &target, env);
    env.set_imports(&stack.id, used);
    stack.outputs.clone_from(&outputs);
    stack.stable = Some(Stable {
        target,
        resources: stack.resources.clone(),
        outputs,
    });
}
