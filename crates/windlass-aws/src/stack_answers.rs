//! What CloudFormation's typed client answers, as the port's plain data.

use aws_sdk_cloudformation::operation::describe_change_set::DescribeChangeSetOutput;
use aws_sdk_cloudformation::operation::describe_stack_drift_detection_status::DescribeStackDriftDetectionStatusOutput;
use aws_sdk_cloudformation::operation::validate_template::ValidateTemplateOutput;
use aws_sdk_cloudformation::types as sdk;
use aws_smithy_types::DateTime;
use windlass_ports::aws::{
    ChangeSet, ChangeSetSummary, ChangeTarget, DriftDetection, Export, ResourceChange,
    ResourceChangeDetail, ResourceDrift, ResourceDriftDifference, Stack, StackEvent, StackOutput,
    StackParameter, StackResource, StackSummary, StackTag, TemplateCheck,
};
use windlass_types::Timestamp;

pub(crate) fn change_set(answer: DescribeChangeSetOutput) -> ChangeSet {
    ChangeSet {
        change_set_id: answer.change_set_id.unwrap_or_default(),
        change_set_name: answer.change_set_name.unwrap_or_default(),
        stack_id: answer.stack_id.unwrap_or_default(),
        stack_name: answer.stack_name.unwrap_or_default(),
        description: answer.description,
        creation_time: time(answer.creation_time),
        status: word(answer.status),
        status_reason: answer.status_reason,
        execution_status: word(answer.execution_status),
        on_stack_failure: answer.on_stack_failure.map(text),
        parameters: parameters(answer.parameters),
        tags: tags(answer.tags),
        capabilities: words(answer.capabilities),
        changes: answer
            .changes
            .into_iter()
            .flatten()
            .filter_map(|change| change.resource_change)
            .map(resource_change)
            .collect(),
    }
}

pub(crate) fn change_set_summary(summary: sdk::ChangeSetSummary) -> ChangeSetSummary {
    ChangeSetSummary {
        change_set_id: summary.change_set_id.unwrap_or_default(),
        change_set_name: summary.change_set_name.unwrap_or_default(),
        stack_id: summary.stack_id.unwrap_or_default(),
        status: word(summary.status),
        status_reason: summary.status_reason,
        execution_status: word(summary.execution_status),
        creation_time: time(summary.creation_time),
        description: summary.description,
    }
}

fn resource_change(change: sdk::ResourceChange) -> ResourceChange {
    ResourceChange {
        action: word(change.action),
        policy_action: change.policy_action.map(text),
        logical_resource_id: change.logical_resource_id.unwrap_or_default(),
        physical_resource_id: change.physical_resource_id.filter(|id| !id.is_empty()),
        resource_type: change.resource_type.unwrap_or_default(),
        replacement: change.replacement.map(text),
        scope: words(change.scope),
        details: change.details.into_iter().flatten().map(detail).collect(),
        change_set_id: change.change_set_id,
        before_context: change.before_context,
        after_context: change.after_context,
    }
}

fn detail(detail: sdk::ResourceChangeDetail) -> ResourceChangeDetail {
    let target = detail.target.map(|target| ChangeTarget {
        attribute: target.attribute.map(text),
        name: target.name,
        requires_recreation: target.requires_recreation.map(text),
        path: target.path,
        before_value: target.before_value,
        after_value: target.after_value,
        attribute_change_type: target.attribute_change_type.map(text),
    });
    ResourceChangeDetail {
        target: target.unwrap_or_default(),
        evaluation: detail.evaluation.map(text),
        change_source: detail.change_source.map(text),
        causing_entity: detail.causing_entity,
    }
}

pub(crate) fn stack(stack: sdk::Stack) -> Stack {
    Stack {
        stack_id: stack.stack_id.unwrap_or_default(),
        stack_name: stack.stack_name.unwrap_or_default(),
        description: stack.description,
        stack_status: word(stack.stack_status),
        stack_status_reason: stack.stack_status_reason,
        creation_time: time(stack.creation_time),
        last_updated_time: time(stack.last_updated_time),
        deletion_time: time(stack.deletion_time),
        change_set_id: stack.change_set_id,
        parameters: parameters(stack.parameters),
        outputs: stack.outputs.into_iter().flatten().map(output).collect(),
        tags: tags(stack.tags),
        capabilities: words(stack.capabilities),
        role_arn: stack.role_arn.filter(|arn| !arn.is_empty()),
        parent_id: stack.parent_id,
        enable_termination_protection: stack.enable_termination_protection.unwrap_or(false),
        disable_rollback: stack.disable_rollback.unwrap_or(false),
        drift_status: stack
            .drift_information
            .and_then(|drift| drift.stack_drift_status)
            .map(text),
    }
}

pub(crate) fn stack_summary(summary: sdk::StackSummary) -> StackSummary {
    StackSummary {
        stack_id: summary.stack_id.unwrap_or_default(),
        stack_name: summary.stack_name.unwrap_or_default(),
        template_description: summary.template_description,
        stack_status: word(summary.stack_status),
        stack_status_reason: summary.stack_status_reason,
        creation_time: time(summary.creation_time),
        last_updated_time: time(summary.last_updated_time),
        deletion_time: time(summary.deletion_time),
        parent_id: summary.parent_id,
    }
}

