//! Where a distribution gets its answers from.

use serde_json::{Value, json};
use windlass_stack_config::Text;
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::cdn::{
    Cdn, CustomOrigin, HeaderValue, OriginProtocol, RouteTarget,
};
use windlass_stack_config::model::common::CustomDomain;
use windlass_stack_config::model::container::WebLoadBalancing;
use windlass_stack_config::model::function::UrlAuthMode;
use windlass_stack_config::model::network::{ApplicationLoadBalancer, ListenerProtocol};

use crate::cf::{attribute, sub};
use crate::name::logical;
use crate::params::Front;
use crate::stack::Stack;
use crate::types::load_balancer;

/// Where answers come from.
pub(crate) struct Target {
    domain: Value,
    /// Files rather than answers of a program.
    pub is_static: bool,
    access: Access,
}

enum Access {
    /// As the distribution itself, by this access control.
    Signed(Value, bool),
    Server {
        is_https: bool,
        port: u16,
    },
}

impl Stack<'_> {
    /// What stands behind a resource's own distribution.
    pub(super) fn main_origin(&mut self, name: &str, cdn: &Cdn) -> Target {
        match self.find(name) {
            Some(ResourceKind::Function(_)) => self.function_origin(name),
            Some(ResourceKind::WebService(service)) => match &service.load_balancing {
                Some(WebLoadBalancing::ApplicationLoadBalancer(_)) => {
                    let balancer = crate::types::service::own_balancer(service);
                    let domain = cdn.origin_domain_name.as_ref();
                    self.balancer_origin(name, &balancer, cdn.listener_port, domain)
                }
                _ => server(Front::of_web_service(name, service).domain),
            },
            Some(ResourceKind::HttpApiGateway(_)) => server(Front::api(name, &[]).domain),
            Some(ResourceKind::ApplicationLoadBalancer(balancer)) => {
                let domain = cdn.origin_domain_name.as_ref();
                self.balancer_origin(name, balancer, cdn.listener_port, domain)
            }
            _ => self.bucket_origin(name),
        }
    }

    pub(super) fn route_origin(&mut self, target: &RouteTarget) -> Target {
        match target {
            RouteTarget::Bucket(it) => self.bucket_origin(&it.bucket_name),
            RouteTarget::Function(it) => self.function_origin(&it.function_name),
            RouteTarget::HttpApiGateway(it) => {
                server(Front::api(&it.http_api_gateway_name, &[]).domain)
            }
            RouteTarget::ApplicationLoadBalancer(it) => {
                let domain = it.origin_domain_name.as_ref();
                match self.find(&it.load_balancer_name) {
                    Some(ResourceKind::ApplicationLoadBalancer(balancer)) => self.balancer_origin(
                        &it.load_balancer_name,
                        balancer,
                        it.listener_port,
                        domain,
                    ),
                    _ => {
                        let message = format!(
                            "there is no application-load-balancer \"{}\"",
                            it.load_balancer_name
                        );
                        self.refuse("cdn.routeRewrites", message, None);
                        server(json!(""))
                    }
                }
            }
            RouteTarget::CustomOrigin(it) => self.custom_origin(it),
        }
    }

    pub(super) fn custom_origin(&mut self, it: &CustomOrigin) -> Target {
        let is_https = it.protocol == OriginProtocol::Https;
        Target {
            domain: self.text(&it.domain_name),
            is_static: false,
            access: Access::Server {
                is_https,
                port: it.port.unwrap_or(if is_https { 443 } else { 80 }),
            },
        }
    }

    fn bucket_origin(&mut self, name: &str) -> Target {
        let control = self.access_control("S3", "s3");
        Target {
            // By its name: the bucket may wait for a function that knows the distribution.
            domain: sub(format!(
                "{}.s3.${{AWS::Region}}.${{AWS::URLSuffix}}",
                self.bucket_name(name)
            )),
            is_static: true,
            access: Access::Signed(control, true),
        }
    }

    /// A function's address; one that wants signed requests gets them.
    fn function_origin(&mut self, name: &str) -> Target {
        let url = match self.find(name) {
            Some(ResourceKind::Function(it)) => it.url.as_ref().filter(|url| url.enabled),
            _ => None,
        };
        let Some(url) = url else {
            self.refuse(
                "cdn",
                format!("the function \"{name}\" has no address"),
                Some("add url: {enabled: true} to it"),
            );
            return server(json!(""));
        };
        let domain = self.function_url_domain(name);
        if url.auth_mode == UrlAuthMode::None {
            return server(domain);
        }
        let control = self.access_control("Lambda", "lambda");
        let permission = logical(&[name, "CDN", "Permission"]);
        if !self.parts.contains_key(&permission) {
            let function = self.function_target(name);
            self.add(
                permission,
                "AWS::Lambda::Permission",
                json!({
                    "Action": "lambda:InvokeFunctionUrl",
                    "FunctionName": function,
                    "FunctionUrlAuthType": "AWS_IAM",
                    "Principal": "cloudfront.amazonaws.com",
                    "SourceArn": sub("arn:${AWS::Partition}:cloudfront::${AWS::AccountId}:distribution/*"),
                }),
            );
        }
        Target {
            domain,
            is_static: false,
            access: Access::Signed(control, false),
        }
    }

    fn balancer_origin(
        &mut self,
        name: &str,
        balancer: &ApplicationLoadBalancer,
        port: Option<u16>,
        domain: Option<&Text>,
    ) -> Target {
        let ports = load_balancer::ports(balancer);
        let port = match (port, load_balancer::usual_port(balancer)) {
            (Some(port), _) if ports.contains(&port) => port,
            (None, Some(port)) => port,
            _ => {
                let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
                self.refuse(
                    "cdn.listenerPort",
                    format!("\"{name}\" listens on {}", ports.join(", ")),
                    Some("name one of these ports"),
                );
                80
            }
        };
        let is_https = match balancer.listeners.iter().find(|it| it.port == port) {
            Some(listener) => listener.protocol == ListenerProtocol::Https,
            None => port == 443,
        };
        let own = |domain: &CustomDomain| domain.domain_name.clone();
        let domain = match (domain, balancer.custom_domains.first()) {
            (Some(domain), _) => self.text(domain),
            // The certificate is valid for this name and not for AWS's own.
            (None, Some(domain)) if is_https => self.text(&own(domain)),
            _ => attribute(&logical(&[name, "LoadBalancer"]), "DNSName"),
        };
        Target {
            domain,
            is_static: false,
            access: Access::Server { is_https, port },
        }
    }

    pub(super) fn origin_entry(
        &mut self,
        origin_id: &str,
        target: Target,
        prefix: Option<&str>,
        headers: &[HeaderValue],
    ) -> Value {
        let headers: Vec<Value> = headers
            .iter()
            .map(|header| {
                json!({
                    "HeaderName": header.header_name,
                    "HeaderValue": self.text(&header.value),
                })
            })
            .collect();
        let prefix = prefix
            .map(|prefix| format!("/{}", prefix.trim_matches('/')))
            .filter(|prefix| prefix != "/");
        let mut origin = json!({
            "Id": origin_id,
            "DomainName": target.domain,
            "OriginPath": prefix,
            "OriginCustomHeaders": (!headers.is_empty()).then_some(headers),
        });
        let https =
            || json!({ "OriginProtocolPolicy": "https-only", "OriginSSLProtocols": ["TLSv1.2"] });
        match target.access {
            Access::Signed(control, is_bucket) => {
                origin["OriginAccessControlId"] = control;
                match is_bucket {
                    true => origin["S3OriginConfig"] = json!({ "OriginAccessIdentity": "" }),
                    false => origin["CustomOriginConfig"] = https(),
                }
            }
            Access::Server {
                is_https: true,
                port,
            } => {
                let mut config = https();
                if port != 443 {
                    config["HTTPSPort"] = json!(port);
                }
                origin["CustomOriginConfig"] = config;
            }
            Access::Server {
                is_https: false,
                port,
            } => {
                let mut config = json!({ "OriginProtocolPolicy": "http-only" });
                if port != 80 {
                    config["HTTPPort"] = json!(port);
                }
                origin["CustomOriginConfig"] = config;
            }
        }
        origin
    }

    /// How distributions sign their requests, shared by all of them.
    fn access_control(&mut self, which: &str, kind: &str) -> Value {
        let control = logical(&["Stp", &format!("CDN{which}"), "OriginAccessControl"]);
        let name = self.physical(&format!("cdn-{kind}"), 64);
        self.share(&control, "AWS::CloudFront::OriginAccessControl", |_| {
            json!({
                "OriginAccessControlConfig": {
                    "Name": name,
                    "OriginAccessControlOriginType": kind,
                    "SigningBehavior": "always",
                    "SigningProtocol": "sigv4",
                },
            })
        });
        attribute(&control, "Id")
    }

    /// A function that turns addresses of pages into names of objects; returns its ARN.
    pub(super) fn page_function(
        &mut self,
        name: &str,
        index: Option<&str>,
        pages_end_in_html: bool,
    ) -> Value {
        let index = index
            .unwrap_or("/index.html")
            .trim_start_matches('/')
            .to_owned();
        let page = match pages_end_in_html {
            true => ".html".to_owned(),
            false => format!("/{index}"),
        };
        let code = format!(
            "function handler(event) {{\n  var request = event.request;\n  var last = request.uri.split('/').pop();\n  \
             if (last === '') {{\n    request.uri += '{index}';\n  }} else if (last.indexOf('.') < 0) {{\n    \
             request.uri += '{page}';\n  }}\n  return request;\n}}\n"
        );
        let specifier = format!("CDNPages{}", crate::name::digest(&code, 6));
        let function = logical(&[name, &specifier, "Function"]);
        if !self.parts.contains_key(&function) {
            let function_name = self.physical(
                &format!("{name}-pages-{}", crate::name::digest(&code, 6)),
                64,
            );
            self.add(
                &function,
                "AWS::CloudFront::Function",
                json!({
                    "Name": function_name,
                    "AutoPublish": true,
                    "FunctionCode": code,
                    "FunctionConfig": {
                        "Comment": "Addresses of pages to names of objects",
                        "Runtime": "cloudfront-js-2.0",
                    },
                }),
            );
        }
        attribute(&function, "FunctionARN")
    }
}

fn server(domain: Value) -> Target {
    Target {
        domain,
        is_static: false,
        access: Access::Server {
            is_https: true,
            port: 443,
        },
    }
}
