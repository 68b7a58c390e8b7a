//! Application load balancers: listeners, certificates, domains.
//!
//! Without listeners of its own a load balancer listens on port 80, and with a certificate on
//! 443, where 80 then leads.

use serde_json::{Value, json};
use windlass_stack_config::model::network::{
    ApplicationLoadBalancer, Listener, ListenerAction, ListenerProtocol, LoadBalancerInterface,
    RedirectStatus,
};

use crate::cf::{attribute, reference};
use crate::name::logical;
use crate::shared::from_range;
use crate::stack::Stack;

/// Whether a load balancer has a listener with a certificate.
pub(crate) fn has_https(balancer: &ApplicationLoadBalancer) -> bool {
    match balancer.listeners.is_empty() {
        true => has_certificate(balancer),
        false => balancer
            .listeners
            .iter()
            .any(|listener| listener.protocol == ListenerProtocol::Https),
    }
}

fn has_certificate(balancer: &ApplicationLoadBalancer) -> bool {
    balancer
        .custom_domains
        .iter()
        .any(|domain| domain.custom_certificate_arn.is_some())
}

/// The ports a load balancer listens on.
pub(crate) fn ports(balancer: &ApplicationLoadBalancer) -> Vec<u16> {
    match (balancer.listeners.is_empty(), has_certificate(balancer)) {
        (true, true) => vec![80, 443],
        (true, false) => vec![80],
        (false, _) => balancer.listeners.iter().map(|it| it.port).collect(),
    }
}

/// The port of rules that name none.
pub(crate) fn usual_port(balancer: &ApplicationLoadBalancer) -> Option<u16> {
    match (balancer.listeners.as_slice(), has_certificate(balancer)) {
        ([], true) => Some(443),
        ([], false) => Some(80),
        ([only], _) => Some(only.port),
        _ => None,
    }
}

impl Stack<'_> {
    pub fn load_balancer(&mut self, name: &str, it: &ApplicationLoadBalancer) {
        self.bare_balancer(name, it);
        if let Some(cdn) = &it.cdn {
            self.cdn(name, cdn);
        }
        self.alarms(name, &it.alarms, &it.disabled_global_alarms);
    }

    /// The load balancer without what stands in front of it.
    pub fn bare_balancer(&mut self, name: &str, it: &ApplicationLoadBalancer) {
        let listeners = listeners(it);
        let mut ingress = Vec::new();
        for listener in &listeners {
            let ranges = match (listener.whitelist_ips.is_empty(), it.interface) {
                (false, _) => self
                    .texts(&listener.whitelist_ips)
                    .into_iter()
                    .map(as_range)
                    .collect(),
                (true, LoadBalancerInterface::Internet) => vec![json!("0.0.0.0/0")],
                (true, LoadBalancerInterface::Internal) => vec![self.network().cidr],
            };
            ingress.extend(
                ranges
                    .into_iter()
                    .map(|range| from_range(json!(listener.port), range)),
            );
        }
        let what = format!("The load balancer {}", self.physical(name, 128));
        let group = logical(&[name, "Lb", "SecurityGroup"]);
        let group = self.security_group(&group, &what, ingress);
        let scheme = match it.interface {
            LoadBalancerInterface::Internet => "internet-facing",
            LoadBalancerInterface::Internal => "internal",
        };
        let subnets = self.network().public_subnets;
        let id = logical(&[name, "LoadBalancer"]);
        self.add(
            &id,
            "AWS::ElasticLoadBalancingV2::LoadBalancer",
            json!({
                "Type": "application",
                "Scheme": scheme,
                "Subnets": subnets,
                "SecurityGroups": [group],
            }),
        );
        let domains = self.domains(&it.custom_domains, "customDomains");
        let certificates: Vec<Value> = domains
            .iter()
            .filter_map(|it| it.certificate.clone())
            .collect();
        for listener in &listeners {
            self.listener(name, &id, listener, &certificates);
        }
        for domain in &domains {
            self.dns_record(
                domain,
                "customDomains",
                attribute(&id, "DNSName"),
                attribute(&id, "CanonicalHostedZoneID"),
            );
        }
    }

    fn listener(&mut self, name: &str, balancer: &str, listener: &Listener, of_domains: &[Value]) {
        let is_https = listener.protocol == ListenerProtocol::Https;
        let own = self.texts(&listener.custom_certificate_arns);
        let certificates: Vec<Value> = match (is_https, own.is_empty()) {
            (false, _) => Vec::new(),
            (true, false) => own,
            (true, true) => of_domains.to_vec(),
        };
        let port = listener.port;
        if is_https && certificates.is_empty() {
            self.refuse(
                "listeners",
                format!("the HTTPS listener on port {port} needs a certificate"),
                Some("give customCertificateArns: certificates are not issued for you"),
            );
        }
        let mut certificates = certificates
            .into_iter()
            .map(|certificate| json!({ "CertificateArn": certificate }));
        let first = certificates.next();
        let rest: Vec<Value> = certificates.collect();
        let id = logical(&[name, &format!("Port{port}"), "Listener"]);
        self.add(
            &id,
            "AWS::ElasticLoadBalancingV2::Listener",
            json!({
                "LoadBalancerArn": reference(balancer),
                "Port": port,
                "Protocol": if is_https { "HTTPS" } else { "HTTP" },
                "SslPolicy": is_https.then_some("ELBSecurityPolicy-TLS13-1-2-2021-06"),
                "Certificates": first.map(|first| json!([first])),
                "DefaultActions": [default_action(listener)],
            }),
        );
        if !rest.is_empty() {
            self.add(
                logical(&[name, &format!("Port{port}"), "ListenerCertificate"]),
                "AWS::ElasticLoadBalancingV2::ListenerCertificate",
                json!({ "ListenerArn": reference(&id), "Certificates": rest }),
            );
        }
    }
}

