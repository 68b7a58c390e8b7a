//! What is asked of CloudFormation.

use std::collections::BTreeMap;

/// Where a template is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateSource {
    /// Here, at most 51,200 bytes.
    Body(String),
    /// In S3, at most 1 MB.
    Url(String),
    /// The one the stack has.
    Previous,
}

/// Whether a change set makes a stack or changes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeSetKind {
    /// Makes one.
    Create,
    /// Changes one.
    Update,
}

/// The value of a template's parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterInput {
    /// This one.
    Value(String),
    /// The one the stack has.
    Previous,
}

/// What happens to a stack whose creation or update fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureMode {
    /// It stays as it is.
    DoNothing,
    /// It is brought back.
    Rollback,
    /// A new stack is deleted.
    Delete,
}

/// A change set that is asked for.
#[derive(Clone, Debug)]
pub struct CreateChangeSet {
    /// The stack, by name or ARN.
    pub stack: String,
    /// Its name.
    pub name: String,
    /// Whether it makes a stack.
    pub kind: ChangeSetKind,
    /// The template.
    pub template: TemplateSource,
    /// Parameters by name.
    pub parameters: BTreeMap<String, ParameterInput>,
    /// Tags of the stack and what is in it.
    pub tags: BTreeMap<String, String>,
    /// `CAPABILITY_NAMED_IAM` and so on.
    pub capabilities: Vec<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The same on every try of this change set.
    pub client_token: Option<String>,
    /// The role CloudFormation acts as.
    pub role_arn: Option<String>,
    /// Topics that receive the stack's events.
    pub notification_arns: Vec<String>,
    /// Alarms that roll an update back.
    pub rollback_alarm_arns: Vec<String>,
    /// For how many minutes after an update those alarms are watched.
    pub monitoring_minutes: u32,
    /// What happens when it fails; absent: as AWS does by default.
    pub on_failure: Option<FailureMode>,
}

impl CreateChangeSet {
    /// A change set with nothing optional.
    pub fn new(
        stack: impl Into<String>,
        name: impl Into<String>,
        kind: ChangeSetKind,
        template: TemplateSource,
    ) -> Self {
        Self {
            stack: stack.into(),
            name: name.into(),
            kind,
            template,
            parameters: BTreeMap::new(),
            tags: BTreeMap::new(),
            capabilities: Vec::new(),
            description: None,
            client_token: None,
            role_arn: None,
            notification_arns: Vec::new(),
            rollback_alarm_arns: Vec::new(),
            monitoring_minutes: 0,
            on_failure: None,
        }
    }
}

/// One change set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeSetAddress {
    /// The stack, by name or ARN.
    pub stack: String,
    /// The change set, by name or ARN.
    pub change_set: String,
}

/// Whether the values of properties are given with a change set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyValues {
    /// Before and after.
    Include,
    /// Not.
    Omit,
}

/// The execution of a change set.
#[derive(Clone, Debug)]
pub struct ExecuteChangeSet {
    /// Which.
    pub address: ChangeSetAddress,
    /// Shows in every event of this execution.
    pub client_request_token: Option<String>,
    /// Whether what succeeded stays when something fails. `None` where the change set itself
    /// says what happens.
    pub disable_rollback: Option<bool>,
}

/// A stack and the token of what is done to it.
#[derive(Clone, Debug)]
pub struct StackCall {
    /// The stack, by name or ARN.
    pub stack: String,
    /// Shows in every event of the operation.
    pub client_request_token: Option<String>,
    /// The role CloudFormation acts as.
    pub role_arn: Option<String>,
}

impl StackCall {
    /// A call without a role.
    pub fn new(stack: impl Into<String>, token: impl Into<String>) -> Self {
        Self {
            stack: stack.into(),
            client_request_token: Some(token.into()),
            role_arn: None,
        }
    }
}

/// A deletion.
#[derive(Clone, Debug)]
pub struct DeleteStack {
    /// Which stack.
    pub call: StackCall,
    /// Logical ids of what stays; only for stacks in `DELETE_FAILED`.
    pub retain_resources: Vec<String>,
}

/// Which events are wanted.
#[derive(Clone, Debug, Default)]
pub struct StackEventsRequest {
    /// The stack, by ARN where it may be deleted.
    pub stack: String,
    /// Only what is newer than the event with this id.
    pub after_event_id: Option<String>,
    /// How many at most; absent: all there are.
    pub limit: Option<usize>,
}

/// Which form of a stack's template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateStage {
    /// As it was given.
    Original,
    /// With transforms applied.
    Processed,
}

/// Whether a stack can be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminationProtection {
    /// It cannot.
    On,
    /// It can.
    Off,
}
