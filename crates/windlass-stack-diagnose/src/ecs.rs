//! Container services: their cluster, their tasks, where their containers log.

use serde_json::{Value, json};
use windlass_ports::aws::StackResource;
use windlass_types::{Problem, code};

use crate::call::Call;
use crate::failure::{aws_problem, not_found};
use crate::names::{self, Found};
use crate::shapes::{list, reading, text};

pub(crate) const SERVICE: &str = "AWS::ECS::Service";

/// A service of a cluster.
pub(crate) struct Service {
    pub(crate) cluster: String,
    pub(crate) name: String,
}

/// Reads `arn:…:service/cluster/name`; older ARNs leave the cluster to the stack.
pub(crate) fn service(found: &Found, resources: &[StackResource]) -> Result<Service, Problem> {
    let path = found
        .physical_id
        .rsplit_once(":service/")
        .map_or(found.physical_id.as_str(), |(_, path)| path);
    if let Some((cluster, name)) = path.split_once('/') {
        return Ok(Service {
            cluster: cluster.to_owned(),
            name: name.to_owned(),
        });
    }
    let clusters: Vec<&StackResource> = resources
        .iter()
        .filter(|resource| resource.resource_type == "AWS::ECS::Cluster")
        .collect();
    match clusters.as_slice() {
        [
            StackResource {
                physical_resource_id: Some(cluster),
                ..
            },
        ] => Ok(Service {
            cluster: cluster.clone(),
            name: path.to_owned(),
        }),
        _ => Err(Problem::new(
            &code::NOT_FOUND,
            format!(
                "the cluster of {} is not known from the stack",
                found.logical_id
            ),
        )
        .with("reason", "not_found")
        .with("kind", "cluster")),
    }
}

/// The definition of the task a service runs.
pub(crate) async fn task_definition(call: &Call<'_>, service: &Service) -> Result<Value, Problem> {
    let found = call
        .aws(
            reading("ecs", "DescribeServices")?,
            json!({ "cluster": service.cluster, "services": [service.name] }),
        )
        .await
        .map_err(|failure| aws_problem(&failure))?;
    let definition = list(&found, "services")
        .first()
        .and_then(|service| text(service, "taskDefinition"))
        .ok_or_else(|| {
            not_found(
                "service",
                &service.name,
                format!(
                    "the cluster {} has no service {}",
                    service.cluster, service.name
                ),
                [],
            )
        })?;
    let described = call
        .aws(
            reading("ecs", "DescribeTaskDefinition")?,
            json!({ "taskDefinition": definition }),
        )
        .await
        .map_err(|failure| aws_problem(&failure))?;
    Ok(described.get("taskDefinition").cloned().unwrap_or_default())
}

/// The container that is meant: the one named, or the only one.
pub(crate) fn container<'a>(
    containers: &'a [Value],
    wanted: Option<&str>,
) -> Result<&'a Value, Problem> {
    let names: Vec<&str> = containers
        .iter()
        .filter_map(|container| text(container, "name"))
        .collect();
    match (wanted, containers) {
        (Some(wanted), _) => containers
            .iter()
            .find(|container| text(container, "name") == Some(wanted))
            .ok_or_else(|| {
                not_found(
                    "container",
                    wanted,
                    format!(
                        "there is no container {wanted}; there are {}",
                        names.join(", ")
                    ),
                    names.iter().copied(),
                )
            }),
        (None, [one]) => Ok(one),
        (None, []) => Err(not_found("container", "", "the task has no containers", [])),
        (None, _) => Err(Problem::new(
            &code::INVALID_INPUT,
            format!(
                "the task has several containers; give container: {}",
                names.join(", ")
            ),
        )
        .with("reason", "missing_argument")
        .with("field", "container")
        .with("argument", "container")
        .with("candidates", names)),
    }
}

/// The service that a name means.
pub(crate) fn find(
    resources: &[StackResource],
    stack: &str,
    name: &str,
) -> Result<Service, Problem> {
    let found = names::find(resources, stack, name, &[SERVICE])?;
    service(&found, resources)
}
