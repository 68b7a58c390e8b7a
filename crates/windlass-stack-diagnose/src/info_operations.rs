//! What was done to stacks: the local journal, and what CloudFormation's events show of the rest.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_ports::aws::{StackEvent, StackEventsRequest};
use windlass_types::{Problem, Timestamp};

use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::call::Call;
use crate::failure::aws_problem;
use crate::info_stacks::counted;
use crate::outside::{JournalAsk, JournalRecord};

/// How many stacks are looked at when none is named, the ones changed last first.
const STACKS: usize = 10;
/// How many events are read of each.
const EVENTS: usize = 1_000;
const STACK_TYPE: &str = "AWS::CloudFormation::Stack";

pub(crate) struct Ask {
    current_user_only: bool,
    limit: usize,
    named: bool,
}

impl Ask {
    pub(crate) fn read(arguments: &Arguments) -> Result<Self, Problem> {
        Ok(Self {
            current_user_only: arguments.flag("currentUserOnly"),
            limit: arguments.count("limit", 25, 500)?,
            named: arguments.text("stackName")?.is_some() || arguments.text("stage")?.is_some(),
        })
    }
}

pub(crate) async fn answer(call: &mut Call<'_>, ask: &Ask) -> Result<Answer, Problem> {
    let stack_name = if ask.named {
        Some(call.stack_name()?)
    } else {
        None
    };
    let principal = &call.outside.settings.principal;
    let wanted = JournalAsk {
        stack_name: stack_name.clone(),
        region: call.target.region.clone(),
        principal: ask.current_user_only.then(|| principal.clone()),
        limit: ask.limit,
    };
    let local = call.outside.journal.recent(&wanted).await?;
    // CloudFormation does not say who asked, so the caller's own are those of the journal.
    let (remote, unavailable) = if ask.current_user_only {
        (Vec::new(), None)
    } else {
        match from_cloudformation(call, stack_name.as_deref()).await {
            Ok(found) => (found, None),
            // The journal alone is an answer; without it there is only the failure.
            Err(problem) if local.is_empty() => return Err(problem),
            Err(problem) => (Vec::new(), Some(problem.message().to_owned())),
        }
    };
    let mut operations: Vec<(Timestamp, Value)> = local
        .iter()
        .map(|record| (record.started_at, from_journal(record)))
        .collect();
    // A run's tokens begin with its own: it may do more than one thing to a stack.
    let known = |token: &Option<String>| {
        let begins = |own: &String| token.as_ref().is_some_and(|it| it.starts_with(own));
        let mut owned = local.iter().map(|record| &record.client_request_token);
        owned.any(|own| own.as_ref().is_some_and(begins))
    };
    operations.extend(
        remote
            .into_iter()
            .filter(|operation| !known(&operation.token))
            .map(|operation| (operation.started_at, operation.shown())),
    );
    operations.sort_by_key(|(started, _)| std::cmp::Reverse(*started));
    let total = operations.len();
    let shown: Vec<Value> = operations
        .into_iter()
        .take(ask.limit)
        .map(|(_, shown)| shown)
        .collect();
    let mut answer = Answer::new(
        counted(shown.len(), "operation"),
        json!({
            "operations": shown,
            "truncated": total > ask.limit,
            "cloudFormation": match &unavailable {
                Some(cause) => json!({ "available": false, "cause": cause }),
                None => json!({ "available": !ask.current_user_only }),
            },
        }),
    );
    if unavailable.is_some() {
        answer = answer.next("fix the access to AWS to see operations of other machines");
    }
    Ok(answer)
}

fn from_journal(record: &JournalRecord) -> Value {
    let mut shown = serde_json::to_value(record).unwrap_or_default();
    if let Value::Object(members) = &mut shown {
        members.insert("source".to_owned(), json!("journal"));
    }
    shown
}

