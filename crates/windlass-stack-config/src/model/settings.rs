//! Settings of the deployment and of the stack, custom directives, raw CloudFormation.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::Tag;
use crate::defaults::number;
use crate::value::{Data, DataMap, Text};

/// How the stack is deployed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeploymentConfig {
    /// Refuse to delete the stack.
    #[serde(default)]
    pub termination_protection: bool,
    /// The role CloudFormation works with; your permissions without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cloudformation_role_arn: Option<Text>,
    /// Names or ARNs of alarms that undo a deploy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 5))]
    pub trigger_rollback_on_alarms: Vec<Text>,
    /// For how many minutes after a deploy those alarms are watched.
    #[serde(default)]
    #[schemars(range(max = 180))]
    pub monitoring_time_after_deployment_in_minutes: u32,
    /// Leave a failed deploy as it is.
    #[serde(default)]
    pub disable_auto_rollback: bool,
    /// ARNs of topics that are notified of every event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 5))]
    pub publish_events_to_arn: Vec<Text>,
    /// How many earlier versions are kept to roll back to.
    #[serde(default = "number::<10>")]
    pub previous_versions_to_keep: u32,
    /// Do not use transfer acceleration for uploads.
    #[serde(default)]
    pub disable_s3_transfer_acceleration: bool,
}

impl Default for DeploymentConfig {
    fn default() -> Self {
        Self {
            termination_protection: false,
            cloudformation_role_arn: None,
            trigger_rollback_on_alarms: Vec::new(),
            monitoring_time_after_deployment_in_minutes: 0,
            disable_auto_rollback: false,
            publish_events_to_arn: Vec::new(),
            previous_versions_to_keep: 10,
            disable_s3_transfer_acceleration: false,
        }
    }
}

/// What belongs to the whole stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StackConfig {
    /// Values shown after a deploy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<StackOutput>,
    /// Tags of everything in the stack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 45))]
    pub tags: Vec<Tag>,
    /// Write no file about the stack after a deploy.
    #[serde(default)]
    pub disable_stack_info_saving: bool,
    /// The directory of that file.
    #[serde(default = "stack_info_directory")]
    pub stack_info_directory: String,
    /// The stack's network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vpc: Option<VpcConfig>,
}

fn stack_info_directory() -> String {
    ".stacktape-stack-info/".to_owned()
}

impl Default for StackConfig {
    fn default() -> Self {
        Self {
            outputs: Vec::new(),
            tags: Vec::new(),
            disable_stack_info_saving: false,
            stack_info_directory: stack_info_directory(),
            vpc: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StackOutput {
    /// The output's name.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Its value.
    pub value: Text,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Let other stacks use it.
    #[serde(default)]
    pub export: bool,
}

/// The stack's network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VpcConfig {
    /// Use a network that exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse_vpc: Option<ReuseVpc>,
    /// How instances without public addresses reach the internet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nat: Option<NatConfig>,
}

/// Either another stack's network, by `projectName` and `stage`, or any, by `vpcId`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReuseVpc {
    /// The other stack's project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_name: Option<String>,
    /// The other stack's stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// The network's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vpc_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NatConfig {
    /// In how many zones there is a NAT gateway.
    #[serde(default = "number::<2>")]
    #[schemars(range(min = 1, max = 3))]
    pub availability_zones: u32,
}

/// A directive of your own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CustomDirective {
    /// Its name, without the `$`.
    #[schemars(regex(pattern = "^[A-Za-z][A-Za-z0-9]*$"))]
    pub name: String,
    /// The file with its function, as `file` or `file:function`: JavaScript, TypeScript or
    /// Python.
    pub file_path: String,
}

/// Accounts of other providers. Read, and not supported.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProviderConfig {
    /// MongoDB Atlas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mongo_db_atlas: Option<Data>,
    /// Upstash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstash: Option<Data>,
}

/// A resource as CloudFormation writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct CloudFormationResource {
    /// The type, such as `AWS::SNS::Topic`.
    #[schemars(regex(pattern = "^(AWS|Alexa|Custom)::|^[A-Za-z0-9]+::[A-Za-z0-9]+::"))]
    pub r#type: String,
    /// The properties.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: DataMap,
    /// Logical ids that come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Data>,
    /// A condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// What happens when it is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<String>,
    /// What happens when it is replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_replace_policy: Option<String>,
    /// How it is updated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_policy: Option<Data>,
    /// What its creation waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creation_policy: Option<Data>,
    /// Further data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Data>,
}
