//! What a config refers to: resources, scripts, containers, parameters; and rules across
//! properties that the schema cannot say.

use std::collections::BTreeMap;

use windlass_text::suggest;

use super::params::referenceable_params;
use crate::fault::{Fault, FaultKind};
use crate::model::container::{ContainerDependency, ContainerResources, ContainerService, Scaling};
use crate::model::events::QueueEvent;
use crate::model::script::{Hook, Script};
use crate::model::{Resource, ResourceKind};
use crate::tree::{Kind, Node, Path, Step};
use crate::value::Runtime;

/// Macros of connectTo: services instead of resources.
const SERVICES: &[&str] = &["aws:ses"];

/// Types that cannot be connected to.
const NOT_CONNECTABLE: &[&str] = &["bastion", "deployment-script", "custom-resource-definition"];

/// Checks references. Resources that are malformed are known by name and type only.
pub(crate) struct References<'a> {
    tree: &'a Node,
    types: BTreeMap<&'a str, &'a str>,
    pub(super) typed: &'a BTreeMap<String, Resource>,
    /// What was found wrong.
    pub faults: Vec<Fault>,
}

impl<'a> References<'a> {
    pub fn new(tree: &'a Node, typed: &'a BTreeMap<String, Resource>) -> Self {
        let types = tree
            .get("resources")
            .map(Node::entries)
            .unwrap_or_default()
            .iter()
            .map(|entry| {
                let name = entry.value.get("type").and_then(Node::text);
                (entry.key.as_str(), name.unwrap_or_default())
            })
            .collect();
        Self {
            tree,
            types,
            typed,
            faults: Vec::new(),
        }
    }

    /// Names of resources, what each resource refers to, and every runtime directive.
    pub fn resources(&mut self) {
        for entry in self
            .tree
            .get("resources")
            .map(Node::entries)
            .unwrap_or_default()
        {
            if !is_name(&entry.key) {
                let path = Path::of(&["resources", &entry.key]);
                let message = format!(
                    "\"{}\" cannot be a resource's name: it begins with a letter and has letters, \
                     digits, \"-\" and \"_\" only, at most 50",
                    entry.key
                );
                self.faults.push(Fault::new(
                    FaultKind::InvalidValue,
                    entry.key_span,
                    &path,
                    message,
                ));
            }
        }
        let (tree, typed) = (self.tree, self.typed);
        // What is malformed elsewhere is still connected to something.
        for entry in tree.get("resources").map(Node::entries).unwrap_or_default() {
            if let Some(targets) = entry
                .value
                .get("properties")
                .and_then(|it| it.get("connectTo"))
                && !typed.contains_key(&entry.key)
            {
                let targets: Vec<String> = targets
                    .items()
                    .iter()
                    .map(|target| target.text().map(str::to_owned))
                    .collect::<Option<_>>()
                    .unwrap_or_default();
                self.connect_to(
                    &targets,
                    &Path::of(&["resources", &entry.key, "properties"]),
                );
            }
        }
        for (name, resource) in typed {
            self.resource(
                &resource.kind,
                &Path::of(&["resources", name, "properties"]),
            );
        }
        self.runtimes(tree, &Path::default());
    }

    /// Scripts of hooks, and what scripts refer to.
    pub fn scripts(&mut self, scripts: &BTreeMap<String, Script>) {
        for (name, script) in scripts {
            let path = Path::of(&["scripts", name, "properties"]);
            self.connect_to(script.connect_to(), &path);
            let given = [
                "executeScript",
                "executeScripts",
                "executeCommand",
                "executeCommands",
            ];
            let given: &[&str] = match script {
                Script::Bastion(_) => &given[2..],
                Script::Local(_) | Script::LocalWithTunnel(_) => &given,
            };
            self.exactly_one(&path, given);
            if let Some(target) = script.assume_role_of_resource() {
                self.expect(&path.key("assumeRoleOfResource"), target, &[]);
            }
            if let Some(target) = script.bastion_resource() {
                self.expect(&path.key("bastionResource"), target, &["bastion"]);
            } else if !matches!(script, Script::Local(_)) {
                let bastions = self
                    .types
                    .values()
                    .filter(|kind| **kind == "bastion")
                    .count();
                if bastions != 1 {
                    let message = match bastions {
                        0 => format!("the script \"{name}\" needs a bastion, and there is none"),
                        _ => format!("the script \"{name}\" must name one of {bastions} bastions"),
                    };
                    let help = match bastions {
                        0 => "add a resource of type bastion",
                        _ => "give bastionResource",
                    };
                    self.add(
                        FaultKind::UnknownReference,
                        &path,
                        message,
                        Some(help.to_owned()),
                    );
                }
            }
        }
    }

