//! What several resource types share: environment, tags, permissions, domains, CORS, logs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::defaults::{any_origin, number};
use crate::tagged::tagged;
use crate::value::{Data, Scalar, Text};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EnvironmentVariable {
    /// The variable's name.
    pub name: String,
    /// Its value. Numbers and booleans become texts.
    pub value: Scalar,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tag {
    /// The tag's name.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// The tag's value.
    pub value: Text,
}

/// One statement of an IAM policy, written as IAM writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct IamRoleStatement {
    /// A name for the statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sid: Option<String>,
    /// `Allow` or `Deny`.
    #[serde(default)]
    pub effect: Effect,
    /// The actions, such as `s3:GetObject`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub action: Vec<Text>,
    /// When the statement applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Data>,
    /// The ARNs it applies to.
    #[schemars(length(min = 1))]
    pub resource: Vec<Text>,
}

/// One statement of a resource's own policy (a bucket's or a queue's), written as IAM writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct ResourcePolicyStatement {
    /// A name for the statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sid: Option<String>,
    /// `Allow` or `Deny`.
    #[serde(default)]
    pub effect: Effect,
    /// The actions, such as `s3:GetObject`.
    pub action: Vec<Text>,
    /// When the statement applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Data>,
    /// Who it applies to.
    pub principal: Data,
    /// The ARNs it applies to; the resource itself without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resource: Vec<Text>,
}

/// Whether a statement allows or denies.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Effect {
    #[default]
    Allow,
    Deny,
}

/// A domain name of yours that leads to the resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CustomDomain {
    /// The domain's name, such as `api.example.com`.
    pub domain_name: Text,
    /// The certificate to use. Without it the config must not need one: certificates are not
    /// issued for you.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_certificate_arn: Option<Text>,
    /// Leave the domain's DNS records to you.
    #[serde(default)]
    pub disable_dns_record_creation: bool,
}

/// Which other origins a browser may call from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cors {
    /// Answer preflight requests and add the headers.
    pub enabled: bool,
    /// Origins that may call.
    #[serde(default = "any_origin")]
    pub allowed_origins: Vec<String>,
    /// Headers a caller may send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_headers: Option<Vec<String>>,
    /// Methods a caller may use. Without: those of the routes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_methods: Option<Vec<CorsMethod>>,
    /// Whether cookies and credentials may be sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_credentials: Option<bool>,
    /// Headers a page may read from the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposed_response_headers: Option<Vec<String>>,
    /// For how many seconds a browser may remember the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age: Option<u32>,
}

/// An HTTP method, or all of them.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum CorsMethod {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
    #[serde(rename = "*")]
    Any,
}

/// Where logs go and how long they are kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Logging{DAYS}Days")]
pub struct Logging<const DAYS: u32> {
    /// Keep no logs.
    #[serde(default)]
    pub disabled: bool,
    /// For how many days logs are kept.
    #[serde(default = "number::<DAYS>")]
    #[schemars(extend("enum" = RETENTION_DAYS))]
    pub retention_days: u32,
    /// Send a copy of the logs elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_forwarding: Option<LogForwarding>,
}

/// The retention times CloudWatch Logs knows.
pub const RETENTION_DAYS: [u32; 22] = [
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
    3288, 3653,
];

impl<const DAYS: u32> Default for Logging<DAYS> {
    fn default() -> Self {
        Self {
            disabled: false,
            retention_days: DAYS,
            log_forwarding: None,
        }
    }
}

tagged! {
    /// Where a copy of the logs goes.
    pub enum LogForwarding {
        /// To an HTTPS endpoint.
        HttpEndpoint(HttpEndpointForwarding) = "http-endpoint",
        /// To Highlight.
        Highlight(HighlightForwarding) = "highlight",
        /// To Datadog.
        Datadog(DatadogForwarding) = "datadog",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpEndpointForwarding {
    /// The endpoint, beginning with `https://`.
    pub endpoint_url: Text,
    /// Compress requests.
    #[serde(default)]
    pub gzip_encoding_enabled: bool,
    /// Values sent along with every request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<std::collections::BTreeMap<String, Text>>,
    /// For how many seconds a failed delivery is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_duration: Option<u32>,
    /// A key the endpoint asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_key: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HighlightForwarding {
    /// The project's id.
    pub project_id: Text,
    /// Another endpoint than the public one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_url: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DatadogForwarding {
    /// The API key; give it as a secret.
    pub api_key: Text,
    /// Another endpoint than the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_url: Option<Text>,
}

/// How the resource behaves in local development.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DevSettings {
    /// Use the deployed resource instead of a local one.
    #[serde(default)]
    pub remote: bool,
}

/// A file header or tag as a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyValue {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
}
