//! Requests to a load balancer: target groups and listener rules.

use serde_json::{Value, json};
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::events::{
    ContainerLoadBalancerEvent, HeaderCondition, LoadBalancerEvent, QueryCondition,
};

use crate::cf::reference;
use crate::name::logical;
use crate::stack::Stack;
use crate::types::load_balancer;

/// A rule of a listener.
pub(crate) struct Rule<'a> {
    pub balancer: &'a str,
    pub port: Option<u16>,
    pub priority: u32,
    pub paths: Option<&'a [String]>,
    pub methods: Option<&'a [String]>,
    pub hosts: Option<&'a [String]>,
    pub headers: Option<&'a [HeaderCondition]>,
    pub query: Option<&'a [QueryCondition]>,
    pub source_ips: Option<&'a [String]>,
}

macro_rules! rule_from {
    ($event:ty) => {
        impl<'a> From<&'a $event> for Rule<'a> {
            fn from(event: &'a $event) -> Self {
                Self {
                    balancer: &event.load_balancer_name,
                    port: event.listener_port,
                    priority: event.priority,
                    paths: event.paths.as_deref(),
                    methods: event.methods.as_deref(),
                    hosts: event.hosts.as_deref(),
                    headers: event.headers.as_deref(),
                    query: event.query_params.as_deref(),
                    source_ips: event.source_ips.as_deref(),
                }
            }
        }
    };
}

rule_from!(LoadBalancerEvent);
rule_from!(ContainerLoadBalancerEvent);

impl Stack<'_> {
    pub(super) fn balancer_event(
        &mut self,
        name: &str,
        index: usize,
        event: &LoadBalancerEvent,
        target: &Value,
    ) {
        let balancer = event.load_balancer_name.as_str();
        let group = logical(&[name, balancer, "TargetGroup"]);
        if !self.parts.contains_key(&group) {
            let permission = logical(&[name, &format!("{balancer}TargetGroup"), "Permission"]);
            let service = "elasticloadbalancing.amazonaws.com";
            self.permit(&permission, target, service, None);
            self.add(
                &group,
                "AWS::ElasticLoadBalancingV2::TargetGroup",
                json!({ "TargetType": "lambda", "Targets": [{ "Id": target }] }),
            )
            .after(permission);
        }
        let property = format!("events.{index}.properties");
        self.listener_rule(&Rule::from(event), &group, &property);
    }

    /// A rule that sends requests to a target group; returns the rule's id.
    pub fn listener_rule(
        &mut self,
        rule: &Rule<'_>,
        group: &str,
        property: &str,
    ) -> Option<String> {
        let port = self.rule_port(rule, property)?;
        let conditions = conditions(rule);
        if conditions.is_empty() {
            self.refuse(
                property,
                "a rule of a load balancer needs a condition",
                Some("give paths: [\"*\"] to take everything"),
            );
        }
        let id = logical(&[
            rule.balancer,
            &format!("Port{port}Priority{}", rule.priority),
            "ListenerRule",
        ]);
        self.add(
            &id,
            "AWS::ElasticLoadBalancingV2::ListenerRule",
            json!({
                "ListenerArn": reference(&logical(&[rule.balancer, &format!("Port{port}"), "Listener"])),
                "Priority": rule.priority,
                "Conditions": conditions,
                "Actions": [{ "Type": "forward", "TargetGroupArn": reference(group) }],
            }),
        );
        Some(id)
    }

    fn rule_port(&mut self, rule: &Rule<'_>, property: &str) -> Option<u16> {
        let Some(ResourceKind::ApplicationLoadBalancer(balancer)) = self.find(rule.balancer) else {
            // A service's own load balancer has been asked for with its port.
            return rule.port;
        };
        let ports = load_balancer::ports(balancer);
        let port = match (rule.port, load_balancer::usual_port(balancer)) {
            (Some(port), _) if ports.contains(&port) => Some(port),
            (None, Some(port)) => Some(port),
            _ => None,
        };
        if port.is_none() {
            let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
            self.refuse(
                &format!("{property}.listenerPort"),
                format!("\"{}\" listens on {}", rule.balancer, ports.join(", ")),
                Some("name one of these ports"),
            );
        }
        port
    }
}

fn conditions(rule: &Rule<'_>) -> Vec<Value> {
    let mut conditions = Vec::new();
    for (field, key, values) in [
        ("path-pattern", "PathPatternConfig", rule.paths),
        (
            "http-request-method",
            "HttpRequestMethodConfig",
            rule.methods,
        ),
        ("host-header", "HostHeaderConfig", rule.hosts),
        ("source-ip", "SourceIpConfig", rule.source_ips),
    ] {
        if let Some(values) = values {
            conditions.push(json!({ "Field": field, key: { "Values": values } }));
        }
    }
    for header in rule.headers.into_iter().flatten() {
        conditions.push(json!({
            "Field": "http-header",
            "HttpHeaderConfig": { "HttpHeaderName": header.header_name, "Values": header.values },
        }));
    }
    for query in rule.query.into_iter().flatten() {
        let values: Vec<Value> = query
            .values
            .iter()
            .map(|value| json!({ "Key": query.param_name, "Value": value }))
            .collect();
        conditions.push(json!({
            "Field": "query-string",
            "QueryStringConfig": { "Values": values },
        }));
    }
    conditions
}
