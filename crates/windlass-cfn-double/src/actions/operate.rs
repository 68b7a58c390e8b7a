//! Operations on stacks: create, update, delete, roll back, protect.

use super::Context;
use super::change_sets::on_failure;
use crate::error::ApiError;
use crate::stack::{
    OnFailure, ResourceStatus, Stack, StackStatus, begin_create, begin_delete,
    begin_rollback_of_create, begin_rollback_of_update, begin_update, check_policy, diff,
    differs_outside,
};
use crate::xml::Element;

const BY_USER: &str = "User Initiated";

/// Letters, digits and hyphens, a letter first, at most 128.
pub fn check_name(member: &str, name: &str) -> Result<(), ApiError> {
    let is_valid = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.len() <= 128
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_valid {
        return Ok(());
    }
    Err(ApiError::validation(format!(
        "1 validation error detected: Value '{name}' at '{member}' failed to satisfy constraint: \
         Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*"
    )))
}

/// Refuses an update of a stack whose state does not allow one.
pub fn from_state(stack: &Stack) -> Result<(), ApiError> {
    if stack.status.allows_update() {
        return Ok(());
    }
    Err(ApiError::validation(format!(
        "Stack:{} is in {} state and can not be updated.",
        stack.id,
        stack.status.name()
    )))
}

pub fn create(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let name = context.params.required("StackName")?.to_owned();
    check_name("stackName", &name)?;
    if let Some(index) = context.find(&name) {
        let token = context.token();
        let is_same = token.is_some_and(|token| {
            let tokens = &context.stacks[index].tokens;
            tokens
                .get(token)
                .is_some_and(|action| action == "CreateStack")
        });
        if is_same {
            return Ok(Element::new().with("StackId", &context.stacks[index].id));
        }
        return Err(ApiError::new(
            "AlreadyExistsException",
            400,
            format!("Stack [{name}] already exists"),
        ));
    }
    let target = super::target::target(context, None)?;
    let policy = match context.params.get("StackPolicyBody") {
        Some(body) => Some(check_policy(body)?),
        None => None,
    };
    let wanted = match context.params.get("OnFailure") {
        None if context.params.flag("DisableRollback") => OnFailure::DoNothing,
        text => on_failure(text)?.unwrap_or(OnFailure::Rollback),
    };
    let token = context.token().map(str::to_owned);
    let mut stack = Stack::new(&name, context.region, context.env);
    stack.policy = policy;
    stack.termination_protection = context.params.flag("EnableTerminationProtection");
    stack
        .tokens
        .extend(token.clone().map(|token| (token, "CreateStack".to_owned())));
    begin_create(&mut stack, target, wanted, token.as_deref(), context.env)
        .map_err(ApiError::validation)?;
    let answer = Element::new().with("StackId", &stack.id);
    context.stacks.push(stack);
    Ok(answer)
}

pub fn update(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let index = context.stack()?;
    if context.is_repeated(index, "UpdateStack")? {
        return Ok(Element::new().with("StackId", &context.stacks[index].id));
    }
    from_state(&context.stacks[index])?;
    let previous = context.stacks[index].current.clone();
    let target = super::target::target(context, previous.as_ref())?;
    if let Some(body) = context.params.get("StackPolicyBody") {
        context.stacks[index].policy = Some(check_policy(body)?);
    }
    let stack = &mut context.stacks[index];
    let changes = diff(stack, &target, false, context.env).map_err(ApiError::validation)?;
    let is_same = previous.is_some_and(|previous| !differs_outside(&previous, &target));
    if changes.is_empty() && is_same {
        return Err(ApiError::validation("No updates are to be performed."));
    }
    let token = context.params.get("ClientRequestToken");
    let disable = context.params.flag("DisableRollback");
    begin_update(stack, target, disable, token, context.env).map_err(ApiError::validation)?;
    Ok(Element::new().with("StackId", &stack.id))
}

