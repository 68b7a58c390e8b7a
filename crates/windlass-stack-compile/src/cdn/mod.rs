//! Content delivery networks: a distribution in front of a resource.

mod origin;
mod policy;

use serde_json::{Value, json};
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::cdn::{Cdn, CustomOrigin, HttpMethod, PriceClass, RouteTarget};

use crate::cf::{attribute, join};
use crate::name::logical;
use crate::stack::Stack;

/// The hosted zone of every distribution, in all accounts and regions.
pub(crate) const ZONE: &str = "Z2FDTNDATAQYW2";

/// What a website asks of its distribution beyond what any resource can.
#[derive(Default)]
pub(crate) struct Site<'a> {
    /// `/about` asks for a page, not for an object of that name.
    pub normalizes: bool,
    /// Every page is the index document.
    pub is_single_page: bool,
    /// `/about` is `about.html` instead of `about/index.html`.
    pub pages_end_in_html: bool,
    /// Where everything that is not a file goes.
    pub fallback: Option<&'a CustomOrigin>,
}

/// The distribution's id.
fn id(name: &str) -> String {
    logical(&[name, "CDN", "Distribution0"])
}

impl Stack<'_> {
    /// A distribution in front of a resource, if it is wanted.
    pub fn cdn(&mut self, name: &str, cdn: &Cdn) {
        if cdn.enabled {
            self.distribution(name, cdn, &Site::default());
        }
    }

    pub fn distribution(&mut self, name: &str, cdn: &Cdn, site: &Site<'_>) {
        let is_balancer = self.is_balanced(name);
        for (property, is_given) in [
            ("cdn.listenerPort", cdn.listener_port.is_some()),
            ("cdn.originDomainName", cdn.origin_domain_name.is_some()),
        ] {
            if is_given && !is_balancer {
                self.refuse(
                    property,
                    "only a load balancer has this",
                    Some("leave it out"),
                );
            }
        }
        let headers = |options: Option<&windlass_stack_config::model::cdn::ForwardingOptions>| {
            options
                .map(|options| options.custom_request_headers.clone())
                .unwrap_or_default()
        };
        let mut origins = Vec::new();
        let mut behaviors = Vec::new();
        let main = self.main_origin(name, cdn);
        let is_static = main.is_static;
        origins.push(self.origin_entry(
            "default",
            main,
            cdn.default_route_prefix.as_deref(),
            &headers(cdn.forwarding_options.as_ref()),
        ));
        let groups = site.fallback.map(|fallback| {
            let target = self.custom_origin(fallback);
            origins.push(self.origin_entry("fallback", target, None, &[]));
            json!({
                "Quantity": 1,
                "Items": [{
                    "Id": "default-or-fallback",
                    "FailoverCriteria": { "StatusCodes": { "Quantity": 2, "Items": [403, 404] } },
                    "Members": {
                        "Quantity": 2,
                        "Items": [{ "OriginId": "default" }, { "OriginId": "fallback" }],
                    },
                }],
            })
        });
        let rewriting = site.normalizes.then(|| {
            self.page_function(name, cdn.index_document.as_deref(), site.pages_end_in_html)
        });
        let target = if groups.is_some() {
            "default-or-fallback"
        } else {
            "default"
        };
        let default = self.behavior(
            name,
            target,
            is_static,
            groups.is_some(),
            cdn.caching_options.as_ref(),
            cdn.forwarding_options.as_ref(),
            rewriting.as_ref(),
        );
        for (index, route) in cdn.route_rewrites.iter().enumerate() {
            let target = match &route.route_to {
                Some(target) => self.route_origin(target),
                None => self.main_origin(name, cdn),
            };
            let origin_id = format!("route-{index}");
            let is_static = target.is_static;
            origins.push(self.origin_entry(
                &origin_id,
                target,
                route.route_prefix.as_deref(),
                &headers(route.forwarding_options.as_ref()),
            ));
            let rewriting = match &route.route_to {
                Some(RouteTarget::Bucket(bucket)) if !bucket.disable_url_normalization => {
                    Some(self.page_function(name, None, false))
                }
                _ => None,
            };
            let mut behavior = self.behavior(
                name,
                &origin_id,
                is_static,
                false,
                route.caching_options.as_ref(),
                route.forwarding_options.as_ref(),
                rewriting.as_ref(),
            );
            behavior["PathPattern"] = json!(route.path);
            behaviors.push(behavior);
        }
        let (aliases, certificate) = self.cdn_domains(name, cdn);
        let root = (is_static || cdn.index_document.is_some()).then(|| {
            let index = cdn.index_document.as_deref().unwrap_or("/index.html");
            index.trim_start_matches('/').to_owned()
        });
        self.add(
            id(name),
            "AWS::CloudFront::Distribution",
            json!({
                "DistributionConfig": {
                    "Enabled": true,
                    "Comment": self.physical(name, 128),
                    "HttpVersion": "http2and3",
                    "IPV6Enabled": true,
                    "PriceClass": match cdn.cloudfront_price_class {
                        PriceClass::Class100 => "PriceClass_100",
                        PriceClass::Class200 => "PriceClass_200",
                        PriceClass::All => "PriceClass_All",
                    },
                    "DefaultRootObject": root,
                    "Origins": origins,
                    "OriginGroups": groups,
                    "DefaultCacheBehavior": default,
                    "CacheBehaviors": (!behaviors.is_empty()).then_some(behaviors),
                    "CustomErrorResponses": error_pages(cdn, site),
                    "Aliases": (!aliases.is_empty()).then_some(aliases),
                    "ViewerCertificate": certificate,
                },
            }),
        );
    }

    fn is_balanced(&self, name: &str) -> bool {
        use windlass_stack_config::model::container::WebLoadBalancing;
        match self.find(name) {
            Some(ResourceKind::ApplicationLoadBalancer(_)) => true,
            Some(ResourceKind::WebService(it)) => matches!(
                it.load_balancing,
                Some(WebLoadBalancing::ApplicationLoadBalancer(_))
            ),
            _ => false,
        }
    }

    fn cdn_domains(&mut self, name: &str, cdn: &Cdn) -> (Vec<String>, Option<Value>) {
        let property = match self.find(name) {
            Some(ResourceKind::HostingBucket(_)) => "customDomains",
            _ => "cdn.customDomains",
        };
        let mut aliases = Vec::new();
        let mut certificates: Vec<Value> = Vec::new();
        for domain in self.domains(&cdn.custom_domains, property) {
            let certificate = self.certificate(&domain, property);
            self.check_global_certificate(&certificate, property);
            if !certificates.contains(&certificate) {
                certificates.push(certificate);
            }
            aliases.push(domain.name.to_owned());
            self.dns_record(
                &domain,
                property,
                attribute(&id(name), "DomainName"),
                json!(ZONE),
            );
        }
        if certificates.len() > 1 {
            self.refuse(
                property,
                "a distribution has one certificate",
                Some("use one that is valid for all the domains"),
            );
        }
        let certificate = certificates.into_iter().next().map(|certificate| {
            json!({
                "AcmCertificateArn": certificate,
                "SslSupportMethod": "sni-only",
                "MinimumProtocolVersion": "TLSv1.2_2021",
            })
        });
        (aliases, certificate)
    }

    /// What serves the whole world takes its certificate from one region.
    pub fn check_global_certificate(&mut self, certificate: &Value, property: &str) {
        let region = certificate.as_str().and_then(|arn| arn.split(':').nth(3));
        if region.is_some_and(|region| region != "us-east-1") {
            self.refuse(
                property,
                "the certificate of a content delivery network must be in us-east-1",
                Some("issue or import it there"),
            );
        }
    }

    /// Distributions that read from a bucket.
    pub fn distributions_of_bucket(&self, bucket: &str) -> Vec<String> {
        let mut distributions = Vec::new();
        for (name, kind) in self.each() {
            let routes = match (kind, cdn_of(kind)) {
                (ResourceKind::HostingBucket(it), _) => &it.route_rewrites,
                (_, Some(cdn)) => &cdn.route_rewrites,
                _ => continue,
            };
            let is_own = name == bucket;
            let is_routed = routes.iter().any(|route| match &route.route_to {
                Some(RouteTarget::Bucket(target)) => target.bucket_name == bucket,
                _ => false,
            });
            if is_own || is_routed {
                distributions.push(id(name));
            }
        }
        distributions
    }

    pub fn cdn_param(&mut self, name: &str, kind: &ResourceKind, param: &str) -> Option<Value> {
        let domains = match (kind, cdn_of(kind)) {
            (ResourceKind::HostingBucket(it), _) => &it.custom_domains,
            (_, Some(cdn)) => &cdn.custom_domains,
            _ => return None,
        };
        let domain = attribute(&id(name), "DomainName");
        let url = |domain: Value| join([json!("https://"), domain]);
        let canonical = match domains.first() {
            Some(first) => self.loose(&first.domain_name),
            None => domain.clone(),
        };
        Some(match param {
            "cdnDomain" => domain,
            "cdnUrl" => url(domain),
            "cdnCanonicalDomain" => canonical,
            "cdnCanonicalUrl" => url(canonical),
            "cdnCustomDomains" => self.domain_param(domains, "https://", "customDomains")?,
            "cdnCustomDomainUrls" => self.domain_param(domains, "https://", "customDomainUrls")?,
            _ => return None,
        })
    }
}

