//! The alarms of a stack: those among its own resources, with the resource each watches.

use serde_json::{Value, json};
use windlass_ports::aws::StackResource;
use windlass_types::Problem;

use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::call::Call;
use crate::failure::{aws_problem, not_found};
use crate::info_stacks::counted;
use crate::names::middle;
use crate::shapes::{list, moment, reading, text};

const TYPES: &[&str] = &["AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"];
/// CloudWatch takes this many names at once.
const AT_ONCE: usize = 100;

pub(crate) struct Ask {
    resource: Option<String>,
    state: Option<&'static str>,
}

impl Ask {
    pub(crate) fn read(arguments: &Arguments) -> Result<Self, Problem> {
        let states: [(&str, Option<&'static str>); 3] = [
            ("OK", Some("OK")),
            ("ALARM", Some("ALARM")),
            ("INSUFFICIENT_DATA", Some("INSUFFICIENT_DATA")),
        ];
        Ok(Self {
            resource: arguments.text("resourceName")?.map(str::to_owned),
            state: arguments.choice("state", None, &states)?,
        })
    }
}

pub(crate) async fn answer(call: &mut Call<'_>, ask: &Ask) -> Result<Answer, Problem> {
    let stack = call.stack().await?;
    let resources = call.resources(&stack).await?;
    if let Some(name) = &ask.resource {
        known(&resources, &stack.stack_name, name)?;
    }
    let own: Vec<(&StackResource, &str)> = resources
        .iter()
        .filter(|resource| TYPES.contains(&resource.resource_type.as_str()))
        .filter_map(|resource| Some((resource, resource.physical_resource_id.as_deref()?)))
        .collect();
    let mut alarms = Vec::new();
    for some in own.chunks(AT_ONCE) {
        let names: Vec<&str> = some.iter().map(|(_, name)| name_of(name)).collect();
        let found = call
            .aws(
                reading("cloudwatch", "DescribeAlarms")?,
                json!({ "AlarmNames": names, "AlarmTypes": ["MetricAlarm", "CompositeAlarm"], "MaxRecords": AT_ONCE }),
            )
            .await
            .map_err(|failure| aws_problem(&failure))?;
        let described = list(&found, "MetricAlarms")
            .iter()
            .chain(list(&found, "CompositeAlarms"));
        for alarm in described {
            let name = text(alarm, "AlarmName").unwrap_or_default();
            let resource = some
                .iter()
                .find(|(_, physical)| name_of(physical) == name)
                .map(|(resource, _)| *resource);
            let watched = watched(alarm, &resources);
            let wanted = ask.resource.as_deref().is_none_or(|wanted| {
                let of = |resource: &StackResource| {
                    resource.logical_resource_id == wanted || middle(resource, wanted).is_some()
                };
                watched.is_some_and(of) || resource.is_some_and(of)
            });
            if wanted
                && ask
                    .state
                    .is_none_or(|state| text(alarm, "StateValue") == Some(state))
            {
                alarms.push(shown(alarm, name, watched, resource));
            }
        }
    }
    let alarming = alarms
        .iter()
        .filter(|alarm| alarm["state"] == "ALARM")
        .count();
    let count = alarms.len();
    Ok(Answer::new(
        format!("{}, {alarming} in state ALARM", counted(count, "alarm")),
        json!({ "stackName": stack.stack_name, "alarms": alarms, "count": count }),
    ))
}

fn known(resources: &[StackResource], stack: &str, name: &str) -> Result<(), Problem> {
    let is_known = resources
        .iter()
        .any(|resource| resource.logical_resource_id == name || middle(resource, name).is_some());
    if is_known {
        return Ok(());
    }
    Err(not_found(
        "resource",
        name,
        format!("the stack {stack} has no resource {name}"),
        resources
            .iter()
            .map(|resource| resource.logical_resource_id.as_str()),
    ))
}

/// The physical id of a composite alarm is its ARN.
fn name_of(physical: &str) -> &str {
    physical
        .rsplit_once(":alarm:")
        .map_or(physical, |(_, name)| name)
}

/// The resource of the stack that a dimension of the alarm names.
fn watched<'a>(alarm: &Value, resources: &'a [StackResource]) -> Option<&'a StackResource> {
    let metrics = list(alarm, "Metrics")
        .iter()
        .filter_map(|query| query.pointer("/MetricStat/Metric"));
    let values: Vec<&str> = std::iter::once(alarm)
        .chain(metrics)
        .flat_map(|holder| list(holder, "Dimensions"))
        .filter_map(|dimension| text(dimension, "Value"))
        .collect();
    values.iter().rev().find_map(|value| {
        resources.iter().find(|resource| {
            let physical = resource.physical_resource_id.as_deref().unwrap_or_default();
            let ends = |separator: char| {
                physical
                    .strip_suffix(value)
                    .is_some_and(|rest| rest.ends_with(separator))
            };
            !TYPES.contains(&resource.resource_type.as_str())
                && (physical == *value || ends('/') || ends(':'))
        })
    })
}

fn shown(
    alarm: &Value,
    name: &str,
    watched: Option<&StackResource>,
    resource: Option<&StackResource>,
) -> Value {
    json!({
        "name": name,
        "logicalId": resource.map(|resource| resource.logical_resource_id.as_str()),
        "resource": watched.or(resource).map(|resource| resource.logical_resource_id.as_str()),
        "state": text(alarm, "StateValue"),
        "metric": text(alarm, "MetricName").or_else(|| text(alarm, "AlarmRule")),
        "namespace": text(alarm, "Namespace"),
        "threshold": alarm.get("Threshold").and_then(crate::shapes::number),
        "comparison": text(alarm, "ComparisonOperator"),
        "lastUpdated": alarm.get("StateUpdatedTimestamp").and_then(moment),
        "reason": text(alarm, "StateReason"),
        "description": text(alarm, "AlarmDescription"),
    })
}
