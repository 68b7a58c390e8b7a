//! Ways in: HTTP APIs, load balancers, bastions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::alarms::Alarm;
use super::cdn::Cdn;
use super::common::{Cors, CustomDomain, LogForwarding, Logging, RETENTION_DAYS};
use super::events::PayloadFormat;
use crate::defaults::number;
use crate::tagged::tagged;
use crate::value::Text;

/// An HTTP API.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpApiGateway {
    /// The form of the events its functions receive, where an event does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_format: Option<PayloadFormat>,
    /// Which other origins a browser may call from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cors: Option<Cors>,
    /// Access logs.
    #[serde(default)]
    pub logging: AccessLogging,
    /// Domain names of the API.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom_domains: Vec<CustomDomain>,
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

/// Access logs of an HTTP API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AccessLogging {
    /// Keep no logs.
    #[serde(default)]
    pub disabled: bool,
    /// The form of a line.
    #[serde(default)]
    pub format: AccessLogFormat,
    /// For how many days logs are kept.
    #[serde(default = "number::<30>")]
    #[schemars(extend("enum" = RETENTION_DAYS))]
    pub retention_days: u32,
    /// Send a copy of the logs elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_forwarding: Option<LogForwarding>,
}

impl Default for AccessLogging {
    fn default() -> Self {
        Self {
            disabled: false,
            format: AccessLogFormat::default(),
            retention_days: 30,
            log_forwarding: None,
        }
    }
}

/// The form of a line in an access log.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum AccessLogFormat {
    Clf,
    #[default]
    Json,
    Csv,
    Xml,
}

/// An application load balancer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-windlass-rejected" = {
    "useFirewall": "it needs web-app-firewall"
}))]
pub struct ApplicationLoadBalancer {
    /// Whether the internet can reach it.
    #[serde(default)]
    pub interface: LoadBalancerInterface,
    /// Domain names of the load balancer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom_domains: Vec<CustomDomain>,
    /// Ports it listens on; 80 and, with a certificate, 443 without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listeners: Vec<Listener>,
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

/// Whether the internet can reach a load balancer.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum LoadBalancerInterface {
    #[default]
    Internet,
    Internal,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Listener {
    /// The protocol.
    pub protocol: ListenerProtocol,
    /// The port.
    pub port: u16,
    /// Certificates; HTTPS needs one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom_certificate_arns: Vec<Text>,
    /// Addresses and ranges that may connect; all without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whitelist_ips: Vec<Text>,
    /// What happens to requests that match no rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_action: Option<ListenerAction>,
}

/// The protocol of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ListenerProtocol {
    Http,
    Https,
}

tagged! {
    /// What happens to requests that match no rule.
    pub enum ListenerAction {
        /// They are sent elsewhere.
        Redirect(Redirect) = "redirect",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Redirect {
    /// The answer's status.
    pub status_code: RedirectStatus,
    /// The path; the same without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The query; the same without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The port; the same without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The host; the same without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The protocol; the same without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<ListenerProtocol>,
}

/// The status of a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RedirectStatus {
    #[serde(rename = "HTTP_301")]
    MovedPermanently,
    #[serde(rename = "HTTP_302")]
    Found,
}

/// A small machine through which what is only inside the network can be reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bastion {
    /// The instance type.
    #[serde(default = "bastion_size")]
    pub instance_size: String,
    /// Commands run when the machine starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run_commands_at_launch: Vec<String>,
    /// Logs.
    #[serde(default)]
    pub logging: BastionLogging,
}

fn bastion_size() -> String {
    "t3.micro".to_owned()
}

/// Logs of a bastion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BastionLogging {
    /// General messages.
    #[serde(default)]
    pub messages: Logging<30>,
    /// Sign-ins and permissions.
    #[serde(default)]
    pub secure: Logging<180>,
    /// The audit log.
    #[serde(default)]
    pub audit: Logging<365>,
}
