//! Containers that run together: the task, its service, how many of them, how they are reached.

use serde_json::{Value, json};
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::common::Logging;
use windlass_stack_config::model::container::{
    ContainerResources, DependencyCondition, InternalHealthCheck, LoadBalancerHealthCheck, Scaling,
    ScalingPolicy,
};
use windlass_stack_config::model::events::ServiceProtocol;
use windlass_stack_config::model::function::Architecture;

use crate::artifacts::Image;
use crate::cf::{attribute, join, reference};
use crate::connect::allow;
use crate::name::logical;
use crate::shared::{from_group, from_range};
use crate::stack::Stack;

/// Containers that run together.
pub(crate) struct Workload<'a> {
    pub name: &'a str,
    pub kind: &'a ResourceKind,
    pub containers: Vec<Container<'a>>,
    pub resources: &'a ContainerResources,
    pub scaling: &'a Scaling,
    pub remote_sessions: bool,
    pub is_private: bool,
    pub reached: Vec<Reach>,
}

pub(crate) struct Container<'a> {
    pub name: &'a str,
    pub image: Image,
    pub environment: Vec<(String, Value)>,
    pub is_essential: bool,
    pub depends_on: Vec<(String, &'static str)>,
    pub logging: &'a Logging<90>,
    pub health: Option<&'a InternalHealthCheck>,
    pub stop_timeout: u32,
    /// Ports that only its sibling containers use.
    pub inner_ports: Vec<u16>,
}

/// How a container is reached.
pub(crate) struct Reach {
    pub container: String,
    pub port: u16,
    pub way: Way,
}

pub(crate) enum Way {
    /// From an HTTP API.
    Api { gateway: String },
    /// From a load balancer, by a target group and the rule that leads to it.
    Balancer {
        balancer: String,
        group: String,
        rule: Option<String>,
    },
    /// By a name inside the network.
    Connect {
        alias: String,
        protocol: Option<ServiceProtocol>,
    },
}

