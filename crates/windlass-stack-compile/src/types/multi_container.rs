//! Workloads of several containers, each reached in its own ways.

use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::container::MultiContainerWorkload;
use windlass_stack_config::model::events::{ContainerEvent, PayloadFormat};

use super::task::{Container, Reach, Way, Workload, condition};
use crate::artifacts::container_name;
use crate::events::{Route, Rule};
use crate::stack::Stack;

impl Stack<'_> {
    pub fn multi_container(
        &mut self,
        name: &str,
        it: &MultiContainerWorkload,
        kind: &ResourceKind,
    ) {
        let mut containers = Vec::new();
        let mut reached = Vec::new();
        for (position, container) in it.containers.iter().enumerate() {
            let mut inner_ports = Vec::new();
            for (index, event) in container.events.iter().enumerate() {
                let property = format!("containers.{position}.events.{index}");
                let way = match event {
                    ContainerEvent::HttpApiGateway(event) => {
                        let gateway = event.http_api_gateway_name.as_str();
                        let port = event.container_port;
                        if event.payload_format == PayloadFormat::V2 {
                            self.refuse(
                                &format!("{property}.properties.payloadFormat"),
                                "containers receive requests, not events",
                                Some("leave it out"),
                            );
                        }
                        let route = Route {
                            gateway,
                            method: event.method,
                            path: &event.path,
                            named_path: None,
                            authorizer: event.authorizer.as_ref(),
                            integration: self.container_integration(name, gateway, port),
                        };
                        self.route(&route, &property);
                        let gateway = gateway.to_owned();
                        (port, Way::Api { gateway })
                    }
                    ContainerEvent::ApplicationLoadBalancer(event) => {
                        let balancer = event.load_balancer_name.as_str();
                        let port = event.container_port;
                        let check = container.load_balancer_health_check.as_ref();
                        let group = self.container_group(name, balancer, port, check);
                        let property = format!("{property}.properties");
                        let rule = self.listener_rule(&Rule::from(&**event), &group, &property);
                        let balancer = balancer.to_owned();
                        (
                            port,
                            Way::Balancer {
                                balancer,
                                group,
                                rule,
                            },
                        )
                    }
                    ContainerEvent::WorkloadInternal(event) => {
                        inner_ports.push(event.container_port);
                        continue;
                    }
                    ContainerEvent::ServiceConnect(event) => {
                        let alias = event.alias.clone().unwrap_or_else(|| {
                            crate::name::plain(&format!("{name}-{}", container.name))
                        });
                        (
                            event.container_port,
                            Way::Connect {
                                alias,
                                protocol: event.protocol,
                            },
                        )
                    }
                };
                let (port, way) = way;
                reached.push(Reach {
                    container: container.name.clone(),
                    port,
                    way,
                });
            }
            let is_balanced = container
                .events
                .iter()
                .any(|event| matches!(event, ContainerEvent::ApplicationLoadBalancer(_)));
            if container.load_balancer_health_check.is_some() && !is_balanced {
                self.refuse(
                    &format!("containers.{position}.loadBalancerHealthCheck"),
                    "no load balancer reaches the container",
                    Some("add an application-load-balancer event, or leave it out"),
                );
            }
            let own = self.environment(&container.environment);
            containers.push(Container {
                name: &container.name,
                image: self.image(&container_name(name, &container.name), &container.packaging),
                environment: self.full_environment(kind, own),
                is_essential: container.essential,
                depends_on: container
                    .depends_on
                    .iter()
                    .map(|it| (it.container_name.clone(), condition(it.condition)))
                    .collect(),
                logging: &container.logging,
                health: container.internal_health_check.as_ref(),
                stop_timeout: container.stop_timeout,
                inner_ports,
            });
        }
        self.workload(&Workload {
            name,
            kind,
            containers,
            resources: &it.resources,
            scaling: &it.scaling,
            remote_sessions: it.enable_remote_sessions,
            is_private: it.use_private_subnets_with_nat,
            reached,
        });
    }
}
