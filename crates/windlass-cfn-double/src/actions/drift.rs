//! Drift detection: started, asked for, listed.

use super::Context;
use super::page::page;
use crate::clock;
use crate::error::ApiError;
use crate::stack::drift::differences;
use crate::stack::{Detection, DriftState, Resource, Stack};
use crate::xml::Element;

pub fn detect(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let index = context.stack()?;
    let stack = &mut context.stacks[index];
    if stack.status.is_busy() {
        return Err(ApiError::validation(format!(
            "Drift detection cannot be performed on stack [{}] while in status {}",
            stack.name,
            stack.status.name()
        )));
    }
    let id = context.env.ids.uuid();
    stack.detections.push(Detection {
        id: id.clone(),
        started: context.env.now,
        ends: context.env.now + context.env.durations.drift_ms,
        is_done: false,
        drifted: 0,
    });
    Ok(Element::new().with("StackDriftDetectionId", id))
}

pub fn status(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let id = context.params.required("StackDriftDetectionId")?;
    let found = context.stacks.iter().find_map(|stack| {
        let detection = stack.detections.iter().find(|found| found.id == id)?;
        Some((stack, detection))
    });
    let (stack, detection) = found
        .ok_or_else(|| ApiError::validation(format!("Drift detection [{id}] does not exist")))?;
    let answer = Element::new()
        .with("StackId", &stack.id)
        .with("StackDriftDetectionId", &detection.id)
        .with("Timestamp", clock::iso(detection.started));
    Ok(if detection.is_done {
        answer
            .with("DetectionStatus", "DETECTION_COMPLETE")
            .with(
                "StackDriftStatus",
                if detection.drifted > 0 {
                    "DRIFTED"
                } else {
                    "IN_SYNC"
                },
            )
            .with("DriftedStackResourceCount", detection.drifted)
    } else {
        answer.with("DetectionStatus", "DETECTION_IN_PROGRESS")
    })
}

pub fn resources(context: &mut Context<'_>) -> Result<Element, ApiError> {
    let index = context.stack()?;
    let stack = &context.stacks[index];
    let wanted = context.params.list("StackResourceDriftStatusFilters");
    let found: Vec<(&Resource, u64, &'static str)> = stack
        .resources
        .values()
        .filter_map(|resource| {
            let (at, status) = resource.checked?;
            Some((resource, at, status))
        })
        .filter(|(_, _, status)| wanted.is_empty() || wanted.iter().any(|name| name == status))
        .collect();
    let size = context
        .params
        .number("MaxResults")
        .unwrap_or(context.page_size);
    let (found, next) = page(found, context.params.get("NextToken"), size.max(1))?;
    let drifts = found
        .into_iter()
        .map(|(resource, at, status)| drift(stack, resource, at, status));
    Ok(Element::new()
        .list("StackResourceDrifts", drifts)
        .maybe("NextToken", next))
}

fn drift(stack: &Stack, resource: &Resource, at: u64, status: &'static str) -> Element {
    let actual = match &resource.drift {
        Some(DriftState::Modified(actual)) => Some(actual),
        Some(DriftState::Deleted) => None,
        None => Some(&resource.properties),
    };
    let changed = actual
        .map(|actual| differences(&resource.properties, actual))
        .unwrap_or_default();
    let changed = changed.into_iter().map(|found| {
        Element::new()
            .with("PropertyPath", found.path)
            .with("ExpectedValue", found.expected)
            .with("ActualValue", found.actual)
            .with("DifferenceType", found.kind)
    });
    let is_checked = status != "NOT_CHECKED";
    let shown =
        |value: Option<&serde_json::Value>| value.filter(|_| is_checked).map(ToString::to_string);
    Element::new()
        .with("StackId", &stack.id)
        .with("LogicalResourceId", &resource.logical_id)
        .maybe("PhysicalResourceId", resource.physical_id())
        .with("ResourceType", &resource.kind)
        .maybe("ExpectedProperties", shown(Some(&resource.properties)))
        .maybe("ActualProperties", shown(actual))
        .list("PropertyDifferences", changed)
        .with("StackResourceDriftStatus", status)
        .with("Timestamp", clock::iso(at))
}
