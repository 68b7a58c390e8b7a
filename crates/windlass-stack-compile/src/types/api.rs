//! HTTP APIs: the API, its stage and access logs, its domains.

use serde_json::{Value, json};
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::common::Cors;
use windlass_stack_config::model::events::{ContainerEvent, Event, RouteMethod};
use windlass_stack_config::model::network::{AccessLogFormat, HttpApiGateway};

use super::function::cors_method;
use crate::cf::{attribute, reference};
use crate::name::logical;
use crate::stack::Stack;

impl Stack<'_> {
    pub fn http_api_gateway(&mut self, name: &str, it: &HttpApiGateway) {
        let api = logical(&[name, "Api"]);
        let cors = it.cors.as_ref().filter(|cors| cors.enabled);
        let cors = cors.map(|cors| self.api_cors(name, cors));
        self.add(
            &api,
            "AWS::ApiGatewayV2::Api",
            json!({
                "Name": self.physical(name, 128),
                "ProtocolType": "HTTP",
                "CorsConfiguration": cors,
            }),
        );
        let logs = (!it.logging.disabled).then(|| {
            let group = logical(&[name, "LogGroup"]);
            self.log_group(
                &group,
                self.log_group_name("api-gateway", name, "access"),
                it.logging.retention_days,
                it.logging.log_forwarding.as_ref(),
            );
            json!({
                "DestinationArn": attribute(&group, "Arn"),
                "Format": access_format(it.logging.format),
            })
        });
        let stage = logical(&[name, "Stage"]);
        self.add(
            &stage,
            "AWS::ApiGatewayV2::Stage",
            json!({
                "ApiId": reference(&api),
                "StageName": "$default",
                "AutoDeploy": true,
                "AccessLogSettings": logs,
            }),
        );
        for domain in self.domains(&it.custom_domains, "customDomains") {
            let certificate = self.certificate(&domain, "customDomains");
            let id = logical(&["Stp", domain.name, "DomainName"]);
            self.add(
                &id,
                "AWS::ApiGatewayV2::DomainName",
                json!({
                    "DomainName": domain.name,
                    "DomainNameConfigurations": [{
                        "CertificateArn": certificate,
                        "EndpointType": "REGIONAL",
                        "SecurityPolicy": "TLS_1_2",
                    }],
                }),
            );
            self.add(
                logical(&["Stp", domain.name, "ApiMapping"]),
                "AWS::ApiGatewayV2::ApiMapping",
                json!({
                    "ApiId": reference(&api),
                    "DomainName": reference(&id),
                    "Stage": reference(&stage),
                }),
            );
            self.dns_record(
                &domain,
                "customDomains",
                attribute(&id, "RegionalDomainName"),
                attribute(&id, "RegionalHostedZoneId"),
            );
        }
        if let Some(cdn) = &it.cdn {
            self.cdn(name, cdn);
        }
        self.alarms(name, &it.alarms, &it.disabled_global_alarms);
    }

    /// CORS of an API; methods that are not named are those of its routes.
    fn api_cors(&mut self, name: &str, cors: &Cors) -> Value {
        let methods = match &cors.allowed_methods {
            Some(methods) => methods
                .iter()
                .map(|it| cors_method(*it).to_owned())
                .collect(),
            None => self.route_methods(name),
        };
        if cors.allow_credentials == Some(true) && cors.allowed_origins.iter().any(|it| it == "*") {
            self.refuse(
                "cors.allowCredentials",
                "browsers refuse credentials where every origin is allowed",
                Some("name the origins in allowedOrigins"),
            );
        }
        json!({
            "AllowOrigins": cors.allowed_origins,
            "AllowMethods": methods,
            "AllowHeaders": cors.allowed_headers.clone().unwrap_or_else(|| {
                ["Authorization", "Content-Type", "X-Amz-Date", "X-Amz-Security-Token",
                 "X-Amz-User-Agent", "X-Api-Key"].map(str::to_owned).into()
            }),
            "AllowCredentials": cors.allow_credentials,
            "ExposeHeaders": cors.exposed_response_headers,
            "MaxAge": cors.max_age,
        })
    }

    fn route_methods(&self, name: &str) -> Vec<String> {
        let mut methods: Vec<RouteMethod> = Vec::new();
        for (_, kind) in self.each() {
            let events: Vec<RouteMethod> = match kind {
                ResourceKind::Function(it) => function_methods(&it.events, name),
                ResourceKind::BatchJob(it) => function_methods(&it.events, name),
                ResourceKind::MultiContainerWorkload(it) => it
                    .containers
                    .iter()
                    .flat_map(|container| &container.events)
                    .filter_map(|event| match event {
                        ContainerEvent::HttpApiGateway(event)
                            if event.http_api_gateway_name == name =>
                        {
                            Some(event.method)
                        }
                        _ => None,
                    })
                    .collect(),
                _ => Vec::new(),
            };
            methods.extend(events);
        }
        methods.sort_unstable();
        methods.dedup();
        if methods.is_empty() || methods.contains(&RouteMethod::Any) {
            return vec!["*".to_owned()];
        }
        methods.push(RouteMethod::Options);
        methods.sort_unstable();
        methods.dedup();
        methods.iter().map(|it| it.as_str().to_owned()).collect()
    }

    /// The link by which an API reaches containers inside the network, created once; returns its id.
    pub fn vpc_link(&mut self, gateway: &str) -> String {
        let id = logical(&[gateway, "VpcLink"]);
        if !self.parts.contains_key(&id) {
            let group = logical(&[gateway, "VpcLink", "SecurityGroup"]);
            let what = format!("The API {} calls containers", self.physical(gateway, 128));
            let group = self.security_group(&group, &what, Vec::new());
            let subnets = self.network().public_subnets;
            self.add(
                &id,
                "AWS::ApiGatewayV2::VpcLink",
                json!({
                    "Name": self.physical(gateway, 128),
                    "SubnetIds": subnets,
                    "SecurityGroupIds": [group],
                }),
            );
        }
        id
    }
}

fn function_methods(events: &[Event], gateway: &str) -> Vec<RouteMethod> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::HttpApiGateway(event) if event.http_api_gateway_name == gateway => {
                Some(event.method)
            }
            _ => None,
        })
        .collect()
}

fn access_format(format: AccessLogFormat) -> String {
    const FIELDS: [(&str, &str); 9] = [
        ("requestId", "$context.requestId"),
        ("requestTime", "$context.requestTime"),
        ("ip", "$context.identity.sourceIp"),
        ("method", "$context.httpMethod"),
        ("path", "$context.path"),
        ("routeKey", "$context.routeKey"),
        ("status", "$context.status"),
        ("responseLength", "$context.responseLength"),
        ("integrationError", "$context.integrationErrorMessage"),
    ];
    match format {
        AccessLogFormat::Json => {
            let fields: Vec<String> = FIELDS
                .iter()
                .map(|(name, value)| format!("\"{name}\":\"{value}\""))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        AccessLogFormat::Csv => FIELDS.map(|(_, value)| value).join(","),
        AccessLogFormat::Xml => {
            let fields: Vec<String> = FIELDS
                .iter()
                .skip(1)
                .map(|(name, value)| format!("<{name}>{value}</{name}>"))
                .collect();
            format!(
                "<request id=\"$context.requestId\">{}</request>",
                fields.join("")
            )
        }
        AccessLogFormat::Clf => "$context.identity.sourceIp - - [$context.requestTime] \
             \"$context.httpMethod $context.routeKey $context.protocol\" $context.status \
             $context.responseLength $context.requestId"
            .to_owned(),
    }
}
