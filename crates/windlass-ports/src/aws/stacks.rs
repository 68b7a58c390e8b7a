//! CloudFormation: what it answers, and the trait.
//!
//! Answers serialise with AWS's own names. Statuses stay text: AWS adds new ones, and an
//! unknown one must be shown, not refused.

use serde::{Deserialize, Serialize};
use windlass_types::Timestamp;

use super::failure::says_no_changes;
use super::stack_requests::{
    ChangeSetAddress, CreateChangeSet, DeleteStack, ExecuteChangeSet, PropertyValues, StackCall,
    StackEventsRequest, TemplateSource, TemplateStage, TerminationProtection,
};
use super::{AwsFuture, Target};

/// Declares answers: every field is optional on the wire and left out when empty.
macro_rules! answers {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $kind:ty,)* })*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
            #[serde(rename_all = "PascalCase", default)]
            pub struct $name {
                $(
                    $(#[$field_meta])*
                    #[serde(skip_serializing_if = "is_empty")]
                    pub $field: $kind,
                )*
            }
        )*
    };
}

fn is_empty<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

answers! {
    /// A change set that is being made.
    CreatedChangeSet {
        /// Its ARN.
        id: String,
        /// The ARN of its stack.
        stack_id: String,
    }

    /// A change set.
    ChangeSet {
        /// Its ARN.
        change_set_id: String,
        /// Its name.
        change_set_name: String,
        /// The ARN of its stack.
        stack_id: String,
        /// The name of its stack.
        stack_name: String,
        /// What it is for.
        description: Option<String>,
        /// When it was made.
        creation_time: Option<Timestamp>,
        /// `CREATE_COMPLETE`, `FAILED`, …
        status: String,
        /// Why.
        status_reason: Option<String>,
        /// `AVAILABLE`, `UNAVAILABLE`, `OBSOLETE`, `EXECUTE_IN_PROGRESS`, …
        execution_status: String,
        /// `DO_NOTHING`, `ROLLBACK` or `DELETE`.
        on_stack_failure: Option<String>,
        /// The parameters.
        parameters: Vec<StackParameter>,
        /// The tags.
        tags: Vec<StackTag>,
        /// The capabilities.
        capabilities: Vec<String>,
        /// Every change, all pages.
        changes: Vec<ResourceChange>,
    }

    /// A change set in a list.
    ChangeSetSummary {
        /// Its ARN.
        change_set_id: String,
        /// Its name.
        change_set_name: String,
        /// The ARN of its stack.
        stack_id: String,
        /// `CREATE_COMPLETE`, `FAILED`, …
        status: String,
        /// Why.
        status_reason: Option<String>,
        /// `AVAILABLE`, `OBSOLETE`, …
        execution_status: String,
        /// When it was made.
        creation_time: Option<Timestamp>,
        /// What it is for.
        description: Option<String>,
    }

    /// What a change set does to one resource.
    ResourceChange {
        /// `Add`, `Modify`, `Remove`, `Import`, `Dynamic`.
        action: String,
        /// What becomes of the old one: `Delete`, `Retain`, `Snapshot`, `ReplaceAndDelete`, …
        policy_action: Option<String>,
        /// Its name in the template.
        logical_resource_id: String,
        /// Its name in the account.
        physical_resource_id: Option<String>,
        /// `AWS::S3::Bucket`.
        resource_type: String,
        /// `True`, `False` or `Conditional`.
        replacement: Option<String>,
        /// `Properties`, `Metadata`, `Tags`, …
        scope: Vec<String>,
        /// What changes and why.
        details: Vec<ResourceChangeDetail>,
        /// The change set of a nested stack.
        change_set_id: Option<String>,
        /// All properties before, as JSON text.
        before_context: Option<String>,
        /// All properties after, as JSON text.
        after_context: Option<String>,
    }

    /// One reason for a change.
    ResourceChangeDetail {
        /// What changes.
        target: ChangeTarget,
        /// `Static` or `Dynamic`.
        evaluation: Option<String>,
        /// `DirectModification`, `ResourceReference`, `ParameterReference`, …
        change_source: Option<String>,
        /// The parameter or resource behind it.
        causing_entity: Option<String>,
    }

    /// What of a resource changes.
    ChangeTarget {
        /// `Properties`, `Metadata`, `Tags`, …
        attribute: Option<String>,
        /// The property.
        name: Option<String>,
        /// `Never`, `Conditionally` or `Always`.
        requires_recreation: Option<String>,
        /// The path within the resource.
        path: Option<String>,
        /// The value before.
        before_value: Option<String>,
        /// The value after.
        after_value: Option<String>,
        /// `Add`, `Remove` or `Modify`.
        attribute_change_type: Option<String>,
    }

    /// A parameter of a stack.
    StackParameter {
        /// Its name.
        parameter_key: String,
        /// Its value; stars for one that is not echoed.
        parameter_value: Option<String>,
        /// The value behind an SSM parameter.
        resolved_value: Option<String>,
    }

    /// A tag.
    StackTag {
        /// Its name.
        key: String,
        /// Its value.
        value: String,
    }

    /// An output of a stack.
    StackOutput {
        /// Its name.
        output_key: String,
        /// Its value.
        output_value: String,
        /// What it is.
        description: Option<String>,
        /// The name other stacks import it by.
        export_name: Option<String>,
    }

    /// A stack.
    Stack {
        /// Its ARN.
        stack_id: String,
        /// Its name.
        stack_name: String,
        /// The template's description.
        description: Option<String>,
        /// `CREATE_COMPLETE`, …
        stack_status: String,
        /// Why.
        stack_status_reason: Option<String>,
        /// When it was made.
        creation_time: Option<Timestamp>,
        /// When it was last changed.
        last_updated_time: Option<Timestamp>,
        /// When it was deleted.
        deletion_time: Option<Timestamp>,
        /// The change set it was last made from.
        change_set_id: Option<String>,
        /// Its parameters.
        parameters: Vec<StackParameter>,
        /// Its outputs.
        outputs: Vec<StackOutput>,
        /// Its tags.
        tags: Vec<StackTag>,
        /// Its capabilities.
        capabilities: Vec<String>,
        /// The role CloudFormation acts as.
        #[serde(rename = "RoleARN")]
        role_arn: Option<String>,
        /// The stack it is nested in.
        parent_id: Option<String>,
        /// Whether deleting it is refused.
        enable_termination_protection: bool,
        /// Whether what succeeded stays when something fails.
        disable_rollback: bool,
        /// `DRIFTED`, `IN_SYNC`, `UNKNOWN`, `NOT_CHECKED`.
        drift_status: Option<String>,
    }

    /// A stack in a list.
    StackSummary {
        /// Its ARN.
        stack_id: String,
        /// Its name.
        stack_name: String,
        /// The template's description.
        template_description: Option<String>,
        /// `CREATE_COMPLETE`, …
        stack_status: String,
        /// Why.
        stack_status_reason: Option<String>,
        /// When it was made.
        creation_time: Option<Timestamp>,
        /// When it was last changed.
        last_updated_time: Option<Timestamp>,
        /// When it was deleted.
        deletion_time: Option<Timestamp>,
        /// The stack it is nested in.
        parent_id: Option<String>,
    }

    /// Something that happened to a stack or a resource of it.
    StackEvent {
        /// Its id.
        event_id: String,
        /// The ARN of the stack.
        stack_id: String,
        /// The name of the stack.
        stack_name: String,
        /// The resource's name in the template; the stack's own for its own events.
        logical_resource_id: String,
        /// Its name in the account.
        physical_resource_id: Option<String>,
        /// `AWS::S3::Bucket`.
        resource_type: String,
        /// `CREATE_IN_PROGRESS`, …
        resource_status: String,
        /// Why.
        resource_status_reason: Option<String>,
        /// When.
        timestamp: Option<Timestamp>,
        /// The token of the operation it belongs to.
        client_request_token: Option<String>,
        /// `CONFIGURATION_COMPLETE`, `VALIDATION_FAILED`.
        detailed_status: Option<String>,
    }

    /// A resource of a stack.
    StackResource {
        /// Its name in the template.
        logical_resource_id: String,
        /// Its name in the account.
        physical_resource_id: Option<String>,
        /// `AWS::S3::Bucket`.
        resource_type: String,
        /// `CREATE_COMPLETE`, …
        resource_status: String,
        /// Why.
        resource_status_reason: Option<String>,
        /// When it last changed.
        last_updated_timestamp: Option<Timestamp>,
        /// `MODIFIED`, `IN_SYNC`, …
        drift_status: Option<String>,
    }

    /// What CloudFormation says of a template.
    TemplateCheck {
        /// Its description.
        description: Option<String>,
        /// Its parameters' names.
        parameters: Vec<String>,
        /// What it needs to be acknowledged.
        capabilities: Vec<String>,
        /// Why.
        capabilities_reason: Option<String>,
        /// The transforms it names.
        declared_transforms: Vec<String>,
    }

    /// How far a drift detection is.
    DriftDetection {
        /// The ARN of the stack.
        stack_id: String,
        /// `DETECTION_IN_PROGRESS`, `DETECTION_COMPLETE` or `DETECTION_FAILED`.
        detection_status: String,
        /// Why.
        detection_status_reason: Option<String>,
        /// `DRIFTED`, `IN_SYNC`, …
        stack_drift_status: Option<String>,
        /// How many resources differ.
        drifted_stack_resource_count: u32,
        /// When it began.
        timestamp: Option<Timestamp>,
    }

    /// How one resource differs from its template.
    ResourceDrift {
        /// Its name in the template.
        logical_resource_id: String,
        /// Its name in the account.
        physical_resource_id: Option<String>,
        /// `AWS::S3::Bucket`.
        resource_type: String,
        /// `MODIFIED`, `DELETED`, `IN_SYNC`, `NOT_CHECKED`, …
        stack_resource_drift_status: String,
        /// What differs.
        property_differences: Vec<ResourceDriftDifference>,
        /// When it was looked at.
        timestamp: Option<Timestamp>,
    }

    /// One property that differs.
    ResourceDriftDifference {
        /// Where it is.
        property_path: String,
        /// What the template says.
        expected_value: String,
        /// What is there.
        actual_value: String,
        /// `ADD`, `REMOVE` or `NOT_EQUAL`.
        difference_type: String,
    }

    /// A value a stack exports.
    Export {
        /// The ARN of the stack.
        exporting_stack_id: String,
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    }
}

