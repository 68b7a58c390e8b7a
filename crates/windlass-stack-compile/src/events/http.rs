//! Requests to an HTTP API: integrations, routes, authorizers.

use serde_json::{Value, json};
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::events::{Authorizer, HttpApiEvent, PayloadFormat, RouteMethod};

use crate::cf::{join, reference, sub};
use crate::name::logical;
use crate::stack::Stack;

/// A route of an HTTP API.
pub(crate) struct Route<'a> {
    pub gateway: &'a str,
    pub method: RouteMethod,
    pub path: &'a str,
    /// The path in the logical id, where it is another.
    pub named_path: Option<&'a str>,
    pub authorizer: Option<&'a Authorizer>,
    /// The id of the integration that answers.
    pub integration: String,
}

impl Stack<'_> {
    pub(super) fn http_event(
        &mut self,
        name: &str,
        index: usize,
        event: &HttpApiEvent,
        target: &Value,
    ) {
        let gateway = event.http_api_gateway_name.as_str();
        let format = self.payload_format(gateway, event.payload_format);
        let first = self.first_format(name, gateway).unwrap_or(format);
        // A function usually has one form of events, and then one integration.
        let specifier = match format == first {
            true => gateway.to_owned(),
            false => format!("{gateway}Payload{}", version(format).replace('.', "")),
        };
        let integration = logical(&[name, &specifier, "Integration"]);
        if !self.parts.contains_key(&integration) {
            self.add(
                &integration,
                "AWS::ApiGatewayV2::Integration",
                json!({
                    "ApiId": reference(&logical(&[gateway, "Api"])),
                    "IntegrationType": "AWS_PROXY",
                    "IntegrationUri": target,
                    "IntegrationMethod": "POST",
                    "PayloadFormatVersion": version(format),
                }),
            );
        }
        self.permit_api(name, gateway, target);
        let route = Route {
            gateway,
            method: event.method,
            path: &event.path,
            named_path: None,
            authorizer: event.authorizer.as_ref(),
            integration,
        };
        self.route(&route, &format!("events.{index}"));
    }

    /// Lets an API call a function, once.
    fn permit_api(&mut self, function: &str, gateway: &str, target: &Value) {
        let id = logical(&[function, gateway, "Permission"]);
        if self.parts.contains_key(&id) {
            return;
        }
        let source = join([
            sub("arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:"),
            reference(&logical(&[gateway, "Api"])),
            json!("/*"),
        ]);
        self.permit(&id, target, "apigateway.amazonaws.com", Some(source));
    }

    /// A route, with its authorizer.
    pub fn route(&mut self, route: &Route<'_>, property: &str) {
        let specifier = format!(
            "{}-{}-{}",
            route.gateway,
            if route.method == RouteMethod::Any {
                "Any"
            } else {
                route.method.as_str()
            },
            match route.named_path.unwrap_or(route.path) {
                "*" => "Default",
                path => path,
            },
        );
        let key = match (route.method, route.path) {
            (RouteMethod::Any, "*") => "$default".to_owned(),
            (method, "*") => format!("{} /{{proxy+}}", method.as_str()),
            (RouteMethod::Any, path) => format!("ANY {path}"),
            (method, path) => format!("{} {path}", method.as_str()),
        };
        let authorizer = route.authorizer.map(|authorizer| {
            let id = logical(&["Stp", &specifier, "Authorizer"]);
            self.authorizer(&id, route.gateway, authorizer, property);
            let kind = match authorizer {
                Authorizer::Cognito(_) => "JWT",
                Authorizer::Lambda(_) => "CUSTOM",
            };
            (reference(&id), kind)
        });
        self.add(
            logical(&["Stp", &specifier, "Route"]),
            "AWS::ApiGatewayV2::Route",
            json!({
                "ApiId": reference(&logical(&[route.gateway, "Api"])),
                "RouteKey": key,
                "Target": join([json!("integrations/"), reference(&route.integration)]),
                "AuthorizationType": authorizer.as_ref().map_or("NONE", |(_, kind)| kind),
                "AuthorizerId": authorizer.map(|(id, _)| id),
            }),
        );
    }

    fn authorizer(&mut self, id: &str, gateway: &str, authorizer: &Authorizer, property: &str) {
        let api = reference(&logical(&[gateway, "Api"]));
        let usual = vec!["$request.header.Authorization".to_owned()];
        let properties = match authorizer {
            Authorizer::Cognito(it) => {
                let pool = &it.user_pool_name;
                if !matches!(self.find(pool), Some(ResourceKind::UserAuthPool(_))) {
                    self.refuse(
                        &format!("{property}.properties.authorizer"),
                        format!("there is no user-auth-pool \"{pool}\""),
                        None,
                    );
                }
                json!({
                    "ApiId": api,
                    "Name": id,
                    "AuthorizerType": "JWT",
                    "IdentitySource": it.identity_sources.clone().unwrap_or(usual),
                    "JwtConfiguration": {
                        "Audience": [reference(&logical(&[pool, "UserPoolClient"]))],
                        "Issuer": join([
                            sub("https://cognito-idp.${AWS::Region}.${AWS::URLSuffix}/"),
                            reference(&logical(&[pool, "UserPool"])),
                        ]),
                    },
                })
            }
            Authorizer::Lambda(it) => {
                let target = self.function_target(&it.function_name);
                self.permit_api(&it.function_name, gateway, &target);
                json!({
                    "ApiId": api,
                    "Name": id,
                    "AuthorizerType": "REQUEST",
                    "AuthorizerPayloadFormatVersion": "2.0",
                    "AuthorizerUri": self.invocation_uri(target),
                    "AuthorizerResultTtlInSeconds": it.cache_result_seconds,
                    "EnableSimpleResponses": !it.iam_response,
                    "IdentitySource": it.identity_sources.clone().unwrap_or(usual),
                })
            }
        };
        self.add(id, "AWS::ApiGatewayV2::Authorizer", properties);
    }

    /// The form of an event: the gateway's setting raises those that do not ask for the newer one.
    fn payload_format(&self, gateway: &str, of_event: PayloadFormat) -> PayloadFormat {
        match (of_event, self.find(gateway)) {
            (PayloadFormat::V1, Some(ResourceKind::HttpApiGateway(api))) => {
                api.payload_format.unwrap_or(PayloadFormat::V1)
            }
            (format, _) => format,
        }
    }

    fn first_format(&self, name: &str, gateway: &str) -> Option<PayloadFormat> {
        use windlass_stack_config::model::events::Event;
        let events = match self.find(name)? {
            ResourceKind::Function(function) => &function.events,
            ResourceKind::BatchJob(job) => &job.events,
            _ => return None,
        };
        events.iter().find_map(|event| match event {
            Event::HttpApiGateway(event) if event.http_api_gateway_name == gateway => {
                Some(self.payload_format(gateway, event.payload_format))
            }
            _ => None,
        })
    }
}

fn version(format: PayloadFormat) -> &'static str {
    match format {
        PayloadFormat::V1 => "1.0",
        PayloadFormat::V2 => "2.0",
    }
}
