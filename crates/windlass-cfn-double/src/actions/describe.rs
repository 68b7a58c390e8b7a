//! What stacks say of themselves: state, events, resources, exports.

use super::Context;
use super::page::{page, position, token_of};
use crate::clock;
use crate::error::ApiError;
use crate::stack::{Event, Output, Resource, Stack, StackStatus, Target};
use crate::xml::Element;

pub fn stacks(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let found: Vec<&Stack> = match context.params.get("StackName") {
        Some(name) => {
            let index = context.find(name).ok_or_else(|| {
                ApiError::validation(format!("Stack with id {name} does not exist"))
            })?;
            vec![&context.stacks[index]]
        }
        None => context
            .stacks
            .iter()
            .filter(|stack| {
                stack.region == context.region && stack.status != StackStatus::DeleteComplete
            })
            .collect(),
    };
    let (found, next) = page(found, context.params.get("NextToken"), context.page_size)?;
    Ok(Element::new()
        .list("Stacks", found.into_iter().map(stack))
        .maybe("NextToken", next))
}

fn stack(stack: &Stack) -> Element {
    let nothing: &[String] = &[];
    let target = stack.current.as_ref();
    let description = target.and_then(|target| target.template.description.as_ref());
    Element::new()
        .with("StackId", &stack.id)
        .with("StackName", &stack.name)
        .maybe("ChangeSetId", stack.executed.as_ref())
        .maybe("Description", description)
        .list("Parameters", target.map(parameters).unwrap_or_default())
        .with("CreationTime", clock::iso(stack.created))
        .maybe("DeletionTime", stack.deleted.map(clock::iso))
        .maybe("LastUpdatedTime", stack.updated.map(clock::iso))
        .with("RollbackConfiguration", Element::new())
        .with("StackStatus", stack.status.name())
        .maybe("StackStatusReason", stack.reason.as_ref())
        .with("DisableRollback", stack.disable_rollback)
        .list(
            "NotificationARNs",
            target.map_or(nothing, |target| &target.notifications),
        )
        .list(
            "Capabilities",
            target.map_or(nothing, |target| &target.capabilities),
        )
        .list("Outputs", stack.outputs.iter().map(output))
        .maybe("RoleARN", target.and_then(|target| target.role.as_ref()))
        .list("Tags", target.map(tags).unwrap_or_default())
        .with("EnableTerminationProtection", stack.termination_protection)
        .with("DriftInformation", drift_information(stack))
}

fn drift_information(stack: &Stack) -> Element {
    match stack.detections.iter().rev().find(|found| found.is_done) {
        Some(found) => Element::new()
            .with(
                "StackDriftStatus",
                if found.drifted > 0 {
                    "DRIFTED"
                } else {
                    "IN_SYNC"
                },
            )
            .with("LastCheckTimestamp", clock::iso(found.ends)),
        None => Element::new().with("StackDriftStatus", "NOT_CHECKED"),
    }
}

fn output(output: &Output) -> Element {
    Element::new()
        .with("OutputKey", &output.key)
        .with("OutputValue", &output.value)
        .maybe("Description", output.description.as_ref())
        .maybe("ExportName", output.export.as_ref())
}

pub fn parameters(target: &Target) -> Vec<Element> {
    target
        .parameters
        .iter()
        .map(|(name, parameter)| {
            let shown = if parameter.no_echo {
                "****"
            } else {
                &parameter.text
            };
            Element::new()
                .with("ParameterKey", name)
                .with("ParameterValue", shown)
                .maybe("ResolvedValue", parameter.resolved.as_ref())
        })
        .collect()
}

pub fn tags(target: &Target) -> Vec<Element> {
    target
        .tags
        .iter()
        .map(|(key, value)| Element::new().with("Key", key).with("Value", value))
        .collect()
}

pub fn list_stacks(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let wanted = context.params.list("StackStatusFilter");
    let found: Vec<&Stack> = context
        .stacks
        .iter()
        .rev()
        .filter(|stack| stack.region == context.region)
        .filter(|stack| wanted.is_empty() || wanted.iter().any(|name| name == stack.status.name()))
        .collect();
    let (found, next) = page(found, context.params.get("NextToken"), context.page_size)?;
    let summary = |stack: &Stack| {
        let template = stack.current.as_ref().map(|target| &target.template);
        Element::new()
            .with("StackId", &stack.id)
            .with("StackName", &stack.name)
            .maybe(
                "TemplateDescription",
                template.and_then(|template| template.description.as_ref()),
            )
            .with("CreationTime", clock::iso(stack.created))
            .maybe("LastUpdatedTime", stack.updated.map(clock::iso))
            .maybe("DeletionTime", stack.deleted.map(clock::iso))
            .with("StackStatus", stack.status.name())
            .maybe("StackStatusReason", stack.reason.as_ref())
            .with("DriftInformation", drift_information(stack))
    };
    Ok(Element::new()
        .list("StackSummaries", found.into_iter().map(summary))
        .maybe("NextToken", next))
}