pub fn delete(context: &mut Context<'_>) -> Result<(), ApiError> {
    let name = context.params.required("StackName")?;
    let Some(index) = context.find(name) else {
        // Deleting what is not there has worked.
        return Ok(());
    };
    let retain = context.params.list("RetainResources");
    let stack = &context.stacks[index];
    if stack.termination_protection {
        return Err(ApiError::validation(format!(
            "Stack [{}] cannot be deleted while TerminationProtection is enabled",
            stack.name
        )));
    }
    match stack.status {
        StackStatus::DeleteComplete | StackStatus::DeleteInProgress => return Ok(()),
        StackStatus::CreateInProgress => {}
        status if status.is_busy() => {
            return Err(ApiError::validation(format!(
                "Stack [{}] cannot be deleted while in status {}",
                stack.id,
                status.name()
            )));
        }
        status if !retain.is_empty() && status != StackStatus::DeleteFailed => {
            return Err(ApiError::validation(format!(
                "Invalid operation on stack [{}]. RetainResources can only be specified for a \
                 stack in DELETE_FAILED state; it is in {}",
                stack.id,
                status.name()
            )));
        }
        _ => {}
    }
    if context.is_repeated(index, "DeleteStack")? {
        return Ok(());
    }
    let token = context.token().map(str::to_owned);
    let token = token.as_deref();
    let stack = &mut context.stacks[index];
    let by_user = Some(BY_USER.to_owned());
    if let Err(reason) = context.env.check_exports(stack, &[]) {
        stack.enter(StackStatus::DeleteInProgress, by_user, token, context.env);
        stack.enter(StackStatus::DeleteFailed, Some(reason), token, context.env);
        return Ok(());
    }
    begin_delete(stack, &retain, by_user, token, context.env);
    Ok(())
}

pub fn cancel(context: &mut Context<'_>) -> Result<(), ApiError> {
    let index = context.stack()?;
    if context.is_repeated(index, "CancelUpdateStack")? {
        return Ok(());
    }
    let token = context.token().map(str::to_owned);
    let stack = &mut context.stacks[index];
    match &mut stack.operation {
        Some(operation) if stack.status == StackStatus::UpdateInProgress => {
            operation.is_cancelled = true;
            if token.is_some() {
                operation.token = token;
            }
            Ok(())
        }
        _ => Err(ApiError::validation(
            "CancelUpdateStack cannot be called from current stack status",
        )),
    }
}

pub fn rollback(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let index = context.stack()?;
    let answer = Element::new().with("StackId", &context.stacks[index].id);
    if context.is_repeated(index, "RollbackStack")? {
        return Ok(answer);
    }
    let token = context.token().map(str::to_owned);
    let token = token.as_deref();
    let stack = &mut context.stacks[index];
    let reason = BY_USER.to_owned();
    match stack.status {
        StackStatus::CreateFailed => begin_rollback_of_create(stack, reason, token, context.env),
        StackStatus::UpdateFailed => {
            begin_rollback_of_update(stack, reason, &[], token, context.env);
        }
        status => {
            return Err(ApiError::validation(format!(
                "Stack:{} is in {} state and can not be rolled back.",
                stack.id,
                status.name()
            )));
        }
    }
    Ok(answer)
}

pub fn continue_rollback(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let index = context.stack()?;
    if context.is_repeated(index, "ContinueUpdateRollback")? {
        return Ok(Element::new());
    }
    let skip = context.params.list("ResourcesToSkip");
    let token = context.token().map(str::to_owned);
    let stack = &mut context.stacks[index];
    if stack.status != StackStatus::UpdateRollbackFailed {
        return Err(ApiError::validation(format!(
            "Stack:{} is in {} state and can not continue update rollback.",
            stack.id,
            stack.status.name()
        )));
    }
    let wrong: Vec<&str> = skip
        .iter()
        .map(String::as_str)
        .filter(|id| {
            let status = stack.resources.get(*id).map(|resource| resource.status);
            status != Some(ResourceStatus::UpdateFailed)
        })
        .collect();
    if !wrong.is_empty() {
        return Err(ApiError::validation(format!(
            "ResourcesToSkip can only name resources in UPDATE_FAILED state: [{}]",
            wrong.join(", ")
        )));
    }
    let reason = BY_USER.to_owned();
    begin_rollback_of_update(stack, reason, &skip, token.as_deref(), context.env);
    Ok(Element::new())
}

pub fn set_policy(context: &mut Context<'_>) -> Result<(), ApiError> {
    let index = context.stack()?;
    let policy = check_policy(context.params.required("StackPolicyBody")?)?;
    context.stacks[index].policy = Some(policy);
    Ok(())
}

pub fn get_policy(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let index = context.stack()?;
    let policy = context.stacks[index].policy.as_ref();
    Ok(Element::new().maybe("StackPolicyBody", policy.map(ToString::to_string)))
}

pub fn protect(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let index = context.stack()?;
    let enable = context.params.required("EnableTerminationProtection")? == "true";
    let stack = &mut context.stacks[index];
    stack.termination_protection = enable;
    Ok(Element::new().with("StackId", &stack.id))
}
