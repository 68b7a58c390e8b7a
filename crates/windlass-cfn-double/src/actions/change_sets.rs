//! Change sets: made, described, executed, thrown away.

use super::operate::{check_name, from_state};
use super::page::page;
use super::{Context, describe};
use crate::clock;
use crate::error::ApiError;
use crate::stack::change_set::{ChangeSet, Execution, Kind, Status};
use crate::stack::{
    Detail, OnFailure, ResourceChange, Stack, StackStatus, begin_create, begin_update, diff,
    differs_outside,
};
use crate::xml::Element;

const EMPTY: &str = "The submitted information didn't contain changes. Submit different \
                     information to create a change set.";

pub fn create(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let stack_name = context.params.required("StackName")?.to_owned();
    let name = context.params.required("ChangeSetName")?.to_owned();
    check_name("changeSetName", &name)?;
    let kind = match context.params.get("ChangeSetType") {
        Some("CREATE") => Kind::Create,
        None | Some("UPDATE") => Kind::Update,
        Some(other) => {
            return Err(ApiError::validation(format!(
                "The double makes change sets of type CREATE and UPDATE, not {other}"
            )));
        }
    };
    let on_failure = on_failure(context.params.get("OnStackFailure"))?;
    let found = context.find(&stack_name);
    let previous = match (kind, found) {
        (Kind::Create, Some(index)) => {
            let stack = &context.stacks[index];
            if stack.status != StackStatus::ReviewInProgress {
                return Err(ApiError::validation(format!(
                    "Stack [{stack_name}] already exists and cannot be created again with the \
                     changeSet [{name}]."
                )));
            }
            None
        }
        (Kind::Update, Some(index)) => {
            from_state(&context.stacks[index])?;
            context.stacks[index].current.clone()
        }
        (Kind::Update, None) => {
            return Err(ApiError::validation(format!(
                "Stack [{stack_name}] does not exist"
            )));
        }
        (Kind::Create, None) => {
            check_name("stackName", &stack_name)?;
            None
        }
    };
    let client_token = context.params.get("ClientToken").map(str::to_owned);
    if let Some(index) = found
        && let Some(same) = context.stacks[index]
            .change_sets
            .iter()
            .find(|change_set| change_set.name == name)
    {
        // The same token asks for the change set it already made.
        if client_token.is_some() && same.client_token == client_token {
            return Ok(identity(&context.stacks[index], same));
        }
        return Err(ApiError::new(
            "AlreadyExistsException",
            400,
            format!("ChangeSet {name} already exists"),
        ));
    }
    let target = super::target::target(context, previous.as_ref())?;
    let index = match found {
        Some(index) => index,
        None => {
            let mut stack = Stack::new(&stack_name, context.region, context.env);
            let reason = Some("User Initiated".to_owned());
            stack.enter(StackStatus::ReviewInProgress, reason, None, context.env);
            context.stacks.push(stack);
            context.stacks.len() - 1
        }
    };
    let env = &mut *context.env;
    let id = format!(
        "arn:aws:cloudformation:{}:{}:changeSet/{name}/{}",
        context.region,
        env.account,
        env.ids.uuid()
    );
    let forced = env.faults.change_set.take();
    let stack = &mut context.stacks[index];
    let compared = diff(stack, &target, false, env)
        .and_then(|plain| Ok((plain, diff(stack, &target, true, env)?)));
    let (changes, changes_with_values, mut outcome) = match compared {
        Err(reason) => (Vec::new(), Vec::new(), Err(reason)),
        Ok((plain, _)) if plain.is_empty() && !is_changed(stack, &target) => {
            (Vec::new(), Vec::new(), Err(EMPTY.to_owned()))
        }
        Ok((plain, with_values)) => (plain, with_values, Ok(())),
    };
    if let Some(reason) = forced {
        outcome = Err(reason);
    }
    let change_set = ChangeSet {
        id,
        name,
        description: context.params.get("Description").map(str::to_owned),
        kind,
        created: env.now,
        ready: env.now + env.durations.change_set_ms,
        status: Status::CreatePending,
        reason: None,
        execution: Execution::Unavailable,
        target,
        on_failure,
        changes,
        changes_with_values,
        outcome,
        client_token,
    };
    let answer = identity(stack, &change_set);
    stack.change_sets.push(change_set);
    Ok(answer)
}

