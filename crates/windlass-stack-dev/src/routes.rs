//! Which routes of which gateways and balancers lead to which resources.

use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::events::{
    Authorizer, ContainerEvent, Event, HeaderCondition, PayloadFormat, QueryCondition, RouteMethod,
};

/// One route of an HTTP API.
#[derive(Clone, Debug)]
pub(crate) struct HttpRoute {
    pub gateway: String,
    pub method: RouteMethod,
    pub path: String,
    pub payload: PayloadFormat,
    pub authorizer: Option<&'static str>,
    pub target: Target,
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A function.
    Function(String),
    /// A port of a container: `resource/container` and the port it has when it is deployed.
    Port(String, u16),
}

/// One rule of a load balancer.
#[derive(Clone, Debug)]
pub(crate) struct BalancerRule {
    pub balancer: String,
    pub listener_port: Option<u16>,
    pub priority: u32,
    pub paths: Vec<String>,
    pub methods: Vec<String>,
    pub hosts: Vec<String>,
    pub headers: Vec<HeaderCondition>,
    pub query: Vec<QueryCondition>,
    pub source_ips: Vec<String>,
    pub target: Target,
}

fn authorizer(authorizer: Option<&Authorizer>) -> Option<&'static str> {
    authorizer.map(Authorizer::type_name)
}

/// The routes that lead to a resource.
pub(crate) fn http_routes(name: &str, kind: &ResourceKind) -> Vec<HttpRoute> {
    let mut routes = Vec::new();
    match kind {
        ResourceKind::Function(function) => {
            for event in &function.events {
                if let Event::HttpApiGateway(event) = event {
                    routes.push(HttpRoute {
                        gateway: event.http_api_gateway_name.clone(),
                        method: event.method,
                        path: event.path.clone(),
                        payload: event.payload_format,
                        authorizer: authorizer(event.authorizer.as_ref()),
                        target: Target::Function(name.to_owned()),
                    });
                }
            }
        }
        ResourceKind::MultiContainerWorkload(workload) => {
            for container in &workload.containers {
                for event in &container.events {
                    if let ContainerEvent::HttpApiGateway(event) = event {
                        routes.push(HttpRoute {
                            gateway: event.http_api_gateway_name.clone(),
                            method: event.method,
                            path: event.path.clone(),
                            payload: event.payload_format,
                            authorizer: authorizer(event.authorizer.as_ref()),
                            target: Target::Port(
                                format!("{name}/{}", container.name),
                                event.container_port,
                            ),
                        });
                    }
                }
            }
        }
        _ => {}
    }
    routes
}

/// The rules that lead to a resource.
pub(crate) fn balancer_rules(name: &str, kind: &ResourceKind) -> Vec<BalancerRule> {
    let mut rules = Vec::new();
    macro_rules! rule {
        ($event:expr, $target:expr) => {
            rules.push(BalancerRule {
                balancer: $event.load_balancer_name.clone(),
                listener_port: $event.listener_port,
                priority: $event.priority,
                paths: $event.paths.clone().unwrap_or_default(),
                methods: $event.methods.clone().unwrap_or_default(),
                hosts: $event.hosts.clone().unwrap_or_default(),
                headers: $event.headers.clone().unwrap_or_default(),
                query: $event.query_params.clone().unwrap_or_default(),
                source_ips: $event.source_ips.clone().unwrap_or_default(),
                target: $target,
            })
        };
    }
    match kind {
        ResourceKind::Function(function) => {
            for event in &function.events {
                if let Event::ApplicationLoadBalancer(event) = event {
                    rule!(event, Target::Function(name.to_owned()));
                }
            }
        }
        ResourceKind::MultiContainerWorkload(workload) => {
            for container in &workload.containers {
                for event in &container.events {
                    if let ContainerEvent::ApplicationLoadBalancer(event) = event {
                        let place = format!("{name}/{}", container.name);
                        rule!(event, Target::Port(place, event.container_port));
                    }
                }
            }
        }
        _ => {}
    }
    rules
}

/// The gateways and balancers that lead to a resource.
pub(crate) fn entrances(kind: &ResourceKind) -> Vec<&str> {
    let mut names = Vec::new();
    match kind {
        ResourceKind::Function(function) => {
            for event in &function.events {
                match event {
                    Event::HttpApiGateway(event) => {
                        names.push(event.http_api_gateway_name.as_str())
                    }
                    Event::ApplicationLoadBalancer(event) => names.push(&event.load_balancer_name),
                    _ => {}
                }
            }
        }
        ResourceKind::MultiContainerWorkload(workload) => {
            for event in workload
                .containers
                .iter()
                .flat_map(|container| &container.events)
            {
                match event {
                    ContainerEvent::HttpApiGateway(event) => {
                        names.push(&event.http_api_gateway_name)
                    }
                    ContainerEvent::ApplicationLoadBalancer(event) => {
                        names.push(&event.load_balancer_name)
                    }
                    ContainerEvent::WorkloadInternal(_) | ContainerEvent::ServiceConnect(_) => {}
                }
            }
        }
        _ => {}
    }
    names
}

/// Events of a function that nothing sends here.
pub(crate) fn silent_events(kind: &ResourceKind) -> Vec<&'static str> {
    let events: &[Event] = match kind {
        ResourceKind::Function(function) => &function.events,
        ResourceKind::BatchJob(job) => &job.events,
        _ => &[],
    };
    events
        .iter()
        .filter(|event| {
            !matches!(
                event,
                Event::HttpApiGateway(_) | Event::ApplicationLoadBalancer(_)
            )
        })
        .map(Event::type_name)
        .collect()
}
