//! What a stack config says, as values: every section, every resource type, every default.
//!
//! The doc comments of fields are the descriptions of the JSON Schema and of the reference
//! pages. Not here: reading files, directives, checks across resources.

pub mod alarms;
pub mod auth;
pub mod cdn;
pub mod common;
pub mod container;
pub mod database;
pub mod events;
pub mod function;
pub mod messaging;
pub mod network;
pub mod packaging;
mod resource;
pub mod script;
pub mod settings;
pub mod storage;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use resource::{Overrides, Resource, ResourceKind};
use script::{Hooks, Script};
use settings::{
    CloudFormationResource, CustomDirective, DeploymentConfig, ProviderConfig, StackConfig,
};

use crate::value::DataMap;

/// A stack: its resources, and how they are deployed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-windlass-rejected" = {
    "budgetControl": "budgets are not supported yet"
}))]
pub struct Config {
    /// What the stack consists of, by name.
    pub resources: BTreeMap<String, Resource>,
    /// Scripts of the stack, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scripts: BTreeMap<String, Script>,
    /// When scripts run by themselves.
    #[serde(default)]
    pub hooks: Hooks,
    /// Directives of your own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directives: Vec<CustomDirective>,
    /// Values to use elsewhere, by `$Var().name`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: DataMap,
    /// How the stack is deployed.
    #[serde(default)]
    pub deployment_config: DeploymentConfig,
    /// What belongs to the whole stack.
    #[serde(default)]
    pub stack_config: StackConfig,
    /// Resources as CloudFormation writes them, by logical id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cloudformation_resources: BTreeMap<String, CloudFormationResource>,
    /// Accounts of other providers. Read, and not supported.
    #[serde(default)]
    pub provider_config: ProviderConfig,
    /// The project's name, where the command does not give one. Deprecated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_name: Option<String>,
}
