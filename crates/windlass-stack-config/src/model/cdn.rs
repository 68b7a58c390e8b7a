//! A content delivery network (CloudFront) in front of a resource.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::CustomDomain;
use crate::tagged::tagged;
use crate::value::Text;

/// A CloudFront distribution in front of the resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-windlass-rejected" = {
    "edgeFunctions": "it needs edge-lambda-function",
    "useFirewall": "it needs web-app-firewall"
}))]
pub struct Cdn {
    /// Put the distribution in front.
    pub enabled: bool,
    /// What is cached and for how long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caching_options: Option<CachingOptions>,
    /// What of a request reaches the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forwarding_options: Option<ForwardingOptions>,
    /// Paths that lead elsewhere; the first that fits counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub route_rewrites: Vec<RouteRewrite>,
    /// Domain names of the distribution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom_domains: Vec<CustomDomain>,
    /// From which parts of the world it serves.
    #[serde(default)]
    pub cloudfront_price_class: PriceClass,
    /// A prefix added to every path sent to the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_route_prefix: Option<String>,
    /// The page for missing pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_document: Option<String>,
    /// The page for `/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_document: Option<String>,
    /// Keep cached contents across deploys.
    #[serde(default)]
    pub disable_invalidation_after_deploy: bool,
    /// The port of the load balancer that receives the traffic (load balancers only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listener_port: Option<u16>,
    /// The name the distribution calls the load balancer by (load balancers only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_domain_name: Option<Text>,
}

/// The parts of the world a distribution serves from.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum PriceClass {
    #[serde(rename = "PriceClass_100")]
    Class100,
    #[serde(rename = "PriceClass_200")]
    Class200,
    #[default]
    #[serde(rename = "PriceClass_All")]
    All,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CachingOptions {
    /// Methods whose answers are cached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_methods: Option<Vec<HttpMethod>>,
    /// The minimum time in seconds an answer is cached.
    #[serde(rename = "minTTL", default, skip_serializing_if = "Option::is_none")]
    pub min_ttl: Option<u32>,
    /// The maximum time in seconds an answer is cached.
    #[serde(rename = "maxTTL", default, skip_serializing_if = "Option::is_none")]
    pub max_ttl: Option<u32>,
    /// The time in seconds for answers that name none.
    #[serde(
        rename = "defaultTTL",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub default_ttl: Option<u32>,
    /// Send answers uncompressed.
    #[serde(default)]
    pub disable_compression: bool,
    /// What distinguishes one cached answer from another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_key_parameters: Option<CacheKeyParameters>,
    /// A cache policy of your own; the other options do not apply then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_policy_id: Option<Text>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CacheKeyParameters {
    /// Cookies in the cache key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cookies: Option<CookieSelection>,
    /// Headers in the cache key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<HeaderSelection>,
    /// Query parameters in the cache key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_string: Option<QuerySelection>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ForwardingOptions {
    /// Methods the distribution accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_methods: Option<Vec<HttpMethod>>,
    /// Headers added to every request to the origin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom_request_headers: Vec<HeaderValue>,
    /// Cookies the origin sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cookies: Option<CookieSelection>,
    /// Headers the origin sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<ForwardedHeaders>,
    /// Query parameters the origin sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_string: Option<QuerySelection>,
    /// An origin request policy of your own; the other options do not apply then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_request_policy_id: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HeaderValue {
    /// The header's name.
    pub header_name: String,
    /// Its value.
    pub value: Text,
}

/// Which cookies; exactly one of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CookieSelection {
    /// None of them.
    #[serde(default)]
    pub none: bool,
    /// All of them.
    #[serde(default)]
    pub all: bool,
    /// These.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whitelist: Option<Vec<String>>,
    /// All but these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_except: Option<Vec<String>>,
}

/// Which headers distinguish cached answers; exactly one of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HeaderSelection {
    /// None of them.
    #[serde(default)]
    pub none: bool,
    /// These.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whitelist: Option<Vec<String>>,
}

/// Which headers reach the origin; exactly one of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ForwardedHeaders {
    /// None of them.
    #[serde(default)]
    pub none: bool,
    /// All that the viewer sent.
    #[serde(default)]
    pub all_viewer: bool,
    /// These.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whitelist: Option<Vec<String>>,
    /// All that the viewer sent, and these of the distribution's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_viewer_and_whitelist_cloud_front: Option<Vec<String>>,
    /// All but these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_except: Option<Vec<String>>,
}

/// Which query parameters; exactly one of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QuerySelection {
    /// None of them.
    #[serde(default)]
    pub none: bool,
    /// All of them.
    #[serde(default)]
    pub all: bool,
    /// These.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whitelist: Option<Vec<String>>,
    /// All but these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_except: Option<Vec<String>>,
}

/// An HTTP method.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

/// A path pattern that is answered by another origin or with other options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-windlass-rejected" = {
    "edgeFunctions": "it needs edge-lambda-function"
}))]
pub struct RouteRewrite {
    /// The path pattern, such as `/images/*`.
    pub path: String,
    /// A prefix added to the path sent to the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_prefix: Option<String>,
    /// The other origin; the resource itself without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_to: Option<RouteTarget>,
    /// What is cached and for how long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caching_options: Option<CachingOptions>,
    /// What of a request reaches the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forwarding_options: Option<ForwardingOptions>,
}

tagged! {
    /// Another origin.
    pub enum RouteTarget {
        /// A load balancer of this config.
        ApplicationLoadBalancer(LoadBalancerOrigin) = "application-load-balancer",
        /// An HTTP API of this config.
        HttpApiGateway(HttpApiOrigin) = "http-api-gateway",
        /// A function of this config, by its URL.
        Function(FunctionOrigin) = "function",
        /// A bucket of this config.
        Bucket(BucketOrigin) = "bucket",
        /// Any other server.
        CustomOrigin(CustomOrigin) = "custom-origin",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoadBalancerOrigin {
    /// The load balancer's name in this config.
    pub load_balancer_name: String,
    /// The port of its listener.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listener_port: Option<u16>,
    /// The name it is called by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_domain_name: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpApiOrigin {
    /// The API's name in this config.
    pub http_api_gateway_name: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FunctionOrigin {
    /// The function's name in this config.
    pub function_name: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BucketOrigin {
    /// The bucket's name in this config.
    pub bucket_name: String,
    /// Ask for the path exactly as it came.
    #[serde(default)]
    pub disable_url_normalization: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CustomOrigin {
    /// The server's name.
    pub domain_name: Text,
    /// How it is called.
    #[serde(default)]
    pub protocol: OriginProtocol,
    /// The port; by the protocol without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

/// How an origin is called.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum OriginProtocol {
    #[serde(rename = "HTTP")]
    Http,
    #[default]
    #[serde(rename = "HTTPS")]
    Https,
}