impl Stack<'_> {
    pub fn workload(&mut self, it: &Workload<'_>) {
        let name = it.name;
        let group = self.workload_group(it);
        let is_ec2 = !it.resources.instance_types.is_empty();
        let task = self.task_definition(it, is_ec2);
        let cluster = logical(&[name, "Cluster"]);
        self.add(
            &cluster,
            "AWS::ECS::Cluster",
            json!({ "ClusterName": self.physical(name, 255) }),
        );
        let capacity = is_ec2.then(|| self.capacity(it, &cluster));
        let (subnets, has_address) = self.workload_subnets(it.is_private);
        if is_ec2 && !it.is_private {
            self.warn(
                "resources.instanceTypes",
                "containers on EC2 instances reach the internet only with usePrivateSubnetsWithNAT: true",
            );
        }
        let mut balancers = Vec::new();
        let mut registries: Vec<(u16, Value)> = Vec::new();
        let mut connected = Vec::new();
        let mut after = Vec::new();
        for reach in &it.reached {
            match &reach.way {
                Way::Balancer { group, rule, .. } => {
                    let entry = json!({
                        "ContainerName": reach.container,
                        "ContainerPort": reach.port,
                        "TargetGroupArn": reference(group),
                    });
                    if !balancers.contains(&entry) {
                        balancers.push(entry);
                    }
                    after.extend(rule.clone());
                }
                Way::Api { .. } => {
                    let id = self.discovery_service(name, reach.port);
                    if registries.iter().all(|(port, _)| *port != reach.port) {
                        registries.push((
                            reach.port,
                            json!({
                                "RegistryArn": attribute(&id, "Arn"),
                                "ContainerName": reach.container,
                                "ContainerPort": reach.port,
                            }),
                        ));
                    }
                }
                Way::Connect { alias, .. } => {
                    let port_name = port_name(&reach.container, reach.port);
                    connected.push(json!({
                        "PortName": port_name,
                        "DiscoveryName": crate::name::bounded(&format!("{alias}-{}", reach.port), 63),
                        "ClientAliases": [{ "DnsName": alias, "Port": reach.port }],
                    }));
                }
            }
        }
        if registries.len() > 1 {
            self.refuse(
                "containers",
                "HTTP APIs can reach one port of a workload",
                Some("use a load balancer for the other ports"),
            );
        }
        let connect = self.service_connect(&connected);
        let has_balancers = !balancers.is_empty();
        let network = json!({
            "AwsvpcConfiguration": {
                "AssignPublicIp": (!is_ec2).then_some(if has_address { "ENABLED" } else { "DISABLED" }),
                "SecurityGroups": [group],
                "Subnets": subnets,
            }
        });
        let scales = it.scaling.max_instances > it.scaling.min_instances;
        let service = logical(&[name, "Service"]);
        let strategy = capacity.as_ref().map(
            |provider| json!([{ "CapacityProvider": reference(provider), "Weight": 1, "Base": 0 }]),
        );
        let registries: Vec<Value> = registries.into_iter().map(|(_, value)| value).collect();
        let part = self.add(
            &service,
            "AWS::ECS::Service",
            json!({
                "ServiceName": self.physical(name, 255),
                "Cluster": reference(&cluster),
                "TaskDefinition": reference(&task),
                "LaunchType": (!is_ec2).then_some("FARGATE"),
                "CapacityProviderStrategy": strategy,
                // What scales by itself keeps its count from deploy to deploy.
                "DesiredCount": (!scales).then_some(it.scaling.min_instances),
                "DeploymentConfiguration": {
                    "MinimumHealthyPercent": 100,
                    "MaximumPercent": 200,
                    "DeploymentCircuitBreaker": { "Enable": true, "Rollback": true },
                },
                "EnableExecuteCommand": it.remote_sessions,
                "HealthCheckGracePeriodSeconds": has_balancers.then_some(60),
                "NetworkConfiguration": network,
                "LoadBalancers": has_balancers.then_some(balancers),
                "ServiceRegistries": (!registries.is_empty()).then_some(registries),
                "ServiceConnectConfiguration": connect,
                "PropagateTags": "SERVICE",
                "EnableECSManagedTags": true,
            }),
        );
        after.into_iter().for_each(|id| {
            part.after(id);
        });
        if capacity.is_some() {
            part.after(logical(&[name, "ClusterCapacityProviderAssociations"]));
        }
        if scales {
            self.scaling(name, &cluster, &service, it.scaling);
        } else if it.scaling.scaling_policy != ScalingPolicy::default() {
            self.warn(
                "scaling.scalingPolicy",
                "nothing scales: minInstances and maxInstances are the same",
            );
        }
    }

    fn workload_group(&mut self, it: &Workload<'_>) -> Value {
        let mut ingress: Vec<Value> = Vec::new();
        for reach in &it.reached {
            let port = json!(reach.port);
            let rule = match &reach.way {
                Way::Api { gateway } => {
                    self.vpc_link(gateway);
                    from_group(port, &logical(&[gateway, "VpcLink", "SecurityGroup"]))
                }
                Way::Balancer { balancer, .. } => {
                    from_group(port, &logical(&[balancer, "Lb", "SecurityGroup"]))
                }
                Way::Connect { .. } => from_range(port, self.network().cidr),
            };
            if !ingress.contains(&rule) {
                ingress.push(rule);
            }
        }
        let what = format!("The containers of {}", self.physical(it.name, 128));
        self.security_group(&logical(&[it.name, "SecurityGroup"]), &what, ingress)
    }

    fn task_definition(&mut self, it: &Workload<'_>, is_ec2: bool) -> String {
        let name = it.name;
        let mut statements = self.permissions(it.kind);
        if it.remote_sessions {
            // Sessions are no resources.
            statements.insert(0, allow(&SESSIONS, vec![json!("*")]));
        }
        let role = self.role(
            &logical(&[name, "Role"]),
            "ecs-tasks.amazonaws.com",
            &[],
            statements,
        );
        let execution = self.execution_role();
        let credentials: Vec<Value> = it
            .containers
            .iter()
            .filter_map(|container| container.image.credentials.clone())
            .collect();
        if !credentials.is_empty() {
            self.add(
                logical(&[name, "RegistryCredentials", "Policy"]),
                "AWS::IAM::Policy",
                json!({
                    "PolicyName": format!("{name}-registry"),
                    "PolicyDocument": crate::shared::policy(vec![allow(
                        &["secretsmanager:GetSecretValue"],
                        credentials,
                    )]),
                    "Roles": [reference(&logical(&["Stp", "EcsExecution", "Role"]))],
                }),
            );
        }
        let mut definitions = Vec::new();
        for container in &it.containers {
            definitions.push(self.container(it, container, is_ec2));
        }
        let architecture = match it.resources.architecture {
            Architecture::X86_64 => "X86_64",
            Architecture::Arm64 => "ARM64",
        };
        let id = logical(&[name, "TaskDefinition"]);
        self.add(
            &id,
            "AWS::ECS::TaskDefinition",
            json!({
                "Family": self.physical(name, 255),
                "NetworkMode": "awsvpc",
                "RequiresCompatibilities": [if is_ec2 { "EC2" } else { "FARGATE" }],
                "Cpu": it.resources.cpu.map(|cpu| ((cpu * 1024.0).round()).to_string()),
                "Memory": it.resources.memory.map(|memory| memory.to_string()),
                "RuntimePlatform": (!is_ec2).then(|| json!({
                    "CpuArchitecture": architecture,
                    "OperatingSystemFamily": "LINUX",
                })),
                "TaskRoleArn": role,
                "ExecutionRoleArn": execution,
                "ContainerDefinitions": definitions,
            }),
        );
        if !is_ec2 {
            self.check_fargate_size(it.resources);
        }
        id
    }

    fn container(&mut self, it: &Workload<'_>, container: &Container<'_>, is_ec2: bool) -> Value {
        let group = self.log_group_name("ecs", it.name, container.name);
        let log_id = logical(&[it.name, container.name, "LogGroup"]);
        let logs = self.logs(&log_id, group, container.logging).map(|id| {
            json!({
                "LogDriver": "awslogs",
                "Options": {
                    "awslogs-group": reference(&id),
                    "awslogs-region": { "Ref": "AWS::Region" },
                    "awslogs-stream-prefix": container.name,
                },
            })
        });
        let mut ports: Vec<Value> = Vec::new();
        let reached: Vec<&Reach> = it
            .reached
            .iter()
            .filter(|reach| reach.container == container.name)
            .collect();
        let mut numbers: Vec<u16> = reached
            .iter()
            .map(|reach| reach.port)
            .chain(container.inner_ports.iter().copied())
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            let connect = reached.iter().find_map(|reach| match &reach.way {
                Way::Connect { protocol, .. } if reach.port == number => Some(*protocol),
                _ => None,
            });
            ports.push(json!({
                "ContainerPort": number,
                "Protocol": "tcp",
                "Name": connect.map(|_| port_name(container.name, number)),
                "AppProtocol": connect.flatten().map(|protocol| match protocol {
                    ServiceProtocol::Http => "http",
                    ServiceProtocol::Http2 => "http2",
                    ServiceProtocol::Grpc => "grpc",
                }),
            }));
        }
        let environment: Vec<Value> = container
            .environment
            .iter()
            .map(|(name, value)| json!({ "Name": name, "Value": value }))
            .collect();
        let health = container.health.map(|it| {
            json!({
                "Command": it.health_check_command,
                "Interval": it.interval_seconds,
                "Timeout": it.timeout_seconds,
                "Retries": it.retries,
                "StartPeriod": it.start_period_seconds,
            })
        });
        let depends_on: Vec<Value> = container
            .depends_on
            .iter()
            .map(|(name, condition)| json!({ "ContainerName": name, "Condition": condition }))
            .collect();
        json!({
            "Name": container.name,
            "Image": container.image.uri,
            "Command": container.image.command,
            "EntryPoint": container.image.entry_point,
            "RepositoryCredentials": container.image.credentials.as_ref().map(|secret| {
                json!({ "CredentialsParameter": secret })
            }),
            "Essential": container.is_essential,
            "MemoryReservation": (is_ec2 && it.resources.memory.is_none()).then_some(256),
            "Environment": (!environment.is_empty()).then_some(environment),
            "PortMappings": (!ports.is_empty()).then_some(ports),
            "DependsOn": (!depends_on.is_empty()).then_some(depends_on),
            "HealthCheck": health,
            "StopTimeout": container.stop_timeout,
            "LogConfiguration": logs,
        })
    }

    /// The role by which ECS and Batch fetch images and write logs.
    pub fn execution_role(&mut self) -> Value {
        self.shared_role(
            &logical(&["Stp", "EcsExecution", "Role"]),
            "ecs-tasks.amazonaws.com",
            &["service-role/AmazonECSTaskExecutionRolePolicy"],
            Vec::new(),
        )
    }

    fn check_fargate_size(&mut self, resources: &ContainerResources) {
        let (Some(cpu), Some(memory)) = (resources.cpu, resources.memory) else {
            return self.refuse(
                "resources",
                "cpu and memory are needed",
                Some("give both, or instanceTypes"),
            );
        };
        let units = (cpu * 1024.0).round();
        let fits = FARGATE.iter().any(|(size, least, most, step)| {
            units == f64::from(*size) && memory >= *least && memory <= *most && (memory % step == 0)
        }) || (units == 256.0 && memory == 512);
        if !fits {
            self.refuse(
                "resources.memory",
                format!("Fargate has no {cpu} vCPU with {memory} MB"),
                Some("memory grows in steps of 1024 MB from 2 to 8 times the vCPUs"),
            );
        }
    }

    fn scaling(&mut self, name: &str, cluster: &str, service: &str, scaling: &Scaling) {
        let target = logical(&[name, "ScalableTarget"]);
        self.add(
            &target,
            "AWS::ApplicationAutoScaling::ScalableTarget",
            json!({
                "ServiceNamespace": "ecs",
                "ScalableDimension": "ecs:service:DesiredCount",
                "ResourceId": join([
                    json!("service/"),
                    reference(cluster),
                    json!("/"),
                    attribute(service, "Name"),
                ]),
                "MinCapacity": scaling.min_instances,
                "MaxCapacity": scaling.max_instances,
            }),
        );
        let policy = &scaling.scaling_policy;
        for (what, metric, under) in [
            (
                "Cpu",
                "ECSServiceAverageCPUUtilization",
                policy.keep_avg_cpu_utilization_under,
            ),
            (
                "Memory",
                "ECSServiceAverageMemoryUtilization",
                policy.keep_avg_memory_utilization_under,
            ),
        ] {
            self.add(
                logical(&[name, what, "ScalingPolicy"]),
                "AWS::ApplicationAutoScaling::ScalingPolicy",
                json!({
                    "PolicyName": format!("{name}-{}", what.to_lowercase()),
                    "PolicyType": "TargetTrackingScaling",
                    "ScalingTargetId": reference(&target),
                    "TargetTrackingScalingPolicyConfiguration": {
                        "PredefinedMetricSpecification": { "PredefinedMetricType": metric },
                        "TargetValue": under,
                    },
                }),
            );
        }
    }

    /// The names of services inside the network.
    fn namespace(&mut self) -> String {
        // The id that the overrides of existing configs name.
        let id = logical(&["Stp", "Discovery", "Service"]);
        let vpc = self.network().vpc;
        let name = format!(
            "{}.local",
            crate::name::bounded(&crate::name::plain(&self.facts.stack_name()), 63)
        );
        self.share(
            &id,
            "AWS::ServiceDiscovery::PrivateDnsNamespace",
            |_| json!({ "Name": name, "Vpc": vpc }),
        )
    }

    fn discovery_service(&mut self, name: &str, port: u16) -> String {
        let id = logical(&[name, &format!("Port{port}Discovery"), "Service"]);
        if !self.parts.contains_key(&id) {
            let namespace = self.namespace();
            self.add(
                &id,
                "AWS::ServiceDiscovery::Service",
                json!({
                    "Name": crate::name::bounded(&format!("{}-{port}", crate::name::plain(name)), 63),
                    "DnsConfig": {
                        "NamespaceId": reference(&namespace),
                        "DnsRecords": [{ "Type": "SRV", "TTL": 60 }],
                    },
                    "HealthCheckCustomConfig": { "FailureThreshold": 1 },
                }),
            );
        }
        id
    }

    /// Offers names to other workloads; where any workload does, all can use them.
    fn service_connect(&mut self, offered: &[Value]) -> Option<Value> {
        if offered.is_empty()
            && !self
                .each()
                .any(|(_, kind)| super::service::offers_names(kind))
        {
            return None;
        }
        let namespace = self.namespace();
        Some(json!({
            "Enabled": true,
            "Namespace": attribute(&namespace, "Arn"),
            "Services": (!offered.is_empty()).then_some(offered),
        }))
    }

    /// What an HTTP API calls to reach a container; returns the integration's id.
    pub fn container_integration(&mut self, name: &str, gateway: &str, port: u16) -> String {
        let id = logical(&[name, &format!("{gateway}ToPort{port}"), "Integration"]);
        if !self.parts.contains_key(&id) {
            let link = self.vpc_link(gateway);
            let service = self.discovery_service(name, port);
            self.add(
                &id,
                "AWS::ApiGatewayV2::Integration",
                json!({
                    "ApiId": reference(&logical(&[gateway, "Api"])),
                    "IntegrationType": "HTTP_PROXY",
                    "IntegrationMethod": "ANY",
                    "IntegrationUri": attribute(&service, "Arn"),
                    "ConnectionType": "VPC_LINK",
                    "ConnectionId": reference(&link),
                    "PayloadFormatVersion": "1.0",
                }),
            );
        }
        id
    }

    /// What a load balancer sends requests to; returns the target group's id.
    pub fn container_group(
        &mut self,
        name: &str,
        balancer: &str,
        port: u16,
        check: Option<&LoadBalancerHealthCheck>,
    ) -> String {
        let id = logical(&[name, &format!("{balancer}ToPort{port}"), "TargetGroup"]);
        if self.parts.contains_key(&id) {
            return id;
        }
        if check.is_some_and(|it| it.healthcheck_timeout >= it.healthcheck_interval) {
            self.refuse(
                "loadBalancing",
                "healthcheckTimeout must be shorter than healthcheckInterval",
                None,
            );
        }
        let vpc = self.network().vpc;
        self.add(
            &id,
            "AWS::ElasticLoadBalancingV2::TargetGroup",
            json!({
                "TargetType": "ip",
                "Protocol": "HTTP",
                "Port": port,
                "VpcId": vpc,
                "HealthCheckPath": check.map_or("/", |it| &it.healthcheck_path),
                "HealthCheckIntervalSeconds": check.map_or(5, |it| it.healthcheck_interval),
                "HealthCheckTimeoutSeconds": check.map_or(4, |it| it.healthcheck_timeout),
                "TargetGroupAttributes": [
                    { "Key": "deregistration_delay.timeout_seconds", "Value": "30" },
                ],
            }),
        );
        id
    }
}

fn port_name(container: &str, port: u16) -> String {
    crate::name::bounded(&format!("{}-{port}", crate::name::plain(container)), 64)
}

pub(crate) fn condition(condition: DependencyCondition) -> &'static str {
    match condition {
        DependencyCondition::Complete => "COMPLETE",
        DependencyCondition::Healthy => "HEALTHY",
        DependencyCondition::Start => "START",
        DependencyCondition::Success => "SUCCESS",
    }
}

/// Sizes of Fargate: units, least and most memory, and its steps.
const FARGATE: [(u32, u32, u32, u32); 7] = [
    (256, 1024, 2048, 1024),
    (512, 1024, 4096, 1024),
    (1024, 2048, 8192, 1024),
    (2048, 4096, 16_384, 1024),
    (4096, 8192, 30_720, 1024),
    (8192, 16_384, 61_440, 4096),
    (16_384, 32_768, 122_880, 8192),
];

/// What running commands inside needs.
const SESSIONS: [&str; 4] = [
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
];
