//! Web, private and worker services: one container with what stands before it.

use serde_json::json;
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::container::{
    ContainerService, PrivateLoadBalancing, PrivateService, SideContainerType, WebLoadBalancing,
    WebService, WorkerService,
};
use windlass_stack_config::model::events::{ContainerEvent, RouteMethod};
use windlass_stack_config::model::network::{
    ApplicationLoadBalancer, HttpApiGateway, LoadBalancerInterface,
};

use super::load_balancer;
use super::task::{Container, Reach, Way, Workload, condition};
use crate::artifacts::container_name;
use crate::events::{Route, Rule};
use crate::stack::Stack;

/// The name of a service's own container.
pub(crate) const MAIN: &str = "service-container";
/// The port a web service listens on; passed as `PORT`.
const WEB_PORT: u16 = 3000;

/// The load balancer of a web service, as if it stood in the config.
pub(crate) fn own_balancer(service: &WebService) -> ApplicationLoadBalancer {
    ApplicationLoadBalancer {
        custom_domains: service.custom_domains.clone(),
        ..ApplicationLoadBalancer::default()
    }
}

/// Whether others can reach a workload by a name.
pub(crate) fn offers_names(kind: &ResourceKind) -> bool {
    match kind {
        ResourceKind::PrivateService(it) => !matches!(
            it.load_balancing,
            Some(PrivateLoadBalancing::ApplicationLoadBalancer(_))
        ),
        ResourceKind::MultiContainerWorkload(it) => it
            .containers
            .iter()
            .flat_map(|container| &container.events)
            .any(|event| matches!(event, ContainerEvent::ServiceConnect(_))),
        _ => false,
    }
}

impl Stack<'_> {
    pub fn web_service(&mut self, name: &str, it: &WebService, kind: &ResourceKind) {
        let way = match &it.load_balancing {
            Some(WebLoadBalancing::ApplicationLoadBalancer(check)) => {
                if it.cors.as_ref().is_some_and(|cors| cors.enabled) {
                    self.refuse(
                        "cors",
                        "a load balancer adds no CORS headers",
                        Some("answer them in the service, or use loadBalancing http-api-gateway"),
                    );
                }
                let balancer = own_balancer(it);
                self.bare_balancer(name, &balancer);
                let group = self.container_group(name, name, WEB_PORT, Some(check));
                let rule = self.own_rule(name, load_balancer::usual_port(&balancer), &group);
                Way::Balancer {
                    balancer: name.to_owned(),
                    group,
                    rule,
                }
            }
            Some(WebLoadBalancing::HttpApiGateway(_)) | None => {
                let gateway = HttpApiGateway {
                    cors: it.cors.clone(),
                    custom_domains: it.custom_domains.clone(),
                    ..HttpApiGateway::default()
                };
                self.http_api_gateway(name, &gateway);
                let integration = self.container_integration(name, name, WEB_PORT);
                let route = Route {
                    gateway: name,
                    method: RouteMethod::Any,
                    path: "*",
                    // The id that the overrides of existing configs name.
                    named_path: Some("/{proxy+}"),
                    authorizer: None,
                    integration,
                };
                self.route(&route, "");
                Way::Api {
                    gateway: name.to_owned(),
                }
            }
        };
        let reached = vec![Reach {
            container: MAIN.to_owned(),
            port: WEB_PORT,
            way,
        }];
        self.service(name, it, kind, Some(WEB_PORT), reached);
        if let Some(cdn) = &it.cdn {
            self.cdn(name, cdn);
        }
        self.alarms(name, &it.alarms, &it.disabled_global_alarms);
    }

    pub fn private_service(&mut self, name: &str, it: &PrivateService, kind: &ResourceKind) {
        let way = match &it.load_balancing {
            Some(PrivateLoadBalancing::ApplicationLoadBalancer(check)) => {
                if it.protocol.is_some() {
                    self.refuse(
                        "protocol",
                        "a load balancer uses HTTP",
                        Some("leave it out, or use loadBalancing service-connect"),
                    );
                }
                let balancer = ApplicationLoadBalancer {
                    interface: LoadBalancerInterface::Internal,
                    ..ApplicationLoadBalancer::default()
                };
                self.bare_balancer(name, &balancer);
                let group = self.container_group(name, name, it.port, Some(check));
                let rule = self.own_rule(name, load_balancer::usual_port(&balancer), &group);
                Way::Balancer {
                    balancer: name.to_owned(),
                    group,
                    rule,
                }
            }
            Some(PrivateLoadBalancing::ServiceConnect(_)) | None => Way::Connect {
                alias: crate::name::plain(name),
                protocol: it.protocol,
            },
        };
        let reached = vec![Reach {
            container: MAIN.to_owned(),
            port: it.port,
            way,
        }];
        self.service(name, it, kind, Some(it.port), reached);
    }

    pub fn worker_service(&mut self, name: &str, it: &WorkerService, kind: &ResourceKind) {
        self.service(name, it, kind, None, Vec::new());
    }

    fn own_rule(&mut self, name: &str, port: Option<u16>, group: &str) -> Option<String> {
        let everything = ["*".to_owned()];
        let rule = Rule {
            balancer: name,
            port,
            priority: 1,
            paths: Some(&everything),
            methods: None,
            hosts: None,
            headers: None,
            query: None,
            source_ips: None,
        };
        self.listener_rule(&rule, group, "loadBalancing")
    }

    fn service(
        &mut self,
        name: &str,
        it: &dyn ContainerService,
        kind: &ResourceKind,
        port: Option<u16>,
        reached: Vec<Reach>,
    ) {
        let mut own = self.environment(it.environment());
        if let Some(port) = port
            && own.iter().all(|(name, _)| name != "PORT")
        {
            own.push(("PORT".to_owned(), json!(port.to_string())));
        }
        let environment = self.full_environment(kind, own);
        // Containers that run once come first.
        let first: Vec<(String, &'static str)> = it
            .side_containers()
            .iter()
            .filter(|side| side.container_type == SideContainerType::RunOnInit)
            .map(|side| (side.name.clone(), "SUCCESS"))
            .collect();
        let mut containers = vec![Container {
            name: MAIN,
            image: self.image(name, it.packaging()),
            environment,
            is_essential: true,
            depends_on: first,
            logging: it.logging(),
            health: it.internal_health_check(),
            stop_timeout: it.stop_timeout(),
            inner_ports: Vec::new(),
        }];
        for side in it.side_containers() {
            let own = self.environment(&side.environment);
            containers.push(Container {
                name: &side.name,
                image: self.image(&container_name(name, &side.name), &side.packaging),
                environment: self.full_environment(kind, own),
                is_essential: side.container_type == SideContainerType::AlwaysRunning,
                depends_on: side
                    .depends_on
                    .iter()
                    .map(|it| (it.container_name.clone(), condition(it.condition)))
                    .collect(),
                logging: &side.logging,
                health: side.internal_health_check.as_ref(),
                stop_timeout: side.stop_timeout,
                inner_ports: Vec::new(),
            });
        }
        self.workload(&Workload {
            name,
            kind,
            containers,
            resources: it.resources(),
            scaling: it.scaling(),
            remote_sessions: it.enable_remote_sessions(),
            is_private: it.use_private_subnets_with_nat(),
            reached,
        });
    }
}