    /// Hooks name scripts that exist.
    pub fn hooks(&mut self, moments: &[(&str, &[Hook])]) {
        let tree = self.tree;
        let scripts: Vec<&str> = tree
            .get("scripts")
            .map(Node::entries)
            .unwrap_or_default()
            .iter()
            .map(|entry| entry.key.as_str())
            .collect();
        for (moment, hooks) in moments {
            for (index, hook) in hooks.iter().enumerate() {
                if !scripts.contains(&hook.script_name.as_str()) {
                    let path = Path::of(&["hooks", moment]).index(index).key("scriptName");
                    let message = format!("there is no script \"{}\"", hook.script_name);
                    let help = suggest::question(&hook.script_name, scripts.iter().copied())
                        .or_else(|| list("scripts", &scripts));
                    self.add(FaultKind::UnknownReference, &path, message, help);
                }
            }
        }
    }

    fn resource(&mut self, kind: &ResourceKind, path: &Path) {
        self.connect_to(kind.connect_to(), path);
        if let Some(service) = kind.as_service() {
            self.service(service, path);
        }
        match kind {
            ResourceKind::Function(function) => {
                self.events(&function.events, path);
                if let Some(deployment) = &function.deployment {
                    let path = path.key("deployment");
                    for (key, target) in [
                        (
                            "beforeAllowTrafficFunction",
                            &deployment.before_allow_traffic_function,
                        ),
                        (
                            "afterTrafficShiftFunction",
                            &deployment.after_traffic_shift_function,
                        ),
                    ] {
                        self.expect_some(&path.key(key), target.as_deref(), &["function"]);
                    }
                }
                self.cdn(function.cdn.as_ref(), path);
                if function.cdn.is_some() && !function.url.as_ref().is_some_and(|url| url.enabled) {
                    let message = "a function with a cdn needs an address of its own".to_owned();
                    let help = Some("add url: {enabled: true}".to_owned());
                    self.add(FaultKind::InvalidValue, &path.key("cdn"), message, help);
                }
            }
            ResourceKind::WebService(service) => self.cdn(service.cdn.as_ref(), path),
            ResourceKind::MultiContainerWorkload(workload) => {
                self.sizes(&workload.resources, &workload.scaling, path);
                let path = path.key("containers");
                let names: Vec<&str> = workload
                    .containers
                    .iter()
                    .map(|container| container.name.as_str())
                    .collect();
                self.unique(&names, &path);
                for (index, container) in workload.containers.iter().enumerate() {
                    let path = path.index(index);
                    self.dependencies(&container.depends_on, &names, &container.name, &path);
                    for (index, event) in container.events.iter().enumerate() {
                        let path = path.key("events").index(index).key("properties");
                        self.container_event(event, &path);
                    }
                }
            }
            ResourceKind::BatchJob(job) => self.events(&job.events, path),
            ResourceKind::HttpApiGateway(api) => self.cdn(api.cdn.as_ref(), path),
            ResourceKind::Bucket(bucket) => self.cdn(bucket.cdn.as_ref(), path),
            ResourceKind::HostingBucket(bucket) => self.rewrites(&bucket.route_rewrites, path),
            ResourceKind::ApplicationLoadBalancer(balancer) => {
                self.cdn(balancer.cdn.as_ref(), path);
                for (index, listener) in balancer.listeners.iter().enumerate() {
                    let is_https =
                        listener.protocol == crate::model::network::ListenerProtocol::Https;
                    if is_https
                        && listener.custom_certificate_arns.is_empty()
                        && balancer.custom_domains.is_empty()
                    {
                        let path = path.key("listeners").index(index);
                        let message = "an HTTPS listener needs a certificate".to_owned();
                        let help = Some("give customCertificateArns, or customDomains".to_owned());
                        self.add(FaultKind::InvalidValue, &path, message, help);
                    }
                }
            }
            ResourceKind::SqsQueue(queue) => {
                if let Some(redrive) = &queue.redrive_policy {
                    let path = path.key("redrivePolicy");
                    self.exactly_one(&path, &["targetSqsQueueName", "targetSqsQueueArn"]);
                    if redrive.target_sqs_queue_name.as_deref() == path.resource() {
                        let message = "a queue cannot be its own dead-letter queue".to_owned();
                        let path = path.key("targetSqsQueueName");
                        let help = Some("name another queue".to_owned());
                        self.add(FaultKind::InvalidValue, &path, message, help);
                    }
                    self.expect_some(
                        &path.key("targetSqsQueueName"),
                        redrive.target_sqs_queue_name.as_deref(),
                        &["sqs-queue"],
                    );
                }
                for (index, QueueEvent::EventBus(event)) in queue.events.iter().enumerate() {
                    let path = path.key("events").index(index).key("properties");
                    self.event_bus(event, &path);
                }
            }
            ResourceKind::StateMachine(machine) => {
                let definition = &machine.definition;
                if !definition.states.contains_key(&definition.start_at) {
                    let message = format!("there is no state \"{}\"", definition.start_at);
                    let help = suggest::question(
                        &definition.start_at,
                        definition.states.keys().map(String::as_str),
                    );
                    let path = path.key("definition").key("StartAt");
                    self.add(FaultKind::UnknownReference, &path, message, help);
                }
            }
            ResourceKind::OpenSearchDomain(domain) => self.expect_some(
                &path.key("userPool"),
                domain.user_pool.as_deref(),
                &["user-auth-pool"],
            ),
            ResourceKind::CustomResourceInstance(instance) => self.expect(
                &path.key("definitionName"),
                &instance.definition_name,
                &["custom-resource-definition"],
            ),
            ResourceKind::RelationalDatabase(_)
            | ResourceKind::DynamoDbTable(_)
            | ResourceKind::RedisCluster(_)
            | ResourceKind::SnsTopic(_)
            | ResourceKind::EventBus(_)
            | ResourceKind::KinesisStream(_)
            | ResourceKind::UserAuthPool(_)
            | ResourceKind::Bastion(_)
            | ResourceKind::DeploymentScript(_)
            | ResourceKind::CustomResourceDefinition(_)
            | ResourceKind::PrivateService(_)
            | ResourceKind::WorkerService(_) => {}
        }
    }

