//! The failure report: what failed first, why, what was stopped with it, what helps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use windlass_ports::aws::{StackEvent, StackEventsRequest};
use windlass_types::Timestamp;

use crate::access::Access;
use crate::fault::Fault;
use crate::follow::Trail;
use crate::reason::{cause, clean, is_cancellation, known_remedy};
use crate::status::is_failed;
use crate::stuck::{self, Remedy};

/// How deep stacks within stacks are followed.
const DEEPEST: usize = 5;
/// How many further failures are listed.
const MOST_ALSO_FAILED: usize = 20;

/// A line of a log near the failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// Where it is from.
    pub source: String,
    /// When.
    pub ts: Option<Timestamp>,
    /// What it says.
    pub message: String,
}

/// A resource that failed besides the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AlsoFailed {
    /// Its name in the template.
    pub logical_id: String,
    /// Its AWS type.
    pub resource_type: String,
    /// Its status.
    pub status: String,
    /// Why.
    pub reason: String,
}

/// Whose logs may say more about a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum LogSource {
    /// Stopped tasks and their containers.
    EcsService {
        /// The service's ARN or name.
        service: String,
    },
    /// A function's log since the event.
    Function {
        /// The function's name.
        function: String,
    },
    /// The log of the function behind a custom resource; its `ServiceToken` names it.
    CustomResource {
        /// The custom resource's name in the template.
        logical_id: String,
    },
    /// Events of a database.
    Database {
        /// The instance or cluster.
        identifier: String,
    },
}

/// `data.failure` of a failed operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// The resource that failed first, by its name in the template; the stack's own where no
    /// resource failed.
    pub logical_id: String,
    /// The resource of the config.
    pub resource_name: String,
    /// Its AWS type.
    pub resource_type: String,
    /// Its name in the account.
    pub physical_id: Option<String>,
    /// `CREATE_FAILED`, …
    pub status: String,
    /// What CloudFormation said, without request ids.
    pub reason: String,
    /// The innermost message.
    pub cause: String,
    /// Lines of logs near it; collected by the code that can read logs.
    pub logs: Vec<LogLine>,
    /// What else failed.
    pub also_failed: Vec<AlsoFailed>,
    /// How many resources were stopped because of it.
    pub cancelled: u32,
    /// What the stack is in now.
    pub stack_status: String,
    /// What helps.
    pub remedies: Vec<Remedy>,
    /// When it failed.
    pub at: Option<Timestamp>,
    /// Whose logs may say more.
    pub log_source: Option<LogSource>,
}

impl Failure {
    /// The report of a trail; `stack_reason` is what the stack itself says.
    pub fn of(
        trail: &Trail,
        names: &BTreeMap<String, String>,
        stack_name: &str,
        stack_reason: Option<&str>,
    ) -> Self {
        let (first, rest) = match trail.failures.split_first() {
            Some((first, rest)) => (first.clone(), rest),
            None => (stack_event(trail, stack_name, stack_reason), [].as_slice()),
        };
        let reason = clean(first.resource_status_reason.as_deref().unwrap_or_default());
        let id = first.logical_resource_id.clone();
        let mut failure = Self {
            resource_name: names.get(&id).unwrap_or(&id).clone(),
            log_source: log_source(&first),
            logical_id: id,
            resource_type: first.resource_type,
            physical_id: first.physical_resource_id,
            status: first.resource_status,
            cause: cause(&reason),
            reason,
            logs: Vec::new(),
            also_failed: also_failed(rest),
            cancelled: trail.cancelled,
            stack_status: trail.stack_status.clone(),
            remedies: Vec::new(),
            at: first.timestamp,
        };
        failure.remedies = remedies(&failure, trail, stack_name);
        failure
    }

    /// One sentence: the resource and the cause.
    pub fn sentence(&self) -> String {
        format!(
            "{} ({}) failed: {}",
            self.resource_name, self.resource_type, self.cause
        )
    }