impl ChangeSet {
    /// Whether it failed because there is nothing to change.
    pub fn is_empty_set(&self) -> bool {
        self.status == "FAILED" && self.status_reason.as_deref().is_some_and(says_no_changes)
    }
}

/// CloudFormation. A stack is named by its name or, where it may be deleted, by its ARN.
pub trait CloudFormation: Send + Sync {
    /// Begins to make a change set.
    fn create_change_set<'a>(
        &'a self,
        target: &'a Target,
        request: CreateChangeSet,
    ) -> AwsFuture<'a, CreatedChangeSet>;

    /// A change set with all its changes.
    fn describe_change_set<'a>(
        &'a self,
        target: &'a Target,
        address: &'a ChangeSetAddress,
        values: PropertyValues,
    ) -> AwsFuture<'a, ChangeSet>;

    /// Deletes a change set.
    fn delete_change_set<'a>(
        &'a self,
        target: &'a Target,
        address: &'a ChangeSetAddress,
    ) -> AwsFuture<'a, ()>;

    /// The change sets of a stack, all pages.
    fn list_change_sets<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
    ) -> AwsFuture<'a, Vec<ChangeSetSummary>>;

    /// Begins to execute a change set.
    fn execute_change_set<'a>(
        &'a self,
        target: &'a Target,
        request: ExecuteChangeSet,
    ) -> AwsFuture<'a, ()>;

    /// Begins to delete a stack. One that does not exist is deleted.
    fn delete_stack<'a>(&'a self, target: &'a Target, request: DeleteStack) -> AwsFuture<'a, ()>;

    /// Cancels a running update; it is rolled back.
    fn cancel_update<'a>(&'a self, target: &'a Target, call: StackCall) -> AwsFuture<'a, ()>;

    /// Brings a failed stack that was left as it was back to its last good state.
    fn rollback_stack<'a>(&'a self, target: &'a Target, call: StackCall) -> AwsFuture<'a, ()>;

    /// Continues a failed rollback, skipping the resources named.
    fn continue_update_rollback<'a>(
        &'a self,
        target: &'a Target,
        call: StackCall,
        resources_to_skip: Vec<String>,
    ) -> AwsFuture<'a, ()>;

    /// A stack; `None` when there is none of that name.
    fn describe_stack<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
    ) -> AwsFuture<'a, Option<Stack>>;

    /// Every stack that is not deleted, all pages.
    fn describe_stacks<'a>(&'a self, target: &'a Target) -> AwsFuture<'a, Vec<Stack>>;

    /// Events, newest first, down to the one that was seen last.
    fn stack_events<'a>(
        &'a self,
        target: &'a Target,
        request: StackEventsRequest,
    ) -> AwsFuture<'a, Vec<StackEvent>>;

    /// The resources of a stack, all pages.
    fn stack_resources<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
    ) -> AwsFuture<'a, Vec<StackResource>>;

    /// Stacks in any of these statuses, deleted ones included; empty: in all.
    fn list_stacks<'a>(
        &'a self,
        target: &'a Target,
        statuses: &'a [&'a str],
    ) -> AwsFuture<'a, Vec<StackSummary>>;

    /// A stack's template as text.
    fn get_template<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
        stage: TemplateStage,
    ) -> AwsFuture<'a, String>;

    /// Has a template looked at.
    fn validate_template<'a>(
        &'a self,
        target: &'a Target,
        template: TemplateSource,
    ) -> AwsFuture<'a, TemplateCheck>;

    /// Sets a stack's policy, as JSON.
    fn set_stack_policy<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
        policy: &'a str,
    ) -> AwsFuture<'a, ()>;

    /// A stack's policy, as JSON.
    fn get_stack_policy<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
    ) -> AwsFuture<'a, Option<String>>;

    /// Sets whether deleting a stack is refused.
    fn set_termination_protection<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
        protection: TerminationProtection,
    ) -> AwsFuture<'a, ()>;

    /// Starts to look for drift; returns the detection's id.
    fn detect_drift<'a>(&'a self, target: &'a Target, stack: &'a str) -> AwsFuture<'a, String>;

    /// How far a drift detection is.
    fn drift_detection<'a>(
        &'a self,
        target: &'a Target,
        detection_id: &'a str,
    ) -> AwsFuture<'a, DriftDetection>;

    /// How the resources of a stack differed when they were last looked at, all pages.
    fn resource_drifts<'a>(
        &'a self,
        target: &'a Target,
        stack: &'a str,
    ) -> AwsFuture<'a, Vec<ResourceDrift>>;

    /// Every value stacks of the region export, all pages.
    fn list_exports<'a>(&'a self, target: &'a Target) -> AwsFuture<'a, Vec<Export>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_the_names_of_aws_and_leave_out_what_is_empty() {
        let change = ResourceChange {
            action: "Modify".to_owned(),
            logical_resource_id: "Items".to_owned(),
            replacement: Some("True".to_owned()),
            details: vec![ResourceChangeDetail {
                target: ChangeTarget {
                    requires_recreation: Some("Always".to_owned()),
                    ..ChangeTarget::default()
                },
                ..ResourceChangeDetail::default()
            }],
            ..ResourceChange::default()
        };
        let json = serde_json::to_value(&change).expect("plain data");
        assert_eq!(
            json,
            serde_json::json!({
                "Action": "Modify",
                "LogicalResourceId": "Items",
                "Replacement": "True",
                "Details": [{ "Target": { "RequiresRecreation": "Always" } }],
            })
        );
        let back: ResourceChange = serde_json::from_value(json).expect("reads back");
        assert_eq!(back, change);
    }

    #[test]
    fn an_empty_change_set_is_distinguished_from_a_failed_one() {
        let with = |reason: &str| ChangeSet {
            status: "FAILED".to_owned(),
            status_reason: Some(reason.to_owned()),
            ..ChangeSet::default()
        };
        assert!(with("The submitted information didn't contain changes. Submit different information to create a change set.").is_empty_set());
        assert!(with("No updates are to be performed.").is_empty_set());
        assert!(!with("Transform failed").is_empty_set());
    }
}