/// Newest first. A token stands for a place in the history, so that new events move no page.
pub fn events(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let index = context.stack()?;
    let stack = &context.stacks[index];
    let end = match context.params.get("NextToken") {
        Some(token) => position(token)?.min(stack.events.len()),
        None => stack.events.len(),
    };
    let start = end.saturating_sub(context.page_size);
    let event = |event: &Event| {
        Element::new()
            .with("StackId", &stack.id)
            .with("EventId", &event.id)
            .with("StackName", &stack.name)
            .with("LogicalResourceId", &event.logical_id)
            .with(
                "PhysicalResourceId",
                event.physical_id.as_deref().unwrap_or_default(),
            )
            .with("ResourceType", &event.kind)
            .with("Timestamp", clock::iso(event.at))
            .with("ResourceStatus", event.status)
            .maybe("ResourceStatusReason", event.reason.as_ref())
            .maybe("ResourceProperties", event.properties.as_ref())
            .maybe("ClientRequestToken", event.token.as_ref())
    };
    Ok(Element::new()
        .list(
            "StackEvents",
            stack.events[start..end].iter().rev().map(event),
        )
        .maybe("NextToken", (start > 0).then(|| token_of(start))))
}

/// The fields that every spelling of a resource has.
fn common(resource: &Resource, timestamp: &'static str) -> Element {
    let checked = resource.checked;
    let drift = Element::new()
        .with(
            "StackResourceDriftStatus",
            checked.map_or("NOT_CHECKED", |(_, status)| status),
        )
        .maybe("LastCheckTimestamp", checked.map(|(at, _)| clock::iso(at)));
    Element::new()
        .with("LogicalResourceId", &resource.logical_id)
        .maybe("PhysicalResourceId", resource.physical_id())
        .with("ResourceType", &resource.kind)
        .with(timestamp, clock::iso(resource.updated))
        .with("ResourceStatus", resource.status.name())
        .maybe("ResourceStatusReason", resource.reason.as_ref())
        .with("DriftInformation", drift)
}

pub fn resource(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let index = context.stack()?;
    let id = context.params.required("LogicalResourceId")?;
    let stack = &context.stacks[index];
    let resource = stack.resources.get(id).ok_or_else(|| {
        ApiError::validation(format!(
            "Resource {id} does not exist for stack {}",
            stack.name
        ))
    })?;
    let detail = common(resource, "LastUpdatedTimestamp")
        .with("StackId", &stack.id)
        .with("StackName", &stack.name)
        .maybe(
            "Metadata",
            resource.metadata.as_ref().map(ToString::to_string),
        );
    Ok(Element::new().with("StackResourceDetail", detail))
}

pub fn resources(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let physical = context.params.get("PhysicalResourceId");
    let index = match (context.params.get("StackName"), physical) {
        (Some(_), _) => context.stack()?,
        (None, Some(id)) => context
            .stacks
            .iter()
            .position(|stack| stack.region == context.region && stack.physical_ids().contains(id))
            .ok_or_else(|| ApiError::validation(format!("Stack for {id} does not exist")))?,
        (None, None) => {
            return Err(ApiError::validation(
                "Either StackName or PhysicalResourceId must be specified.",
            ));
        }
    };
    let stack = &context.stacks[index];
    let wanted = context.params.get("LogicalResourceId");
    let found = stack
        .resources
        .values()
        .filter(|resource| wanted.is_none_or(|id| id == resource.logical_id))
        .filter(|resource| physical.is_none_or(|id| resource.physical_id() == Some(id)))
        .take(100)
        .map(|resource| {
            common(resource, "Timestamp")
                .with("StackId", &stack.id)
                .with("StackName", &stack.name)
        });
    Ok(Element::new().list("StackResources", found.collect::<Vec<_>>()))
}

pub fn list_resources(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let name = context.params.required("StackName")?;
    let index = context
        .find(name)
        .ok_or_else(|| ApiError::validation(format!("Stack with id {name} does not exist")))?;
    let all: Vec<&Resource> = context.stacks[index].resources.values().collect();
    let (found, next) = page(all, context.params.get("NextToken"), context.page_size)?;
    let summaries = found
        .into_iter()
        .map(|resource| common(resource, "LastUpdatedTimestamp"));
    Ok(Element::new()
        .list("StackResourceSummaries", summaries)
        .maybe("NextToken", next))
}

pub fn exports(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let all = context.env.exports(context.region);
    let (found, next) = page(all, context.params.get("NextToken"), context.page_size)?;
    let exports = found.into_iter().map(|(name, value, stack)| {
        Element::new()
            .with("ExportingStackId", stack)
            .with("Name", name)
            .with("Value", value)
    });
    Ok(Element::new()
        .list("Exports", exports)
        .maybe("NextToken", next))
}

pub fn imports(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let export = context.params.required("ExportName")?;
    let ids = context.env.importers(export);
    let names: Vec<String> = context
        .stacks
        .iter()
        .filter(|stack| ids.contains(&stack.id))
        .map(|stack| stack.name.clone())
        .collect();
    if names.is_empty() {
        return Err(ApiError::validation(format!(
            "Export '{export}' is not imported by any stack."
        )));
    }
    let (found, next) = page(names, context.params.get("NextToken"), context.page_size)?;
    Ok(Element::new()
        .list("Imports", found)
        .maybe("NextToken", next))
}