/// The distribution's settings of a resource that has one in front.
fn cdn_of(kind: &ResourceKind) -> Option<&Cdn> {
    let cdn = match kind {
        ResourceKind::Function(it) => it.cdn.as_ref(),
        ResourceKind::HttpApiGateway(it) => it.cdn.as_ref(),
        ResourceKind::WebService(it) => it.cdn.as_ref(),
        ResourceKind::Bucket(it) => it.cdn.as_ref(),
        ResourceKind::ApplicationLoadBalancer(it) => it.cdn.as_ref(),
        _ => None,
    };
    cdn.filter(|cdn| cdn.enabled)
}

fn error_pages(cdn: &Cdn, site: &Site<'_>) -> Option<Value> {
    let (page, status) = match (site.is_single_page, &cdn.error_document) {
        (true, _) => (cdn.index_document.as_deref().unwrap_or("/index.html"), 200),
        (false, Some(page)) => (page.as_str(), 404),
        (false, None) => return None,
    };
    let page = format!("/{}", page.trim_start_matches('/'));
    let pages: Vec<Value> = [403, 404]
        .iter()
        .map(|code| {
            json!({
                "ErrorCode": code,
                "ResponseCode": status,
                "ResponsePagePath": page,
                "ErrorCachingMinTTL": 0,
            })
        })
        .collect();
    Some(Value::Array(pages))
}

/// CloudFront knows three sets of methods.
fn methods(wanted: Option<&[HttpMethod]>, usual: &[&'static str]) -> Vec<&'static str> {
    let Some(wanted) = wanted else {
        return usual.to_vec();
    };
    let writes = [
        HttpMethod::Post,
        HttpMethod::Put,
        HttpMethod::Patch,
        HttpMethod::Delete,
    ];
    if wanted.iter().any(|method| writes.contains(method)) {
        ALL_METHODS.to_vec()
    } else if wanted.contains(&HttpMethod::Options) {
        vec!["GET", "HEAD", "OPTIONS"]
    } else {
        vec!["GET", "HEAD"]
    }
}

const ALL_METHODS: [&str; 7] = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];
