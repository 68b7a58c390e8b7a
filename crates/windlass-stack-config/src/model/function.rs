//! Functions, and what is a function underneath: deployment scripts and custom resources.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::alarms::Alarm;
use super::cdn::Cdn;
use super::common::{Cors, DevSettings, EnvironmentVariable, IamRoleStatement, Logging, Tag};
use super::events::Event;
use super::packaging::FunctionPackaging;
use crate::defaults::number;
use crate::value::{DataMap, Text};

/// A Lambda function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-windlass-rejected" = {
    "volumeMounts": "it needs efs-filesystem"
}))]
pub struct Function {
    /// How the code becomes a package.
    pub packaging: FunctionPackaging,
    /// What starts the function.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// Environment variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<EnvironmentVariable>,
    /// The runtime; by the entry file's extension without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<LambdaRuntime>,
    /// The processor's architecture.
    #[serde(default)]
    pub architecture: Architecture,
    /// Memory in megabytes. The processor's share grows with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 128, max = 10_240))]
    pub memory: Option<u32>,
    /// For how many seconds one call may take.
    #[serde(default = "number::<10>")]
    #[schemars(range(min = 1, max = 900))]
    pub timeout: u32,
    /// Temporary disk in megabytes.
    #[serde(default = "number::<512>")]
    #[schemars(range(min = 512, max = 10_240))]
    pub storage: u32,
    /// Run inside the stack's network, to reach what is only there. It then has no internet
    /// access of its own.
    #[serde(default)]
    pub join_default_vpc: bool,
    /// Tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Tag>,
    /// Where results of asynchronous calls go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destinations: Option<Destinations>,
    /// Logs.
    #[serde(default)]
    pub logging: Logging<180>,
    /// Instances that are always ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub provisioned_concurrency: Option<u32>,
    /// The most instances at once, taken from the account's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_concurrency: Option<u32>,
    /// ARNs of layers, at most five.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 5))]
    pub layers: Vec<Text>,
    /// How traffic moves to a new version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<FunctionDeployment>,
    /// Alarms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alarms: Vec<Alarm>,
    /// Alarms of the account that do not apply here. There are none in Windlass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disabled_global_alarms: Vec<String>,
    /// An HTTPS address of the function's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<FunctionUrl>,
    /// A content delivery network in front of that address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdn: Option<Cdn>,
    /// Resources the function uses: it gets permissions, network access and variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connect_to: Vec<String>,
    /// Further permissions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iam_role_statements: Vec<IamRoleStatement>,
    /// How it behaves in local development.
    #[serde(default)]
    pub dev: DevSettings,
}

/// A Lambda runtime.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum LambdaRuntime {
    #[serde(rename = "nodejs18.x")]
    Nodejs18,
    #[serde(rename = "nodejs20.x")]
    Nodejs20,
    #[serde(rename = "nodejs22.x")]
    Nodejs22,
    #[serde(rename = "nodejs24.x")]
    Nodejs24,
    #[serde(rename = "python3.9")]
    Python39,
    #[serde(rename = "python3.10")]
    Python310,
    #[serde(rename = "python3.11")]
    Python311,
    #[serde(rename = "python3.12")]
    Python312,
    #[serde(rename = "python3.13")]
    Python313,
    #[serde(rename = "python3.14")]
    Python314,
    #[serde(rename = "java11")]
    Java11,
    #[serde(rename = "java17")]
    Java17,
    #[serde(rename = "java21")]
    Java21,
    #[serde(rename = "java25")]
    Java25,
    #[serde(rename = "ruby3.2")]
    Ruby32,
    #[serde(rename = "ruby3.3")]
    Ruby33,
    #[serde(rename = "ruby3.4")]
    Ruby34,
    #[serde(rename = "dotnet8")]
    Dotnet8,
    #[serde(rename = "dotnet9")]
    Dotnet9,
    #[serde(rename = "dotnet10")]
    Dotnet10,
    #[serde(rename = "provided.al2")]
    ProvidedAl2,
    #[serde(rename = "provided.al2023")]
    ProvidedAl2023,
}

impl LambdaRuntime {
    /// The runtime for an entry file, by its extension.
    pub fn for_entry_file(path: &str) -> Option<Self> {
        // A Python entry may name its app: `main.py:app`.
        let path = path.split_once(':').map_or(path, |(file, _)| file);
        match path.rsplit_once('.')?.1 {
            "ts" | "tsx" | "mts" | "cts" | "js" | "jsx" | "mjs" | "cjs" => Some(Self::Nodejs24),
            "py" => Some(Self::Python313),
            "java" => Some(Self::Java21),
            "rb" => Some(Self::Ruby33),
            "cs" => Some(Self::Dotnet10),
            "go" | "php" => Some(Self::ProvidedAl2023),
            _ => None,
        }
    }