fn listeners(balancer: &ApplicationLoadBalancer) -> Vec<Listener> {
    if !balancer.listeners.is_empty() {
        return balancer.listeners.clone();
    }
    let listener = |protocol, port| Listener {
        protocol,
        port,
        custom_certificate_arns: Vec::new(),
        whitelist_ips: Vec::new(),
        default_action: None,
    };
    let mut plain = listener(ListenerProtocol::Http, 80);
    if !has_certificate(balancer) {
        return vec![plain];
    }
    plain.default_action = Some(ListenerAction::Redirect(Box::new(
        windlass_stack_config::model::network::Redirect {
            status_code: RedirectStatus::MovedPermanently,
            path: None,
            query: None,
            port: Some(443),
            host: None,
            protocol: Some(ListenerProtocol::Https),
        },
    )));
    vec![plain, listener(ListenerProtocol::Https, 443)]
}

fn default_action(listener: &Listener) -> Value {
    match &listener.default_action {
        Some(ListenerAction::Redirect(it)) => json!({
            "Type": "redirect",
            "RedirectConfig": {
                "StatusCode": match it.status_code {
                    RedirectStatus::MovedPermanently => "HTTP_301",
                    RedirectStatus::Found => "HTTP_302",
                },
                "Path": it.path,
                "Query": it.query,
                "Host": it.host,
                "Port": it.port.map(|port| port.to_string()),
                "Protocol": it.protocol.map(|protocol| match protocol {
                    ListenerProtocol::Http => "HTTP",
                    ListenerProtocol::Https => "HTTPS",
                }),
            },
        }),
        None => json!({
            "Type": "fixed-response",
            "FixedResponseConfig": {
                "StatusCode": "404",
                "ContentType": "text/plain",
                "MessageBody": "Not found",
            },
        }),
    }
}

/// One address is a range of one.
pub(crate) fn as_range(address: Value) -> Value {
    match address.as_str() {
        Some(text) if !text.contains('/') && !text.starts_with("{{") => json!(format!("{text}/32")),
        _ => address,
    }
}
