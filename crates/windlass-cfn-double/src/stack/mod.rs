//! One stack: what it should be, what it is, what is happening to it, what has happened.
//!
//! Everything here is data and functions over it. Time comes from `Env`; nothing waits.

mod begin;
pub mod change_set;
mod diff;
pub mod drift;
mod finish;
mod names;
mod operation;
mod policy;
mod status;
mod step;
mod task;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::env::Env;
use crate::template::Template;
use crate::types::Physical;

pub use begin::{
    begin_create, begin_delete, begin_rollback_of_create, begin_rollback_of_update, begin_update,
};
pub use change_set::ChangeSet;
pub use diff::{Detail, ResourceChange, diff, differs_outside};
pub use drift::{Detection, DriftState};
pub use names::imports;
pub use operation::{OnFailure, Operation};
pub use policy::check_policy;
pub use status::{ResourceStatus, StackStatus};
pub use step::{next_wake, release, step};

/// The type under which a stack appears in its own events.
pub const STACK_TYPE: &str = "AWS::CloudFormation::Stack";

#[derive(Clone, Debug)]
pub struct Stack {
    pub id: String,
    pub name: String,
    pub account: String,
    pub region: String,
    pub status: StackStatus,
    pub reason: Option<String>,
    pub created: u64,
    pub updated: Option<u64>,
    pub deleted: Option<u64>,
    /// What it is, or is becoming.
    pub current: Option<Target>,
    /// What a failed update goes back to.
    pub stable: Option<Stable>,
    pub outputs: Vec<Output>,
    pub resources: BTreeMap<String, Resource>,
    /// Replaced physical resources that a clean-up removes.
    pub old: Vec<Resource>,
    pub events: Vec<Event>,
    pub change_sets: Vec<ChangeSet>,
    /// The change set last executed.
    pub executed: Option<String>,
    pub operation: Option<Operation>,
    pub disable_rollback: bool,
    pub termination_protection: bool,
    pub policy: Option<Value>,
    /// Client request tokens and the action each was used for.
    pub tokens: BTreeMap<String, String>,
    pub detections: Vec<Detection>,
}

/// Everything an operation is asked to bring about.
#[derive(Clone, Debug)]
pub struct Target {
    pub template: Arc<Template>,
    pub parameters: BTreeMap<String, Parameter>,
    pub tags: BTreeMap<String, String>,
    pub capabilities: Vec<String>,
    pub notifications: Vec<String>,
    pub role: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// As given by the caller.
    pub text: String,
    /// What `Ref` answers.
    pub value: Value,
    /// The value behind an SSM parameter name.
    pub resolved: Option<String>,
    pub no_echo: bool,
}

/// The last state in which everything was as its template says.
#[derive(Clone, Debug)]
pub struct Stable {
    pub target: Target,
    pub resources: BTreeMap<String, Resource>,
    pub outputs: Vec<Output>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    pub key: String,
    pub value: String,
    pub description: Option<String>,
    pub export: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Resource {
    pub logical_id: String,
    pub kind: String,
    /// `None` until the service has accepted the creation.
    pub physical: Option<Physical>,
    /// Evaluated.
    pub properties: Value,
    pub metadata: Option<Value>,
    pub stack_tags: BTreeMap<String, String>,
    pub needs: Vec<String>,
    pub deletion_policy: Option<String>,
    pub update_replace_policy: Option<String>,
    pub status: ResourceStatus,
    pub reason: Option<String>,
    pub updated: u64,
    pub drift: Option<DriftState>,
    /// What the last detection found, and when.
    pub checked: Option<(u64, &'static str)>,
}

impl Resource {
    pub fn physical_id(&self) -> Option<&str> {
        self.physical.as_ref().map(|physical| physical.id.as_str())
    }
}

#[derive(Clone, Debug)]
pub struct Event {
    pub id: String,
    pub at: u64,
    pub logical_id: String,
    pub physical_id: Option<String>,
    pub kind: String,
    pub status: &'static str,
    pub reason: Option<String>,
    pub token: Option<String>,
    pub properties: Option<String>,
}

impl Stack {
    pub fn new(name: &str, region: &str, env: &mut Env) -> Stack {
        let id = format!(
            "arn:aws:cloudformation:{region}:{}:stack/{name}/{}",
            env.account,
            env.ids.uuid()
        );
        Stack {
            id,
            name: name.to_owned(),
            account: env.account.clone(),
            region: region.to_owned(),
            status: StackStatus::ReviewInProgress,
            reason: None,
            created: env.now,
            updated: None,
            deleted: None,
            current: None,
            stable: None,
            outputs: Vec::new(),
            resources: BTreeMap::new(),
            old: Vec::new(),
            events: Vec::new(),
            change_sets: Vec::new(),
            executed: None,
            operation: None,
            disable_rollback: false,
            termination_protection: false,
            policy: None,
            tokens: BTreeMap::new(),
            detections: Vec::new(),
        }
    }

    /// Moves the stack to a state and records it.
    pub fn enter(
        &mut self,
        status: StackStatus,
        reason: Option<String>,
        token: Option<&str>,
        env: &mut Env,
    ) {
        self.status = status;
        self.reason.clone_from(&reason);
        self.events.push(Event {
            id: env.ids.uuid(),
            at: env.now,
            logical_id: self.name.clone(),
            physical_id: Some(self.id.clone()),
            kind: STACK_TYPE.to_owned(),
            status: status.name(),
            reason,
            token: token.map(str::to_owned),
            properties: None,
        });
    }

    /// Records what happened to a resource.
    pub fn record(
        &mut self,
        resource: &Resource,
        status: ResourceStatus,
        reason: Option<&str>,
        token: Option<&str>,
        env: &mut Env,
    ) {
        self.events.push(Event {
            id: format!(
                "{}-{}-{}",
                resource.logical_id,
                status.name(),
                env.ids.uuid()
            ),
            at: env.now,
            logical_id: resource.logical_id.clone(),
            physical_id: resource.physical_id().map(str::to_owned),
            kind: resource.kind.clone(),
            status: status.name(),
            reason: reason.map(str::to_owned),
            token: token.map(str::to_owned),
            properties: Some(resource.properties.to_string()),
        });
    }

    /// Sets the state of a current resource and records it.
    pub fn mark(
        &mut self,
        logical_id: &str,
        status: ResourceStatus,
        reason: Option<&str>,
        token: Option<&str>,
        env: &mut Env,
    ) {
        let Some(resource) = self.resources.get_mut(logical_id) else {
            return;
        };
        resource.status = status;
        resource.reason = reason.map(str::to_owned);
        resource.updated = env.now;
        let resource = resource.clone();
        self.record(&resource, status, reason, token, env);
    }

    /// The names of everything that exists and belongs to the stack.
    pub fn physical_ids(&self) -> BTreeSet<String> {
        self.resources
            .values()
            .filter(|resource| !resource.status.is_gone())
            .filter_map(|resource| resource.physical_id().map(str::to_owned))
            .collect()
    }
}