    /// Follows a failed nested stack to the resource inside it that failed first.
    pub async fn with_inner_cause(mut self, access: &Access) -> Result<Self, Fault> {
        let mut inner = self.physical_id.clone();
        let mut kind = self.resource_type.clone();
        for _ in 0..DEEPEST {
            if kind != "AWS::CloudFormation::Stack" {
                break;
            }
            let Some(stack) = inner.take().filter(|id| id.starts_with("arn:")) else {
                break;
            };
            let request = StackEventsRequest {
                stack,
                ..StackEventsRequest::default()
            };
            let mut events = match access.cloud.stack_events(&access.target, request).await {
                Ok(events) => events,
                Err(failure) if failure.is_not_found() => break,
                Err(failure) => return Err(failure.into()),
            };
            events.reverse();
            let Some(event) = first_failure(&events) else {
                break;
            };
            let reason = clean(event.resource_status_reason.as_deref().unwrap_or_default());
            self.cause = format!("{}: {}", event.logical_resource_id, cause(&reason));
            self.log_source = log_source(event);
            self.remedies
                .extend(known_remedy(&reason).filter(|remedy| !self.remedies.contains(remedy)));
            inner = event.physical_resource_id.clone();
            kind = event.resource_type.clone();
        }
        Ok(self)
    }
}

/// The earliest failed event of the last operation that is not a cancellation.
fn first_failure(events: &[StackEvent]) -> Option<&StackEvent> {
    let newest = events.last()?.client_request_token.clone();
    events.iter().find(|event| {
        event.client_request_token == newest
            && is_failed(&event.resource_status)
            && event.physical_resource_id.as_deref() != Some(&event.stack_id)
            && !is_cancellation(event.resource_status_reason.as_deref().unwrap_or_default())
    })
}

fn also_failed(rest: &[StackEvent]) -> Vec<AlsoFailed> {
    rest.iter()
        .take(MOST_ALSO_FAILED)
        .map(|event| AlsoFailed {
            logical_id: event.logical_resource_id.clone(),
            resource_type: event.resource_type.clone(),
            status: event.resource_status.clone(),
            reason: clean(event.resource_status_reason.as_deref().unwrap_or_default()),
        })
        .collect()
}

/// Used where no resource failed: an alarm rolled back, a cancellation, clashing outputs.
fn stack_event(trail: &Trail, stack_name: &str, reason: Option<&str>) -> StackEvent {
    StackEvent {
        logical_resource_id: stack_name.to_owned(),
        physical_resource_id: Some(trail.stack_id.clone()),
        resource_type: "AWS::CloudFormation::Stack".to_owned(),
        resource_status: trail.stack_status.clone(),
        resource_status_reason: Some(
            reason
                .filter(|reason| !reason.is_empty())
                .unwrap_or("no resource failed; it was cancelled or rolled back by an alarm")
                .to_owned(),
        ),
        ..StackEvent::default()
    }
}

fn log_source(event: &StackEvent) -> Option<LogSource> {
    let physical = || {
        event
            .physical_resource_id
            .clone()
            .filter(|id| !id.is_empty())
    };
    let kind = event.resource_type.as_str();
    match kind {
        "AWS::ECS::Service" => physical().map(|service| LogSource::EcsService { service }),
        "AWS::Lambda::Function" => physical().map(|function| LogSource::Function { function }),
        "AWS::RDS::DBInstance" | "AWS::RDS::DBCluster" => {
            physical().map(|identifier| LogSource::Database { identifier })
        }
        _ if kind.starts_with("Custom::") || kind == "AWS::CloudFormation::CustomResource" => {
            Some(LogSource::CustomResource {
                logical_id: event.logical_resource_id.clone(),
            })
        }
        _ => None,
    }
}

fn remedies(failure: &Failure, trail: &Trail, stack_name: &str) -> Vec<Remedy> {
    let mut remedies: Vec<Remedy> = known_remedy(&failure.reason).into_iter().collect();
    let blockers: Vec<_> = trail
        .failures
        .iter()
        .map(|event| windlass_ports::aws::StackResource {
            logical_resource_id: event.logical_resource_id.clone(),
            resource_type: event.resource_type.clone(),
            ..Default::default()
        })
        .collect();
    let stuck = stuck::explain(stack_name, &trail.stack_status, &newest_of_each(blockers));
    match stuck {
        Some(stuck) => remedies.extend(stuck.remedies),
        None if remedies.is_empty() => {
            remedies.push(Remedy::new("deploy", "fix the cause and redeploy"));
        }
        None => {}
    }
    remedies
}

fn newest_of_each(
    resources: Vec<windlass_ports::aws::StackResource>,
) -> Vec<windlass_ports::aws::StackResource> {
    let mut seen = std::collections::BTreeSet::new();
    resources
        .into_iter()
        .filter(|resource| seen.insert(resource.logical_resource_id.clone()))
        .collect()
}