fn is_changed(stack: &Stack, target: &crate::stack::Target) -> bool {
    match &stack.current {
        Some(current) => differs_outside(current, target),
        None => true,
    }
}

fn identity(stack: &Stack, change_set: &ChangeSet) -> Element {
    Element::new()
        .with("Id", &change_set.id)
        .with("StackId", &stack.id)
}

pub fn on_failure(text: Option<&str>) -> Result<Option<OnFailure>, ApiError> {
    match text {
        None => Ok(None),
        Some("ROLLBACK") => Ok(Some(OnFailure::Rollback)),
        Some("DO_NOTHING") => Ok(Some(OnFailure::DoNothing)),
        Some("DELETE") => Ok(Some(OnFailure::Delete)),
        Some(other) => Err(ApiError::validation(format!(
            "1 validation error detected: Value '{other}' at 'onStackFailure' failed to satisfy \
             constraint: Member must satisfy enum value set: [DELETE, ROLLBACK, DO_NOTHING]"
        ))),
    }
}

/// (stack, change set) by ARN, or by the two names.
fn find(context: &Context<'_>) -> Result<(usize, usize), ApiError> {
    let name = context.params.required("ChangeSetName")?;
    let missing = || {
        ApiError::new(
            "ChangeSetNotFound",
            404,
            format!("ChangeSet [{name}] does not exist"),
        )
    };
    if name.starts_with("arn:") {
        return context
            .stacks
            .iter()
            .enumerate()
            .find_map(|(index, stack)| {
                let at = stack
                    .change_sets
                    .iter()
                    .position(|found| found.id == name)?;
                Some((index, at))
            })
            .ok_or_else(missing);
    }
    let Some(stack_name) = context.params.get("StackName") else {
        return Err(ApiError::validation(
            "StackName must be specified if ChangeSetName is not specified as an ARN.",
        ));
    };
    let index = context
        .find(stack_name)
        .ok_or_else(|| ApiError::validation(format!("Stack [{stack_name}] does not exist")))?;
    let at = context.stacks[index]
        .change_sets
        .iter()
        .position(|found| found.name == name)
        .ok_or_else(missing)?;
    Ok((index, at))
}

pub fn describe(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let (index, at) = find(context)?;
    let stack = &context.stacks[index];
    let change_set = &stack.change_sets[at];
    let is_ready = change_set.status == Status::CreateComplete;
    let with_values = context.params.flag("IncludePropertyValues");
    let changes = match (is_ready, with_values) {
        (false, _) => Vec::new(),
        (true, true) => change_set.changes_with_values.clone(),
        (true, false) => change_set.changes.clone(),
    };
    let (changes, next) = page(changes, context.params.get("NextToken"), context.page_size)?;
    Ok(Element::new()
        .with("ChangeSetName", &change_set.name)
        .with("ChangeSetId", &change_set.id)
        .with("StackId", &stack.id)
        .with("StackName", &stack.name)
        .maybe("Description", change_set.description.as_ref())
        .list("Parameters", describe::parameters(&change_set.target))
        .with("CreationTime", clock::iso(change_set.created))
        .with("ExecutionStatus", change_set.execution.name())
        .with("Status", change_set.status.name())
        .maybe("StatusReason", change_set.reason.as_ref())
        .list("NotificationARNs", change_set.target.notifications.iter())
        .with("RollbackConfiguration", Element::new())
        .list("Capabilities", change_set.target.capabilities.iter())
        .list("Tags", describe::tags(&change_set.target))
        .list("Changes", changes.iter().map(change))
        .maybe("NextToken", next)
        .with("IncludeNestedStacks", false))
}

fn change(change: &ResourceChange) -> Element {
    let resource = Element::new()
        .maybe("PolicyAction", change.policy_action)
        .with("Action", change.action)
        .with("LogicalResourceId", &change.logical_id)
        .maybe("PhysicalResourceId", change.physical_id.as_ref())
        .with("ResourceType", &change.kind)
        .maybe("Replacement", change.replacement)
        .list("Scope", change.scope.iter().copied())
        .list("Details", change.details.iter().map(detail))
        .maybe(
            "BeforeContext",
            change.before.as_ref().map(ToString::to_string),
        )
        .maybe(
            "AfterContext",
            change.after.as_ref().map(ToString::to_string),
        );
    Element::new()
        .with("Type", "Resource")
        .with("ResourceChange", resource)
}

