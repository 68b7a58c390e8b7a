//! CloudFormation over its typed client. Every list is read to its last page.

use aws_sdk_cloudformation::types::{
    Capability, ChangeSetType, OnStackFailure, StackResourceDriftStatus, StackStatus,
    TemplateStage as SdkTemplateStage,
};
use windlass_ports::aws::{
    AwsFailure, AwsFailureKind, AwsFuture, ChangeSet, ChangeSetAddress, ChangeSetKind,
    ChangeSetSummary, CloudFormation, CreateChangeSet, CreatedChangeSet, DeleteStack,
    DriftDetection, ExecuteChangeSet, Export, FailureMode, PropertyValues, ResourceDrift, Stack,
    StackCall, StackEvent, StackEventsRequest, StackResource, StackSummary, Target, TemplateCheck,
    TemplateSource, TemplateStage, TerminationProtection,
};

use crate::client::Aws;
use crate::stack_answers;
use crate::stack_inputs::{parameter, rollback_configuration, some, tag, template_parts};
use crate::typed::call;

/// The pages of a list. `$take` keeps what is in an answer and says whether more is wanted.
macro_rules! pages {
    ($aws:expr, $target:expr, $action:literal, |$sdk:ident| $request:expr, $answer:ident => $take:expr) => {{
        let mut token = None;
        loop {
            let $answer = call!($aws, $target, cloudformation, $action, |$sdk| $request
                .set_next_token(token.take()))?;
            token = $answer.next_token.clone().filter(|token| !token.is_empty());
            if !$take || token.is_none() {
                break;
            }
        }
    }};
}

