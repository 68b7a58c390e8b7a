//! Services, workloads and jobs that run in containers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::alarms::Alarm;
use super::cdn::Cdn;
use super::common::{
    Cors, CustomDomain, DevSettings, EnvironmentVariable, IamRoleStatement, Logging,
};
use super::events::{ContainerEvent, Event, ServiceProtocol};
use super::function::Architecture;
use super::packaging::ImagePackaging;
use crate::defaults::{number, root_path};
use crate::tagged::tagged;

/// What web, private and worker services have in common.
pub trait ContainerService {
    /// How the image is built.
    fn packaging(&self) -> &ImagePackaging;
    /// Processor and memory.
    fn resources(&self) -> &ContainerResources;
    /// Environment variables.
    fn environment(&self) -> &[EnvironmentVariable];
    /// Logs.
    fn logging(&self) -> &Logging<90>;
    /// How many instances run.
    fn scaling(&self) -> &Scaling;
    /// The container's own health check.
    fn internal_health_check(&self) -> Option<&InternalHealthCheck>;
    /// For how many seconds a container may finish its work.
    fn stop_timeout(&self) -> u32;
    /// Whether commands may be run inside.
    fn enable_remote_sessions(&self) -> bool;
    /// Containers next to the main one.
    fn side_containers(&self) -> &[SideContainer];
    /// Whether instances have no public address.
    fn use_private_subnets_with_nat(&self) -> bool;
    /// Resources the service uses.
    fn connect_to(&self) -> &[String];
    /// Further permissions.
    fn iam_role_statements(&self) -> &[IamRoleStatement];
    /// How it behaves in local development.
    fn dev(&self) -> &DevSettings;
}

/// Declares a service: its own properties, and the common ones.
macro_rules! service {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident { $($own:tt)* }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        #[schemars(extend("x-windlass-rejected" = {
            "useFirewall": "it needs web-app-firewall",
            "volumeMounts": "it needs efs-filesystem",
            "deployment": "blue/green deployments of containers need a private resource type"
        }))]
        pub struct $name {
            /// How the image is built.
            pub packaging: ImagePackaging,
            /// Processor and memory.
            pub resources: ContainerResources,
            /// Environment variables.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub environment: Vec<EnvironmentVariable>,
            /// Logs.
            #[serde(default)]
            pub logging: Logging<90>,
            /// How many instances run.
            #[serde(default)]
            pub scaling: Scaling,
            /// The container's own health check.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub internal_health_check: Option<InternalHealthCheck>,
            /// For how many seconds a container may finish its work after it is asked to stop.
            #[serde(default = "number::<2>")]
            #[schemars(range(min = 2, max = 120))]
            pub stop_timeout: u32,
            /// Allow commands to be run inside.
            #[serde(default)]
            pub enable_remote_sessions: bool,
            /// Containers next to the main one.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub side_containers: Vec<SideContainer>,
            /// Run without public addresses, behind a NAT gateway.
            #[serde(rename = "usePrivateSubnetsWithNAT", default)]
            pub use_private_subnets_with_nat: bool,
            /// Resources the service uses: it gets permissions, network access and variables.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub connect_to: Vec<String>,
            /// Further permissions.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub iam_role_statements: Vec<IamRoleStatement>,
            /// How it behaves in local development.
            #[serde(default)]
            pub dev: DevSettings,
            $($own)*
        }

        impl ContainerService for $name {
            fn packaging(&self) -> &ImagePackaging {
                &self.packaging
            }
            fn resources(&self) -> &ContainerResources {
                &self.resources
            }
            fn environment(&self) -> &[EnvironmentVariable] {
                &self.environment
            }
            fn logging(&self) -> &Logging<90> {
                &self.logging
            }
            fn scaling(&self) -> &Scaling {
                &self.scaling
            }
            fn internal_health_check(&self) -> Option<&InternalHealthCheck> {
                self.internal_health_check.as_ref()
            }
            fn stop_timeout(&self) -> u32 {
                self.stop_timeout
            }
            fn enable_remote_sessions(&self) -> bool {
                self.enable_remote_sessions
            }
            fn side_containers(&self) -> &[SideContainer] {
                &self.side_containers
            }
            fn use_private_subnets_with_nat(&self) -> bool {
                self.use_private_subnets_with_nat
            }
            fn connect_to(&self) -> &[String] {
                &self.connect_to
            }
            fn iam_role_statements(&self) -> &[IamRoleStatement] {
                &self.iam_role_statements
            }
            fn dev(&self) -> &DevSettings {
                &self.dev
            }
        }
    };
}