async fn from_cloudformation(
    call: &mut Call<'_>,
    stack_name: Option<&str>,
) -> Result<Vec<Remote>, Problem> {
    call.place().await?;
    let cloud = &call.outside.cloud;
    let ids: Vec<String> = match stack_name {
        Some(name) => {
            let found = cloud.describe_stack(&call.target, name).await;
            match found.map_err(|failure| aws_problem(&failure))? {
                Some(stack) => vec![stack.stack_id],
                // A deleted stack keeps its events, under its ARN.
                None => {
                    let deleted = cloud.list_stacks(&call.target, &["DELETE_COMPLETE"]).await;
                    let deleted = deleted.map_err(|failure| aws_problem(&failure))?;
                    deleted
                        .into_iter()
                        .filter(|stack| stack.stack_name == name)
                        .map(|stack| stack.stack_id)
                        .take(3)
                        .collect()
                }
            }
        }
        None => {
            let stacks = cloud.describe_stacks(&call.target).await;
            let mut stacks = stacks.map_err(|failure| aws_problem(&failure))?;
            stacks.sort_by_key(|stack| {
                std::cmp::Reverse(stack.last_updated_time.or(stack.creation_time))
            });
            stacks
                .into_iter()
                .take(STACKS)
                .map(|stack| stack.stack_id)
                .collect()
        }
    };
    let mut operations = Vec::new();
    for id in ids {
        let request = StackEventsRequest {
            stack: id,
            after_event_id: None,
            limit: Some(EVENTS),
        };
        let events = cloud.stack_events(&call.target, request).await;
        operations.extend(grouped(&events.map_err(|failure| aws_problem(&failure))?));
    }
    Ok(operations)
}

/// One operation, as its events show it.
struct Remote {
    token: Option<String>,
    stack_name: String,
    operation: &'static str,
    state: &'static str,
    code: Option<&'static str>,
    started_at: Timestamp,
    ended_at: Option<Timestamp>,
    first_failure: Option<Value>,
}

impl Remote {
    fn shown(&self) -> Value {
        json!({
            "runId": null,
            "operation": self.operation,
            "stackName": self.stack_name,
            "principal": null,
            "state": self.state,
            "code": self.code,
            "startedAt": self.started_at,
            "endedAt": self.ended_at,
            "planDigest": null,
            "firstFailure": self.first_failure,
            "clientRequestId": self.token,
            "source": "cloudformation",
        })
    }
}

/// Events, newest first, as operations: by token; without one, from each beginning of the stack's
/// own events to the next.
fn grouped(events: &[StackEvent]) -> Vec<Remote> {
    let mut groups: BTreeMap<String, Vec<&StackEvent>> = BTreeMap::new();
    let mut unnamed = 0_usize;
    for event in events.iter().rev() {
        let key = match &event.client_request_token {
            Some(token) => format!("token {token}"),
            None => {
                if is_own(event) && event.resource_status.ends_with("_IN_PROGRESS") {
                    let continues = event.resource_status.contains("ROLLBACK")
                        || event.resource_status.contains("CLEANUP");
                    unnamed += usize::from(!continues);
                }
                format!("group {unnamed}")
            }
        };
        groups.entry(key).or_default().push(event);
    }
    groups
        .into_values()
        .filter_map(|group| remote_operation(&group))
        .collect()
}

fn is_own(event: &StackEvent) -> bool {
    event.resource_type == STACK_TYPE
        && event.physical_resource_id.as_deref() == Some(event.stack_id.as_str())
}

/// What the events of one operation, oldest first, show.
fn remote_operation(events: &[&StackEvent]) -> Option<Remote> {
    let own: Vec<&&StackEvent> = events.iter().filter(|event| is_own(event)).collect();
    let first = own.first()?;
    let last = own.last()?;
    let status = last.resource_status.as_str();
    let operation = match first.resource_status.as_str() {
        begun if begun.starts_with("DELETE") => "delete",
        begun if begun.starts_with("REVIEW") => "preview_changes",
        begun if begun.contains("ROLLBACK") => "rollback",
        _ => "deploy",
    };
    let failed =
        status.ends_with("_FAILED") || (status.contains("ROLLBACK") && operation != "rollback");
    let running = status.ends_with("_IN_PROGRESS") && operation != "preview_changes";
    let state = match (running, failed) {
        (true, _) => "running",
        (false, true) => "failed",
        (false, false) => "succeeded",
    };
    let code = match (state, operation) {
        ("running", _) => None,
        ("succeeded", _) => Some("OK"),
        (_, "delete") => Some("DELETE_FAILED"),
        (_, "rollback") => Some("ROLLBACK_FAILED"),
        _ => Some("DEPLOY_FAILED"),
    };
    let first_failure = events
        .iter()
        .find(|event| {
            event.resource_status.ends_with("_FAILED")
                && !is_own(event)
                && !event
                    .resource_status_reason
                    .as_deref()
                    .is_some_and(|reason| reason.to_lowercase().contains("cancelled"))
        })
        .map(|event| {
            json!({
                "logicalId": event.logical_resource_id,
                "resourceType": event.resource_type,
                "reason": event.resource_status_reason,
            })
        });
    Some(Remote {
        token: first.client_request_token.clone(),
        stack_name: first.stack_name.clone(),
        operation,
        state,
        code,
        started_at: events.iter().find_map(|event| event.timestamp)?,
        ended_at: if running { None } else { last.timestamp },
        first_failure,
    })
}