impl CloudFormation for Aws {
    fn create_change_set<'a>(
        &'a self,
        target: &'a Target,
        request: CreateChangeSet,
    ) -> AwsFuture<'a, CreatedChangeSet> {
        Box::pin(async move {
            let (body, url, previous) = template_parts(request.template);
            let alarms = request.rollback_alarm_arns;
            let rollback = (!alarms.is_empty() || request.monitoring_minutes > 0)
                .then(|| rollback_configuration(alarms, request.monitoring_minutes));
            let answer = call!(
                self,
                target,
                cloudformation,
                "cloudformation:CreateChangeSet",
                |sdk| sdk
                    .create_change_set()
                    .stack_name(request.stack)
                    .change_set_name(request.name)
                    .change_set_type(match request.kind {
                        ChangeSetKind::Create => ChangeSetType::Create,
                        ChangeSetKind::Update => ChangeSetType::Update,
                    })
                    .set_template_body(body)
                    .set_template_url(url)
                    .set_use_previous_template(previous.then_some(true))
                    .set_parameters(some(
                        request.parameters.into_iter().map(parameter).collect()
                    ))
                    .set_tags(some(request.tags.into_iter().map(tag).collect()))
                    .set_capabilities(some(
                        request
                            .capabilities
                            .iter()
                            .map(|name| Capability::from(name.as_str()))
                            .collect()
                    ))
                    .set_description(request.description)
                    .set_client_token(request.client_token)
                    .set_role_arn(request.role_arn)
                    .set_notification_arns(some(request.notification_arns))
                    .set_rollback_configuration(rollback)
                    .set_on_stack_failure(request.on_failure.map(|mode| match mode {
                        FailureMode::DoNothing => OnStackFailure::DoNothing,
                        FailureMode::Rollback => OnStackFailure::Rollback,
                        FailureMode::Delete => OnStackFailure::Delete,
                    }))
            )?;
            Ok(CreatedChangeSet {
                id: answer.id.unwrap_or_default(),
                stack_id: answer.stack_id.unwrap_or_default(),
            })
        })
    }

    fn describe_change_set<'a>(
        &'a self,
        target: &'a Target,
        address: &'a ChangeSetAddress,
        values: PropertyValues,
    ) -> AwsFuture<'a, ChangeSet> {
        Box::pin(async move {
            let include = (values == PropertyValues::Include).then_some(true);
            let mut whole: Option<ChangeSet> = None;
            pages!(
                self,
                target,
                "cloudformation:DescribeChangeSet",
                |sdk| sdk
                    .describe_change_set()
                    .stack_name(&address.stack)
                    .change_set_name(&address.change_set)
                    .set_include_property_values(include),
                answer => {
                    let page = stack_answers::change_set(answer);
                    match &mut whole {
                        Some(whole) => whole.changes.extend(page.changes),
                        None => whole = Some(page),
                    }
                    true
                }
            );
            Ok(whole.unwrap_or_default())
        })
    }

    fn delete_change_set<'a>(
        &'a self,
        target: &'a Target,
        address: &'a ChangeSetAddress,
    ) -> AwsFuture<'a, ()> {
        Box::pin(async move {
            call!(
                self,
                target,
                cloudformation,
                "cloudformation:DeleteChangeSet",
                |sdk| sdk
                    .delete_change_set()
                    .stack_name(&address.stack)
                    .change_set_name(&address.change_set)
            )
            .map(drop)
        })
    }

    fn list_change_sets<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
    ) -> AwsFuture<'a, Vec<ChangeSetSummary>> {
        Box::pin(async move {
            let mut all = Vec::new();
            pages!(
                self,
                target,
                "cloudformation:ListChangeSets",
                |sdk| sdk.list_change_sets().stack_name(stack),
                answer => {
                    all.extend(answer.summaries.into_iter().flatten().map(stack_answers::change_set_summary));
                    true
                }
            );
            Ok(all)
        })
    }

    fn execute_change_set<'a>(
        &'a self,
        target: &'a Target,
        request: ExecuteChangeSet,
    ) -> AwsFuture<'a, ()> {
        Box::pin(async move {
            call!(
                self,
                target,
                cloudformation,
                "cloudformation:ExecuteChangeSet",
                |sdk| sdk
                    .execute_change_set()
                    .stack_name(request.address.stack)
                    .change_set_name(request.address.change_set)
                    .set_client_request_token(request.client_request_token)
                    .set_disable_rollback(request.disable_rollback)
            )
            .map(drop)
        })
    }

    fn delete_stack<'a>(&'a self, target: &'a Target, request: DeleteStack) -> AwsFuture<'a, ()> {
        Box::pin(async move {
            call!(
                self,
                target,
                cloudformation,
                "cloudformation:DeleteStack",
                |sdk| sdk
                    .delete_stack()
                    .stack_name(request.call.stack)
                    .set_client_request_token(request.call.client_request_token)
                    .set_role_arn(request.call.role_arn)
                    .set_retain_resources(some(request.retain_resources))
            )
            .map(drop)
        })
    }

    fn cancel_update<'a>(&'a self, target: &'a Target, call: StackCall) -> AwsFuture<'a, ()> {
        Box::pin(async move {
            call!(
                self,
                target,
                cloudformation,
                "cloudformation:CancelUpdateStack",
                |sdk| sdk
                    .cancel_update_stack()
                    .stack_name(call.stack)
                    .set_client_request_token(call.client_request_token)
            )
            .map(drop)
        })
    }

    fn rollback_stack<'a>(&'a self, target: &'a Target, call: StackCall) -> AwsFuture<'a, ()> {
        Box::pin(async move {
            call!(
                self,
                target,
                cloudformation,
                "cloudformation:RollbackStack",
                |sdk| sdk
                    .rollback_stack()
                    .stack_name(call.stack)
                    .set_client_request_token(call.client_request_token)
                    .set_role_arn(call.role_arn)
            )
            .map(drop)
        })
    }

    fn continue_update_rollback<'a>(
        &'a self,
        target: &'a Target,
        call: StackCall,
        resources_to_skip: Vec<String>,
    ) -> AwsFuture<'a, ()> {
        Box::pin(async move {
            call!(
                self,
                target,
                cloudformation,
                "cloudformation:ContinueUpdateRollback",
                |sdk| sdk
                    .continue_update_rollback()
                    .stack_name(call.stack)
                    .set_client_request_token(call.client_request_token)
                    .set_role_arn(call.role_arn)
                    .set_resources_to_skip(some(resources_to_skip))
            )
            .map(drop)
        })
    }

    fn describe_stack<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
    ) -> AwsFuture<'a, Option<Stack>> {
        Box::pin(async move {
            let answer = call!(
                self,
                target,
                cloudformation,
                "cloudformation:DescribeStacks",
                |sdk| sdk.describe_stacks().stack_name(stack)
            );
            match answer {
                Ok(answer) => Ok(answer
                    .stacks
                    .into_iter()
                    .flatten()
                    .next()
                    .map(stack_answers::stack)),
                Err(failure) if failure.is_not_found() => Ok(None),
                Err(failure) => Err(failure),
            }
        })
    }

    fn describe_stacks<'a>(&'a self, target: &'a Target) -> AwsFuture<'a, Vec<Stack>> {
        Box::pin(async move {
            let mut all = Vec::new();
            pages!(
                self,
                target,
                "cloudformation:DescribeStacks",
                |sdk| sdk.describe_stacks(),
                answer => {
                    all.extend(answer.stacks.into_iter().flatten().map(stack_answers::stack));
                    true
                }
            );
            Ok(all)
        })
    }

    fn stack_events<'a>(
        &'a self,
        target: &'a Target,
        request: StackEventsRequest,
    ) -> AwsFuture<'a, Vec<StackEvent>> {
        Box::pin(async move {
            let limit = request.limit.unwrap_or(usize::MAX);
            let seen = request.after_event_id.as_deref();
            let mut newer = Vec::new();
            pages!(
                self,
                target,
                "cloudformation:DescribeStackEvents",
                |sdk| sdk.describe_stack_events().stack_name(&request.stack),
                answer => {
                    let mut more = true;
                    for event in answer.stack_events.into_iter().flatten() {
                        if newer.len() >= limit
                            || (seen.is_some() && event.event_id.as_deref() == seen)
                        {
                            more = false;
                            break;
                        }
                        newer.push(stack_answers::event(event));
                    }
                    more
                }
            );
            Ok(newer)
        })
    }

    fn stack_resources<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
    ) -> AwsFuture<'a, Vec<StackResource>> {
        Box::pin(async move {
            let mut all = Vec::new();
            pages!(
                self,
                target,
                "cloudformation:ListStackResources",
                |sdk| sdk.list_stack_resources().stack_name(stack),
                answer => {
                    let found = answer.stack_resource_summaries.into_iter().flatten();
                    all.extend(found.map(stack_answers::resource));
                    true
                }
            );
            Ok(all)
        })
    }

    fn list_stacks<'a>(
        &'a self,
        target: &'a Target,
        statuses: &'a [&'a str],
    ) -> AwsFuture<'a, Vec<StackSummary>> {
        Box::pin(async move {
            let wanted: Vec<StackStatus> = statuses
                .iter()
                .map(|name| StackStatus::from(*name))
                .collect();
            let mut all = Vec::new();
            pages!(
                self,
                target,
                "cloudformation:ListStacks",
                |sdk| sdk.list_stacks().set_stack_status_filter(some(wanted.clone())),
                answer => {
                    let found = answer.stack_summaries.into_iter().flatten();
                    all.extend(found.map(stack_answers::stack_summary));
                    true
                }
            );
            Ok(all)
        })
    }

    fn get_template<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
        stage: TemplateStage,
    ) -> AwsFuture<'a, String> {
        Box::pin(async move {
            let answer = call!(
                self,
                target,
                cloudformation,
                "cloudformation:GetTemplate",
                |sdk| sdk
                    .get_template()
                    .stack_name(stack)
                    .template_stage(match stage {
                        TemplateStage::Original => SdkTemplateStage::Original,
                        TemplateStage::Processed => SdkTemplateStage::Processed,
                    })
            )?;
            Ok(answer.template_body.unwrap_or_default())
        })
    }

    fn validate_template<'a>(
        &'a self,
        target: &'a Target,
        template: TemplateSource,
    ) -> AwsFuture<'a, TemplateCheck> {
        Box::pin(async move {
            let (body, url, previous) = template_parts(template);
            if previous {
                return Err(AwsFailure::local(
                    AwsFailureKind::Service,
                    "cloudformation:ValidateTemplate",
                    "a template that only the stack has cannot be validated",
                ));
            }
            let answer = call!(
                self,
                target,
                cloudformation,
                "cloudformation:ValidateTemplate",
                |sdk| sdk
                    .validate_template()
                    .set_template_body(body)
                    .set_template_url(url)
            )?;
            Ok(stack_answers::template_check(answer))
        })
    }

    fn set_stack_policy<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
        policy: &'a str,
    ) -> AwsFuture<'a, ()> {
        Box::pin(async move {
            call!(
                self,
                target,
                cloudformation,
                "cloudformation:SetStackPolicy",
                |sdk| sdk
                    .set_stack_policy()
                    .stack_name(stack)
                    .stack_policy_body(policy)
            )
            .map(drop)
        })
    }

    fn get_stack_policy<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
    ) -> AwsFuture<'a, Option<String>> {
        Box::pin(async move {
            let answer = call!(
                self,
                target,
                cloudformation,
                "cloudformation:GetStackPolicy",
                |sdk| sdk.get_stack_policy().stack_name(stack)
            )?;
            Ok(answer.stack_policy_body.filter(|body| !body.is_empty()))
        })
    }

    fn set_termination_protection<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
        protection: TerminationProtection,
    ) -> AwsFuture<'a, ()> {
        Box::pin(async move {
            call!(
                self,
                target,
                cloudformation,
                "cloudformation:UpdateTerminationProtection",
                |sdk| sdk
                    .update_termination_protection()
                    .stack_name(stack)
                    .enable_termination_protection(protection == TerminationProtection::On)
            )
            .map(drop)
        })
    }

    fn detect_drift<'a>(&'a self, target: &'a Target, stack: &'a str) -> AwsFuture<'a, String> {
        Box::pin(async move {
            let answer = call!(
                self,
                target,
                cloudformation,
                "cloudformation:DetectStackDrift",
                |sdk| sdk.detect_stack_drift().stack_name(stack)
            )?;
            Ok(answer.stack_drift_detection_id.unwrap_or_default())
        })
    }

    fn drift_detection<'a>(
        &'a self,
        target: &'a Target,
        detection_id: &'a str,
    ) -> AwsFuture<'a, DriftDetection> {
        Box::pin(async move {
            let answer = call!(
                self,
                target,
                cloudformation,
                "cloudformation:DescribeStackDriftDetectionStatus",
                |sdk| sdk
                    .describe_stack_drift_detection_status()
                    .stack_drift_detection_id(detection_id)
            )?;
            Ok(stack_answers::drift_detection(answer))
        })
    }

    fn resource_drifts<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
    ) -> AwsFuture<'a, Vec<ResourceDrift>> {
        Box::pin(async move {
            let every = [
                StackResourceDriftStatus::Deleted,
                StackResourceDriftStatus::InSync,
                StackResourceDriftStatus::Modified,
                StackResourceDriftStatus::NotChecked,
            ];
            let mut all = Vec::new();
            pages!(
                self,
                target,
                "cloudformation:DescribeStackResourceDrifts",
                |sdk| sdk
                    .describe_stack_resource_drifts()
                    .stack_name(stack)
                    .set_stack_resource_drift_status_filters(Some(every.to_vec())),
                answer => {
                    let found = answer.stack_resource_drifts.into_iter().flatten();
                    all.extend(found.map(stack_answers::resource_drift));
                    true
                }
            );
            Ok(all)
        })
    }

    fn list_exports<'a>(&'a self, target: &'a Target) -> AwsFuture<'a, Vec<Export>> {
        Box::pin(async move {
            let mut all = Vec::new();
            pages!(
                self,
                target,
                "cloudformation:ListExports",
                |sdk| sdk.list_exports(),
                answer => {
                    all.extend(answer.exports.into_iter().flatten().map(stack_answers::export));
                    true
                }
            );
            Ok(all)
        })
    }
}