service! {
    /// A container that serves the internet.
    pub struct WebService {
        /// Which other origins a browser may call from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cors: Option<Cors>,
        /// Domain names of the service.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub custom_domains: Vec<CustomDomain>,
        /// The load balancing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub load_balancing: Option<WebLoadBalancing>,
        /// A content delivery network in front.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cdn: Option<Cdn>,
        /// Alarms.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub alarms: Vec<Alarm>,
        /// Alarms of the account that do not apply here. There are none in Windlass.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub disabled_global_alarms: Vec<String>,
    }
}

service! {
    /// A container that serves other resources of the stack.
    pub struct PrivateService {
        /// The port it listens on.
        #[serde(default = "private_port")]
        pub port: u16,
        /// Its protocol.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub protocol: Option<ServiceProtocol>,
        /// The load balancing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub load_balancing: Option<PrivateLoadBalancing>,
    }
}

service! {
    /// A container that works without being called.
    pub struct WorkerService {}
}

fn private_port() -> u16 {
    3000
}

/// Processor and memory of one instance, or the machines to run on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContainerResources {
    /// Virtual processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [0.25, 0.5, 1, 2, 4, 8, 16]))]
    pub cpu: Option<f64>,
    /// Memory in megabytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 512, max = 122_880))]
    pub memory: Option<u32>,
    /// EC2 instance types to run on, instead of Fargate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instance_types: Vec<String>,
    /// Keep stopped machines ready. Needs exactly one instance type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_warm_pool: Option<bool>,
    /// The processor's architecture.
    #[serde(default)]
    pub architecture: Architecture,
}

tagged! {
    /// The load balancing of a web service.
    pub enum WebLoadBalancing {
        /// An HTTP API.
        HttpApiGateway(NoSettings) = "http-api-gateway",
        /// A load balancer.
        ApplicationLoadBalancer(LoadBalancerHealthCheck) = "application-load-balancer",
    }
    rejected {
        "network-load-balancer" => "it needs network-load-balancer",
    }
}

tagged! {
    /// The load balancing of a private service.
    pub enum PrivateLoadBalancing {
        /// Names inside the network.
        ServiceConnect(NoSettings) = "service-connect",
        /// A load balancer inside the network.
        ApplicationLoadBalancer(LoadBalancerHealthCheck) = "application-load-balancer",
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NoSettings {}

/// The load balancer's health check of a container.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoadBalancerHealthCheck {
    /// The path that is asked whether the service is well.
    #[serde(default = "root_path")]
    pub healthcheck_path: String,
    /// The seconds between two questions.
    #[serde(default = "number::<5>")]
    #[schemars(range(min = 5, max = 300))]
    pub healthcheck_interval: u32,
    /// For how many seconds an answer is awaited.
    #[serde(default = "number::<4>")]
    #[schemars(range(min = 2, max = 120))]
    pub healthcheck_timeout: u32,
}

/// How many instances run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scaling {
    /// The minimum number.
    #[serde(default = "number::<1>")]
    pub min_instances: u32,
    /// The maximum number.
    #[serde(default = "number::<1>")]
    pub max_instances: u32,
    /// When instances are added.
    #[serde(default)]
    pub scaling_policy: ScalingPolicy,
}

impl Default for Scaling {
    fn default() -> Self {
        Self {
            min_instances: 1,
            max_instances: 1,
            scaling_policy: ScalingPolicy::default(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScalingPolicy {
    /// Add instances above this average processor use, in percent.
    #[serde(default = "number::<80>")]
    #[schemars(range(min = 1, max = 100))]
    pub keep_avg_cpu_utilization_under: u32,
    /// Add instances above this average memory use, in percent.
    #[serde(default = "number::<80>")]
    #[schemars(range(min = 1, max = 100))]
    pub keep_avg_memory_utilization_under: u32,
}

impl Default for ScalingPolicy {
    fn default() -> Self {
        Self {
            keep_avg_cpu_utilization_under: 80,
            keep_avg_memory_utilization_under: 80,
        }
    }
}

/// The container's own health check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InternalHealthCheck {
    /// The command, such as `["CMD-SHELL", "curl -f http://localhost/ || exit 1"]`.
    #[schemars(length(min = 1))]
    pub health_check_command: Vec<String>,
    /// The seconds between two checks.
    #[serde(default = "number::<30>")]
    #[schemars(range(min = 5, max = 300))]
    pub interval_seconds: u32,
    /// For how many seconds a check may take.
    #[serde(default = "number::<5>")]
    #[schemars(range(min = 2, max = 60))]
    pub timeout_seconds: u32,
    /// How many checks must fail.
    #[serde(default = "number::<3>")]
    #[schemars(range(min = 1, max = 10))]
    pub retries: u32,
    /// For how many seconds after the start failures do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 300))]
    pub start_period_seconds: Option<u32>,
}

/// A container next to the main one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-windlass-rejected" = {
    "volumeMounts": "it needs efs-filesystem"
}))]
pub struct SideContainer {
    /// Whether it runs all the time, or once before the main one.
    pub container_type: SideContainerType,
    /// The container's name.
    pub name: String,
    /// How the image is built.
    pub packaging: ImagePackaging,
    /// Environment variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<EnvironmentVariable>,
    /// Containers that must have reached a state before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<ContainerDependency>,
    /// Logs.
    #[serde(default)]
    pub logging: Logging<90>,
    /// The container's own health check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internal_health_check: Option<InternalHealthCheck>,
    /// For how many seconds it may finish its work after it is asked to stop.
    #[serde(default = "number::<2>")]
    #[schemars(range(min = 2, max = 120))]
    pub stop_timeout: u32,
}