fn detail(detail: &Detail) -> Element {
    let has_values = detail.path.is_some();
    let target = Element::new()
        .with("Attribute", detail.attribute)
        .maybe("Name", detail.name.as_ref())
        .with("RequiresRecreation", detail.recreation.name())
        .maybe("Path", detail.path.as_ref())
        .maybe("BeforeValue", detail.before.as_ref())
        .maybe("AfterValue", detail.after.as_ref())
        .maybe("AttributeChangeType", has_values.then_some(detail.change));
    Element::new()
        .with("Target", target)
        .with(
            "Evaluation",
            if detail.is_static {
                "Static"
            } else {
                "Dynamic"
            },
        )
        .maybe("ChangeSource", detail.source)
        .maybe("CausingEntity", detail.cause.as_ref())
}

pub fn delete(context: &mut Context<'_>) -> Result<Element, ApiError> {
    match find(context) {
        Ok((index, at)) => {
            let change_set = &context.stacks[index].change_sets[at];
            if change_set.execution == Execution::InProgress {
                return Err(ApiError::new(
                    "InvalidChangeSetStatus",
                    400,
                    format!(
                        "ChangeSet [{}] cannot be deleted in its current execution status of [{}]",
                        change_set.id,
                        change_set.execution.name()
                    ),
                ));
            }
            context.stacks[index].change_sets.remove(at);
            Ok(Element::new())
        }
        // Deleting what is not there has worked.
        Err(error) if error.code == "ChangeSetNotFound" => Ok(Element::new()),
        Err(error) => Err(error),
    }
}

pub fn list(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let index = context.stack()?;
    let stack = &context.stacks[index];
    let all: Vec<&ChangeSet> = stack.change_sets.iter().collect();
    let (found, next) = page(all, context.params.get("NextToken"), context.page_size)?;
    let summary = |change_set: &&ChangeSet| {
        Element::new()
            .with("StackId", &stack.id)
            .with("StackName", &stack.name)
            .with("ChangeSetId", &change_set.id)
            .with("ChangeSetName", &change_set.name)
            .with("ExecutionStatus", change_set.execution.name())
            .with("Status", change_set.status.name())
            .maybe("StatusReason", change_set.reason.as_ref())
            .with("CreationTime", clock::iso(change_set.created))
            .maybe("Description", change_set.description.as_ref())
    };
    Ok(Element::new()
        .list("Summaries", found.iter().map(summary))
        .maybe("NextToken", next))
}

pub fn execute(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let (index, at) = find(context)?;
    if context.is_repeated(index, "ExecuteChangeSet")? {
        return Ok(Element::new());
    }
    let disable_rollback = context.params.flag("DisableRollback");
    let token = context.token().map(str::to_owned);
    let stack = &mut context.stacks[index];
    let change_set = stack.change_sets[at].clone();
    if change_set.execution != Execution::Available {
        let status = match change_set.execution {
            Execution::Unavailable => change_set.status.name(),
            other => other.name(),
        };
        return Err(ApiError::new(
            "InvalidChangeSetStatus",
            400,
            format!(
                "ChangeSet [{}] cannot be executed in its current status of [{status}]",
                change_set.id
            ),
        ));
    }
    let started = match change_set.kind {
        Kind::Create => {
            let otherwise = if disable_rollback {
                OnFailure::DoNothing
            } else {
                OnFailure::Rollback
            };
            let on_failure = change_set.on_failure.unwrap_or(otherwise);
            begin_create(
                stack,
                change_set.target,
                on_failure,
                token.as_deref(),
                context.env,
            )
        }
        Kind::Update => {
            from_state(stack)?;
            let disable = disable_rollback || change_set.on_failure == Some(OnFailure::DoNothing);
            begin_update(
                stack,
                change_set.target,
                disable,
                token.as_deref(),
                context.env,
            )
        }
    };
    started.map_err(ApiError::validation)?;
    stack.executed = Some(change_set.id);
    for (position, other) in stack.change_sets.iter_mut().enumerate() {
        if position == at {
            other.execution = Execution::InProgress;
        } else if matches!(
            other.execution,
            Execution::Available | Execution::Unavailable
        ) {
            other.execution = Execution::Obsolete;
        }
    }
    Ok(Element::new())
}