    fn service(&mut self, service: &dyn ContainerService, path: &Path) {
        self.sizes(service.resources(), service.scaling(), path);
        let path = path.key("sideContainers");
        let names: Vec<&str> = service
            .side_containers()
            .iter()
            .map(|container| container.name.as_str())
            .collect();
        self.unique(&names, &path);
        for (index, container) in service.side_containers().iter().enumerate() {
            let path = path.index(index);
            self.dependencies(&container.depends_on, &names, &container.name, &path);
        }
    }

    fn sizes(&mut self, resources: &ContainerResources, scaling: &Scaling, path: &Path) {
        let is_whole = resources.cpu.is_some() && resources.memory.is_some();
        if !is_whole && resources.instance_types.is_empty() {
            let message = "\"resources\" needs cpu and memory, or instanceTypes".to_owned();
            self.add(
                FaultKind::MissingProperty,
                &path.key("resources"),
                message,
                None,
            );
        }
        if resources.enable_warm_pool == Some(true) && resources.instance_types.len() != 1 {
            let path = path.key("resources").key("enableWarmPool");
            let message = "a warm pool needs exactly one instance type".to_owned();
            self.add(FaultKind::InvalidValue, &path, message, None);
        }
        if scaling.min_instances > scaling.max_instances {
            let message = format!(
                "minInstances ({}) is greater than maxInstances ({})",
                scaling.min_instances, scaling.max_instances
            );
            self.add(FaultKind::InvalidValue, &path.key("scaling"), message, None);
        }
    }

    fn unique(&mut self, names: &[&str], path: &Path) {
        for (index, name) in names.iter().enumerate() {
            if names.iter().position(|other| other == name) != Some(index) {
                let path = path.index(index).key("name");
                let message = format!("there is another container \"{name}\"");
                self.add(FaultKind::InvalidValue, &path, message, None);
            }
        }
    }

    fn dependencies(
        &mut self,
        dependencies: &[ContainerDependency],
        names: &[&str],
        own: &str,
        path: &Path,
    ) {
        for (index, dependency) in dependencies.iter().enumerate() {
            let name = dependency.container_name.as_str();
            if name == own || !names.contains(&name) {
                let path = path.key("dependsOn").index(index).key("containerName");
                let message = match name == own {
                    true => format!("the container \"{name}\" cannot wait for itself"),
                    false => format!("there is no container \"{name}\" next to this one"),
                };
                let help = suggest::question(name, names.iter().copied().filter(|n| *n != own));
                self.add(FaultKind::UnknownReference, &path, message, help);
            }
        }
    }