/// Whether a side container runs all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SideContainerType {
    AlwaysRunning,
    RunOnInit,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContainerDependency {
    /// The other container's name.
    pub container_name: String,
    /// The state it must have reached.
    pub condition: DependencyCondition,
}

/// The state another container must have reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum DependencyCondition {
    Complete,
    Healthy,
    Start,
    Success,
}

/// Several containers that run together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-windlass-rejected" = {
    "deployment": "blue/green deployments of containers need a private resource type"
}))]
pub struct MultiContainerWorkload {
    /// The containers.
    #[schemars(length(min = 1))]
    pub containers: Vec<WorkloadContainer>,
    /// Processor and memory of one instance, shared by its containers.
    pub resources: ContainerResources,
    /// How many instances run.
    #[serde(default)]
    pub scaling: Scaling,
    /// Allow commands to be run inside.
    #[serde(default)]
    pub enable_remote_sessions: bool,
    /// Run without public addresses, behind a NAT gateway.
    #[serde(rename = "usePrivateSubnetsWithNAT", default)]
    pub use_private_subnets_with_nat: bool,
    /// Resources the workload uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connect_to: Vec<String>,
    /// Further permissions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iam_role_statements: Vec<IamRoleStatement>,
    /// How it behaves in local development.
    #[serde(default)]
    pub dev: DevSettings,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-windlass-rejected" = {
    "volumeMounts": "it needs efs-filesystem"
}))]
pub struct WorkloadContainer {
    /// The container's name.
    #[schemars(length(min = 1))]
    pub name: String,
    /// How the image is built.
    pub packaging: ImagePackaging,
    /// What reaches the container.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<ContainerEvent>,
    /// The workload restarts when this container ends.
    #[serde(default = "crate::defaults::yes")]
    pub essential: bool,
    /// Containers that must have reached a state before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<ContainerDependency>,
    /// Environment variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<EnvironmentVariable>,
    /// Logs.
    #[serde(default)]
    pub logging: Logging<90>,
    /// The container's own health check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internal_health_check: Option<InternalHealthCheck>,
    /// The load balancer's health check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_balancer_health_check: Option<LoadBalancerHealthCheck>,
    /// For how many seconds it may finish its work after it is asked to stop.
    #[serde(default = "number::<2>")]
    #[schemars(range(min = 2, max = 120))]
    pub stop_timeout: u32,
}

/// A container that runs to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BatchJob {
    /// The container.
    pub container: BatchContainer,
    /// Processor and memory.
    pub resources: BatchResources,
    /// For how many seconds one try may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 60))]
    pub timeout: Option<u32>,
    /// Run on spare capacity: cheaper, and may be interrupted.
    #[serde(default)]
    pub use_spot_instances: bool,
    /// Logs.
    #[serde(default)]
    pub logging: Logging<90>,
    /// What happens when an attempt fails.
    #[serde(default)]
    pub retry_config: RetryConfig,
    /// What starts the job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// Resources the job uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connect_to: Vec<String>,
    /// Further permissions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iam_role_statements: Vec<IamRoleStatement>,
    /// How it behaves in local development.
    #[serde(default)]
    pub dev: DevSettings,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-windlass-rejected" = {
    "volumeMounts": "it needs efs-filesystem"
}))]
pub struct BatchContainer {
    /// How the image is built.
    pub packaging: ImagePackaging,
    /// Environment variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<EnvironmentVariable>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BatchResources {
    /// Virtual processors.
    #[schemars(range(min = 0.25))]
    pub cpu: f64,
    /// Memory in megabytes.
    #[schemars(range(min = 128))]
    pub memory: u32,
    /// Graphics processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub gpu: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RetryConfig {
    /// How often the job is tried.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1, max = 10))]
    pub attempts: u32,
    /// The seconds between two tries.
    #[serde(default)]
    pub retry_interval_seconds: u32,
    /// What that time is multiplied with after each try.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub retry_interval_multiplier: f64,
}

fn one() -> f64 {
    1.0
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self {
            attempts: 1,
            retry_interval_seconds: 0,
            retry_interval_multiplier: 1.0,
        }
    }
}
