//! What no process of this session runs: resources at emulators of AWS, deployed ones, and those
//! that are not there. Each is shown for what it is.

use std::collections::BTreeMap;

use windlass_stack_config::model::ResourceKind;
use windlass_types::Problem;

use super::Bench;
use crate::emulators::not_local;
use crate::outside::Provisioned;
use crate::routes::silent_events;
use crate::status::{Condition, NOTHING_LOCAL, Role};

pub(super) fn show(bench: &mut Bench, names: &[String], mut provisioned: Provisioned) {
    for name in names {
        let kind = bench.plan.config.resources[name].kind.clone();
        let silent = silent_events(&kind);
        if !silent.is_empty() && !bench.plan.is_remote(name) {
            bench.host.log.warn(&format!(
                "{name}: its events {} are not sent locally",
                silent.join(", ")
            ));
        }
        if bench.board.get(name).is_some()
            || matches!(kind, ResourceKind::MultiContainerWorkload(_))
        {
            continue;
        }
        let condition = match provisioned.remove(name) {
            Some(outcome) => at_emulator(bench, name, &kind, outcome),
            None => without(bench, name, &kind),
        };
        let line = match &condition {
            Condition::NotLocal(why) if !service(&kind).is_empty() => Some(why),
            Condition::Failed(why) => Some(why),
            _ => None,
        };
        if let Some(why) = line {
            bench.host.log.warn(&format!("{name}: {why}"));
        }
        bench
            .board
            .add(name, Role::Elsewhere, kind.type_name(), condition);
    }
}

/// The service that has a resource; empty for those that are nothing by themselves.
fn service(kind: &ResourceKind) -> &'static str {
    match kind {
        ResourceKind::DynamoDbTable(_) => "dynamodb",
        ResourceKind::OpenSearchDomain(_) => "opensearch",
        ResourceKind::Bucket(_) => "s3",
        ResourceKind::SqsQueue(_) => "sqs",
        ResourceKind::SnsTopic(_) => "sns",
        ResourceKind::EventBus(_) => "events",
        ResourceKind::KinesisStream(_) => "kinesis",
        ResourceKind::StateMachine(_) => "states",
        ResourceKind::UserAuthPool(_) => "cognito-idp",
        _ => "",
    }
}

fn at_emulator(
    bench: &mut Bench,
    name: &str,
    kind: &ResourceKind,
    outcome: Result<BTreeMap<String, String>, Problem>,
) -> Condition {
    let params = match outcome {
        Ok(params) => params,
        Err(problem) => return Condition::Failed(problem.message().to_owned()),
    };
    let endpoint = bench.plan.emulator(service(kind)).unwrap_or_default();
    let shown = match params.get("name") {
        Some(physical) => format!("{endpoint} ({physical})"),
        None => endpoint.to_owned(),
    };
    for (param, value) in params {
        bench.put(name, &param, value);
    }
    Condition::Running(Some(shown))
}

fn without(bench: &mut Bench, name: &str, kind: &ResourceKind) -> Condition {
    let service = service(kind);
    if service.is_empty() {
        return Condition::NotLocal(NOTHING_LOCAL.to_owned());
    }
    let Some(endpoint) = bench.plan.emulator(service).map(str::to_owned) else {
        return Condition::NotLocal(not_local(service, name));
    };
    let physical = format!("{}-{}-{name}", bench.plan.project_name, bench.plan.stage);
    bench.put(name, "name", physical.clone());
    if matches!(kind, ResourceKind::OpenSearchDomain(_)) {
        // The domain is what answers at the address.
        return Condition::Running(Some(endpoint));
    }
    Condition::NotLocal(format!(
        "a {} is not created at an emulator: create {physical} at {endpoint} yourself, or use the deployed one with --remote {name}",
        kind.type_name()
    ))
}