pub(crate) fn event(event: sdk::StackEvent) -> StackEvent {
    StackEvent {
        event_id: event.event_id.unwrap_or_default(),
        stack_id: event.stack_id.unwrap_or_default(),
        stack_name: event.stack_name.unwrap_or_default(),
        logical_resource_id: event.logical_resource_id.unwrap_or_default(),
        physical_resource_id: event.physical_resource_id.filter(|id| !id.is_empty()),
        resource_type: event.resource_type.unwrap_or_default(),
        resource_status: word(event.resource_status),
        resource_status_reason: event.resource_status_reason,
        timestamp: time(event.timestamp),
        client_request_token: event.client_request_token,
        detailed_status: event.detailed_status.map(text),
    }
}

pub(crate) fn resource(resource: sdk::StackResourceSummary) -> StackResource {
    StackResource {
        logical_resource_id: resource.logical_resource_id.unwrap_or_default(),
        physical_resource_id: resource.physical_resource_id.filter(|id| !id.is_empty()),
        resource_type: resource.resource_type.unwrap_or_default(),
        resource_status: word(resource.resource_status),
        resource_status_reason: resource.resource_status_reason,
        last_updated_timestamp: time(resource.last_updated_timestamp),
        drift_status: resource
            .drift_information
            .and_then(|drift| drift.stack_resource_drift_status)
            .map(text),
    }
}

pub(crate) fn template_check(answer: ValidateTemplateOutput) -> TemplateCheck {
    TemplateCheck {
        description: answer.description,
        parameters: answer
            .parameters
            .into_iter()
            .flatten()
            .filter_map(|parameter| parameter.parameter_key)
            .collect(),
        capabilities: words(answer.capabilities),
        capabilities_reason: answer.capabilities_reason,
        declared_transforms: answer.declared_transforms.unwrap_or_default(),
    }
}

pub(crate) fn drift_detection(answer: DescribeStackDriftDetectionStatusOutput) -> DriftDetection {
    DriftDetection {
        stack_id: answer.stack_id.unwrap_or_default(),
        detection_status: word(answer.detection_status),
        detection_status_reason: answer.detection_status_reason,
        stack_drift_status: answer.stack_drift_status.map(text),
        drifted_stack_resource_count: answer
            .drifted_stack_resource_count
            .and_then(|count| u32::try_from(count).ok())
            .unwrap_or(0),
        timestamp: time(answer.timestamp),
    }
}

pub(crate) fn resource_drift(drift: sdk::StackResourceDrift) -> ResourceDrift {
    ResourceDrift {
        logical_resource_id: drift.logical_resource_id.unwrap_or_default(),
        physical_resource_id: drift.physical_resource_id.filter(|id| !id.is_empty()),
        resource_type: drift.resource_type.unwrap_or_default(),
        stack_resource_drift_status: word(drift.stack_resource_drift_status),
        property_differences: drift
            .property_differences
            .into_iter()
            .flatten()
            .map(|difference| ResourceDriftDifference {
                property_path: difference.property_path.unwrap_or_default(),
                expected_value: difference.expected_value.unwrap_or_default(),
                actual_value: difference.actual_value.unwrap_or_default(),
                difference_type: word(difference.difference_type),
            })
            .collect(),
        timestamp: time(drift.timestamp),
    }
}

pub(crate) fn export(export: sdk::Export) -> Export {
    Export {
        exporting_stack_id: export.exporting_stack_id.unwrap_or_default(),
        name: export.name.unwrap_or_default(),
        value: export.value.unwrap_or_default(),
    }
}

fn output(output: sdk::Output) -> StackOutput {
    StackOutput {
        output_key: output.output_key.unwrap_or_default(),
        output_value: output.output_value.unwrap_or_default(),
        description: output.description,
        export_name: output.export_name,
    }
}

fn parameters(list: Option<Vec<sdk::Parameter>>) -> Vec<StackParameter> {
    list.into_iter()
        .flatten()
        .map(|parameter| StackParameter {
            parameter_key: parameter.parameter_key.unwrap_or_default(),
            parameter_value: parameter.parameter_value,
            resolved_value: parameter.resolved_value,
        })
        .collect()
}

fn tags(list: Option<Vec<sdk::Tag>>) -> Vec<StackTag> {
    list.into_iter()
        .flatten()
        .map(|tag| StackTag {
            key: tag.key.unwrap_or_default(),
            value: tag.value.unwrap_or_default(),
        })
        .collect()
}

/// A word of a closed list, as AWS spells it, also when the SDK does not know it.
fn text(word: impl AsRef<str>) -> String {
    word.as_ref().to_owned()
}

fn word(word: Option<impl AsRef<str>>) -> String {
    word.map(text).unwrap_or_default()
}

fn words(list: Option<Vec<impl AsRef<str>>>) -> Vec<String> {
    list.into_iter().flatten().map(text).collect()
}

fn time(time: Option<DateTime>) -> Option<Timestamp> {
    time?.to_millis().ok().map(Timestamp::from_millis)
}
