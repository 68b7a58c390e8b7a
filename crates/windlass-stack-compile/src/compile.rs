//! The whole of it: every resource, then what concerns all of them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::script::Script;
use windlass_stack_config::{Config, Text};

use crate::compiled::{Compiled, CompiledResource, state_of};
use crate::connect::{Connection, Parameter};
use crate::facts::Facts;
use crate::refusal::{Refusal, Refusals};
use crate::stack::Stack;

/// Compiles a config to a template, or says everything that prevents it.
pub fn compile(config: &Config, facts: &Facts) -> Result<Compiled, Refusals> {
    let mut stack = Stack::new(config, facts);
    stack.check_names();
    for (name, kind) in stack.each() {
        stack.enter(Some(name));
        stack.resource(name, kind);
    }
    stack.enter(None);
    stack.raw_resources();
    stack.overrides();
    stack.all_outputs();
    let tags = stack.tags();
    // What was refused leaves holes; they say nothing new.
    if stack.refusals.is_empty() {
        stack.resolve_references();
    }
    stack.provider_settings();
    finish(stack, tags)
}

/// The variables that a workload gets by connectTo, or a script of that name.
pub fn connections(config: &Config, facts: &Facts, workload: &str) -> Vec<Connection> {
    let targets: &[String] = match config.resources.get(workload) {
        Some(resource) => resource.kind.connect_to(),
        None => config
            .scripts
            .get(workload)
            .map(Script::connect_to)
            .unwrap_or_default(),
    };
    Stack::new(config, facts).connections(targets)
}

/// Where a parameter of a resource is found once the stack is deployed; none where the resource
/// has no such parameter.
pub fn parameter(config: &Config, facts: &Facts, resource: &str, param: &str) -> Option<Parameter> {
    Stack::new(config, facts).parameter(resource, param)
}

impl Stack<'_> {
    fn resource(&mut self, name: &str, kind: &ResourceKind) {
        match kind {
            ResourceKind::Function(it) => self.function(name, it, kind),
            ResourceKind::HttpApiGateway(it) => self.http_api_gateway(name, it),
            ResourceKind::WebService(it) => self.web_service(name, it, kind),
            ResourceKind::PrivateService(it) => self.private_service(name, it, kind),
            ResourceKind::WorkerService(it) => self.worker_service(name, it, kind),
            ResourceKind::MultiContainerWorkload(it) => self.multi_container(name, it, kind),
            ResourceKind::BatchJob(it) => self.batch_job(name, it, kind),
            ResourceKind::DynamoDbTable(it) => self.dynamo_db_table(name, it),
            ResourceKind::RelationalDatabase(it) => self.relational_database(name, it),
            ResourceKind::RedisCluster(it) => self.redis_cluster(name, it),
            ResourceKind::Bucket(it) => self.bucket(name, it),
            ResourceKind::HostingBucket(it) => self.hosting_bucket(name, it),
            ResourceKind::SqsQueue(it) => self.sqs_queue(name, it),
            ResourceKind::SnsTopic(it) => self.sns_topic(name, it),
            ResourceKind::EventBus(it) => self.event_bus(name, it),
            ResourceKind::KinesisStream(it) => self.kinesis_stream(name, it),
            ResourceKind::StateMachine(it) => self.state_machine(name, it),
            ResourceKind::UserAuthPool(it) => self.user_auth_pool(name, it),
            ResourceKind::OpenSearchDomain(it) => self.open_search_domain(name, it),
            ResourceKind::ApplicationLoadBalancer(it) => self.load_balancer(name, it),
            ResourceKind::Bastion(it) => self.bastion(name, it),
            ResourceKind::DeploymentScript(it) => self.deployment_script(name, it, kind),
            ResourceKind::CustomResourceDefinition(it) => self.custom_definition(name, it, kind),
            ResourceKind::CustomResourceInstance(it) => self.custom_instance(name, it),
        }
    }

    /// Project and stage end in names of AWS, so they are held to what all of those allow.
    fn check_names(&mut self) {
        let stack = self.facts.stack_name();
        let is_fine = stack
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || it == '-')
            && stack.starts_with(|it: char| it.is_ascii_alphabetic())
            && stack.len() <= 128;
        if !is_fine {
            self.refuse(
                "",
                format!("\"{stack}\" cannot be the name of a stack"),
                Some("use at most 128 letters, digits and hyphens in project and stage, a letter first"),
            );
        }
    }

    fn tags(&mut self) -> BTreeMap<String, String> {
        let mut tags: BTreeMap<String, String> = BTreeMap::new();
        for (index, tag) in self.config.stack_config.tags.iter().enumerate() {
            match &tag.value {
                Text::Literal(value) => {
                    tags.insert(tag.name.clone(), value.clone());
                }
                Text::Runtime(_) => self.refusals.push(Refusal {
                    path: vec![
                        "stackConfig".to_owned(),
                        "tags".to_owned(),
                        index.to_string(),
                        "value".to_owned(),
                    ],
                    message: "a tag of the stack must be known before the deploy".to_owned(),
                    suggestion: Some("use a directive that is resolved at once".to_owned()),
                }),
            }
        }
        for (name, value) in [
            ("project", self.facts.project.clone()),
            ("stage", self.facts.stage.clone()),
            ("stack", self.facts.stack_name()),
            ("version", self.facts.version.clone()),
        ] {
            tags.insert(format!("windlass:{name}"), value);
        }
        tags
    }

    fn provider_settings(&mut self) {
        let providers = &self.config.provider_config;
        for (key, is_given) in [
            ("mongoDbAtlas", providers.mongo_db_atlas.is_some()),
            ("upstash", providers.upstash.is_some()),
        ] {
            if is_given {
                self.warn(
                    &format!("providerConfig.{key}"),
                    "other providers are not supported yet; this has no effect",
                );
            }
        }
    }
}

fn finish(mut stack: Stack<'_>, tags: BTreeMap<String, String>) -> Result<Compiled, Refusals> {
    let resources: BTreeMap<String, CompiledResource> = stack
        .parts
        .iter()
        .map(|(id, part)| {
            let compiled = CompiledResource {
                resource: part.owner.clone(),
                cf_type: part.cf_type.clone(),
                state: state_of(&part.cf_type),
                is_retained: part.is_retained(),
            };
            (id.clone(), compiled)
        })
        .collect();
    let capabilities = stack.capabilities();
    let mut body = Map::new();
    for (id, part) in std::mem::take(&mut stack.parts) {
        body.insert(id, part.into_template());
    }
    let mut outputs = Map::new();
    let mut origins = BTreeMap::new();
    for (id, (value, origin)) in std::mem::take(&mut stack.outputs) {
        let value = match value.get("Value") {
            Some(_) => value,
            None => json!({ "Value": value }),
        };
        outputs.insert(id.clone(), value);
        origins.insert(id, origin);
    }
    let mut template = json!({
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": format!("windlass-stack {} {}", stack.facts.project, stack.facts.stage),
        "Resources": body,
    });
    if !outputs.is_empty() {
        template["Outputs"] = Value::Object(outputs);
    }
    let template = windlass_stack_config::sorted(template);
    stack.check_limits(&template);
    if !stack.refusals.is_empty() {
        return Err(Refusals {
            list: stack.refusals,
        });
    }
    Ok(Compiled {
        template,
        resources,
        outputs: origins,
        tags,
        capabilities,
        secrets: stack.secrets,
        parameters: stack.parameters,
        synced_buckets: stack.synced_buckets,
        scripts: stack.scripts,
        warnings: stack.warnings,
    })
}