    /// As AWS writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nodejs18 => "nodejs18.x",
            Self::Nodejs20 => "nodejs20.x",
            Self::Nodejs22 => "nodejs22.x",
            Self::Nodejs24 => "nodejs24.x",
            Self::Python39 => "python3.9",
            Self::Python310 => "python3.10",
            Self::Python311 => "python3.11",
            Self::Python312 => "python3.12",
            Self::Python313 => "python3.13",
            Self::Python314 => "python3.14",
            Self::Java11 => "java11",
            Self::Java17 => "java17",
            Self::Java21 => "java21",
            Self::Java25 => "java25",
            Self::Ruby32 => "ruby3.2",
            Self::Ruby33 => "ruby3.3",
            Self::Ruby34 => "ruby3.4",
            Self::Dotnet8 => "dotnet8",
            Self::Dotnet9 => "dotnet9",
            Self::Dotnet10 => "dotnet10",
            Self::ProvidedAl2 => "provided.al2",
            Self::ProvidedAl2023 => "provided.al2023",
        }
    }
}

/// A processor architecture.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Architecture {
    #[default]
    #[serde(rename = "x86_64")]
    X86_64,
    #[serde(rename = "arm64")]
    Arm64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Destinations {
    /// The ARN results go to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_success: Option<Text>,
    /// The ARN failures go to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FunctionDeployment {
    /// How fast traffic moves.
    pub strategy: DeploymentStrategy,
    /// A function of this config that is called before traffic moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_allow_traffic_function: Option<String>,
    /// A function of this config that is called after all traffic moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_traffic_shift_function: Option<String>,
}

/// How fast traffic moves to a new version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DeploymentStrategy {
    AllAtOnce,
    Canary10Percent5Minutes,
    Canary10Percent10Minutes,
    Canary10Percent15Minutes,
    Canary10Percent30Minutes,
    Linear10PercentEvery1Minute,
    Linear10PercentEvery2Minutes,
    Linear10PercentEvery3Minutes,
    Linear10PercentEvery10Minutes,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FunctionUrl {
    /// Give the function an address.
    pub enabled: bool,
    /// Which other origins a browser may call from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cors: Option<Cors>,
    /// Who may call: everyone, or principals with permission.
    #[serde(default)]
    pub auth_mode: UrlAuthMode,
    /// Send the answer as it is produced.
    #[serde(default)]
    pub response_stream_enabled: bool,
}

/// Who may call a function's address.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum UrlAuthMode {
    #[serde(rename = "AWS_IAM")]
    AwsIam,
    #[default]
    #[serde(rename = "NONE")]
    None,
}

/// A function that runs during a deploy or a delete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeploymentScript {
    /// When it runs.
    pub trigger: DeploymentTrigger,
    /// How the code becomes a package.
    pub packaging: FunctionPackaging,
    /// The runtime; by the entry file's extension without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<LambdaRuntime>,
    /// Environment variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<EnvironmentVariable>,
    /// What the function receives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<DataMap>,
    /// Memory in megabytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 128, max = 10_240))]
    pub memory: Option<u32>,
    /// For how many seconds it may take.
    #[serde(default = "number::<10>")]
    #[schemars(range(min = 1, max = 900))]
    pub timeout: u32,
    /// Temporary disk in megabytes.
    #[serde(default = "number::<512>")]
    #[schemars(range(min = 512, max = 10_240))]
    pub storage: u32,
    /// Run inside the stack's network.
    #[serde(default)]
    pub join_default_vpc: bool,
    /// Logs.
    #[serde(default)]
    pub logging: Logging<180>,
    /// Resources the script uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connect_to: Vec<String>,
    /// Further permissions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iam_role_statements: Vec<IamRoleStatement>,
}

/// When a deployment script runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DeploymentTrigger {
    #[serde(rename = "after:deploy")]
    AfterDeploy,
    #[serde(rename = "before:delete")]
    BeforeDelete,
}

/// A function that creates, updates and deletes things CloudFormation does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CustomResourceDefinition {
    /// How the code becomes a package.
    pub packaging: FunctionPackaging,
    /// The runtime; by the entry file's extension without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<LambdaRuntime>,
    /// Environment variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<EnvironmentVariable>,
    /// Memory in megabytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 128, max = 10_240))]
    pub memory: Option<u32>,
    /// For how many seconds it may take.
    #[serde(default = "number::<10>")]
    #[schemars(range(min = 1, max = 900))]
    pub timeout: u32,
    /// Resources the function uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connect_to: Vec<String>,
    /// Further permissions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iam_role_statements: Vec<IamRoleStatement>,
}

/// One resource that a custom resource definition handles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CustomResourceInstance {
    /// The definition's name in this config.
    pub definition_name: String,
    /// What the definition's function receives.
    pub resource_properties: DataMap,
}