    fn connect_to(&mut self, targets: &[String], path: &Path) {
        let own = path.resource().unwrap_or_default().to_owned();
        for (index, target) in targets.iter().enumerate() {
            let path = path.key("connectTo").index(index);
            if SERVICES.contains(&target.as_str()) {
                continue;
            }
            if *target == own {
                let message = format!("\"{target}\" cannot be connected to itself");
                self.add(FaultKind::InvalidValue, &path, message, None);
                continue;
            }
            match self.types.get(target.as_str()) {
                Some(kind) if NOT_CONNECTABLE.contains(kind) => {
                    let message = format!("\"{target}\" is a {kind}; nothing connects to one");
                    self.add(FaultKind::InvalidValue, &path, message, None);
                }
                _ => self.expect(&path, target, &[]),
            }
        }
    }

    pub(super) fn expect_some(&mut self, path: &Path, name: Option<&str>, types: &[&str]) {
        if let Some(name) = name {
            self.expect(path, name, types);
        }
    }

    /// A resource of one of these types exists; of any type, when none is named.
    pub(super) fn expect(&mut self, path: &Path, name: &str, types: &[&str]) {
        let noun = match types {
            [] => "resource".to_owned(),
            types => types.join(" or "),
        };
        let known: Vec<&str> = self
            .types
            .iter()
            .filter(|(_, kind)| types.is_empty() || types.contains(kind))
            .map(|(name, _)| *name)
            .collect();
        match self.types.get(name) {
            Some(kind) if types.is_empty() || types.contains(kind) => {}
            Some(kind) => {
                let message = format!("\"{name}\" is a {kind}, and a {noun} is needed here");
                self.add(
                    FaultKind::UnknownReference,
                    path,
                    message,
                    list(&noun, &known),
                );
            }
            None => {
                let message = format!("there is no {noun} \"{name}\"");
                let help =
                    suggest::question(name, known.iter().copied()).or_else(|| list(&noun, &known));
                self.add(FaultKind::UnknownReference, path, message, help);
            }
        }
    }

    /// Of these keys exactly one is given. A switch that is off counts as not given.
    pub(super) fn exactly_one(&mut self, path: &Path, keys: &[&str]) {
        let mut node = self.tree;
        for step in &path.0 {
            let next = match step {
                Step::Key(key) => node.get(key),
                Step::Index(index) => node.items().get(*index),
            };
            match next {
                Some(next) => node = next,
                None => return,
            }
        }
        let given: Vec<&str> = keys
            .iter()
            .copied()
            .filter(|key| {
                node.get(key)
                    .is_some_and(|value| value.kind != Kind::Bool(false))
            })
            .collect();
        let message = match given.as_slice() {
            [_] => return,
            [] => format!("one of {} is needed", keys.join(", ")),
            given => format!("{} exclude each other", given.join(" and ")),
        };
        let kind = match given.len() {
            0 => FaultKind::MissingProperty,
            _ => FaultKind::InvalidValue,
        };
        self.add(kind, path, message, None);
    }

    /// Every `$ResourceParam` names a parameter that exists.
    fn runtimes(&mut self, node: &Node, path: &Path) {
        match &node.kind {
            Kind::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.runtimes(item, &path.index(index));
                }
            }
            Kind::Map(entries) => {
                for entry in entries {
                    self.runtimes(&entry.value, &path.key(&entry.key));
                }
            }
            Kind::Runtime(runtime) => {
                let mut found = Vec::new();
                runtime.each(&mut |runtime| {
                    if let Runtime::ResourceParam { resource, param } = runtime {
                        found.push((resource.as_str(), param.as_str()));
                    }
                });
                for (resource, param) in found {
                    self.param(resource, param, path);
                }
            }
            _ => {}
        }
    }

    fn param(&mut self, resource: &str, param: &str, path: &Path) {
        if !self.types.contains_key(resource) {
            return self.expect(path, resource, &[]);
        }
        let Some(kind) = self.typed.get(resource).map(|resource| &resource.kind) else {
            return;
        };
        if let Some(params) = referenceable_params(kind)
            && !params.contains(&param)
        {
            let message = format!(
                "the {} \"{resource}\" has no parameter \"{param}\"",
                kind.type_name()
            );
            let help = suggest::question(param, params.iter().copied())
                .or_else(|| list("parameters", &params));
            self.add(FaultKind::UnknownReference, path, message, help);
        }
    }

    pub(super) fn add(
        &mut self,
        kind: FaultKind,
        path: &Path,
        message: String,
        help: Option<String>,
    ) {
        let span = self.tree.locate(path);
        self.faults
            .push(Fault::new(kind, span, path, message).suggest(help));
    }
}

fn list(noun: &str, names: &[&str]) -> Option<String> {
    match names {
        [] => Some(format!("there is no {noun} in this config")),
        names => Some(format!("there is {}", names.join(", "))),
    }
}

fn is_name(name: &str) -> bool {
    name.len() <= 50
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
}
