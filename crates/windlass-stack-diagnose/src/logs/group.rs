//! The log group of a resource: the stack's own, or what the resource says it logs to.

use serde_json::{Value, json};
use windlass_ports::aws::StackResource;
use windlass_types::{Problem, code};

use crate::call::Call;
use crate::ecs;
use crate::failure::{aws_problem, not_found};
use crate::names::{self, middle, pascal};
use crate::shapes::{list, reading, text};

const LOG_GROUP: &str = "AWS::Logs::LogGroup";
const FUNCTION: &str = "AWS::Lambda::Function";

pub(super) async fn find(
    call: &Call<'_>,
    resources: &[StackResource],
    stack: &str,
    name: &str,
    container: Option<&str>,
) -> Result<String, Problem> {
    if let Some(group) = of_stack(resources, name, container)? {
        return Ok(group);
    }
    let found = match names::find(resources, stack, name, &[FUNCTION, ecs::SERVICE]) {
        Ok(found) => found,
        Err(problem) if problem.code() == &code::NOT_FOUND => {
            let groups = resources
                .iter()
                .filter(|resource| resource.resource_type == LOG_GROUP)
                .map(|resource| resource.logical_resource_id.as_str());
            return Err(not_found(
                "resource",
                name,
                format!("the stack {stack} has no resource {name} that logs"),
                groups,
            ));
        }
        Err(problem) => return Err(problem),
    };
    if found.kind == FUNCTION {
        let function = found.physical_id.as_str();
        let configuration = call
            .aws(
                reading("lambda", "GetFunctionConfiguration")?,
                json!({ "FunctionName": function }),
            )
            .await
            .map_err(|failure| aws_problem(&failure))?;
        let named = configuration
            .get("LoggingConfig")
            .and_then(|logging| text(logging, "LogGroup"));
        // Lambda's own default where a function names no group.
        return Ok(named.map_or_else(|| format!("/aws/lambda/{function}"), str::to_owned));
    }
    let service = ecs::service(&found, resources)?;
    let definition = ecs::task_definition(call, &service).await?;
    let container = ecs::container(list(&definition, "containerDefinitions"), container)?;
    container
        .pointer("/logConfiguration/options/awslogs-group")
        .and_then(Value::as_str)
        .map(str::to_owned)
        .ok_or_else(|| {
            not_found(
                "log_group",
                name,
                format!("the container of {name} does not log to CloudWatch"),
                [],
            )
        })
}

/// The log group that stands in the stack: `ApiLogGroup` of `api`, or one of several for parts.
fn of_stack(
    resources: &[StackResource],
    name: &str,
    container: Option<&str>,
) -> Result<Option<String>, Problem> {
    let groups = || {
        resources.iter().filter_map(|resource| {
            let physical = resource.physical_resource_id.as_deref()?;
            (resource.resource_type == LOG_GROUP).then_some((resource, physical))
        })
    };
    let called = groups()
        .find(|(resource, physical)| resource.logical_resource_id == name || *physical == name);
    if let Some((_, physical)) = called {
        return Ok(Some(physical.to_owned()));
    }
    let of_name: Vec<(&str, &str)> = groups()
        .filter_map(|(resource, physical)| Some((middle(resource, name)?, physical)))
        .collect();
    if let Some(container) = container {
        let part = pascal(container);
        let exact = of_name.iter().find(|(middle, _)| *middle == part);
        let ends = || of_name.iter().find(|(middle, _)| middle.ends_with(&part));
        let chosen = exact.or_else(ends);
        return match (chosen, of_name.as_slice()) {
            (Some((_, physical)), _) => Ok(Some((*physical).to_owned())),
            (None, []) => Ok(None),
            (None, several) => Err(not_found(
                "container",
                container,
                format!("{name} has no part {container} that logs"),
                several.iter().map(|(middle, _)| *middle),
            )),
        };
    }
    match of_name.as_slice() {
        [] => Ok(None),
        [(_, one)] => Ok(Some((*one).to_owned())),
        several => match several.iter().find(|(middle, _)| middle.is_empty()) {
            Some((_, whole)) => Ok(Some((*whole).to_owned())),
            None => {
                let parts: Vec<&str> = several.iter().map(|(middle, _)| *middle).collect();
                Err(Problem::new(
                    &code::INVALID_INPUT,
                    format!(
                        "{name} has several logs; give container: {}",
                        parts.join(", ")
                    ),
                )
                .with("reason", "missing_argument")
                .with("field", "container")
                .with("argument", "container")
                .with("candidates", parts))
            }
        },
    }
}
