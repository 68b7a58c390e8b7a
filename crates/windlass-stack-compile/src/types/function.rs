//! Functions: the code, its role and logs, its address.
//!
//! The role may write to the function's own log group, use what connectTo names, and read what
//! its events come from; nothing else.

use serde_json::{Value, json};
use windlass_stack_config::Text;
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::common::{Cors, CorsMethod, Logging};
use windlass_stack_config::model::function::{
    Architecture, Destinations, Function, FunctionUrl, LambdaRuntime, UrlAuthMode,
};
use windlass_stack_config::model::packaging::FunctionPackaging;

use super::release;
use crate::cf::{arn, attribute, join, reference};
use crate::connect::allow;
use crate::name::logical;
use crate::stack::Stack;

/// What a function and those that are functions underneath have in common.
pub(crate) struct Code<'a> {
    pub packaging: &'a FunctionPackaging,
    pub runtime: Option<LambdaRuntime>,
    pub architecture: Architecture,
    pub memory: Option<u32>,
    pub timeout: u32,
    pub storage: u32,
    pub joins_network: bool,
    pub logging: &'a Logging<180>,
    pub environment: Vec<(String, Value)>,
    pub statements: Vec<Value>,
    pub layers: Vec<Value>,
    pub reserved_concurrency: Option<u32>,
    pub tags: Vec<Value>,
}

impl Stack<'_> {
    pub fn function(&mut self, name: &str, it: &Function, kind: &ResourceKind) {
        let own = self.environment(&it.environment);
        let environment = self.full_environment(kind, own);
        let mut statements = self.permissions(kind);
        statements.extend(self.event_permissions(name, &it.events));
        statements.extend(self.destination_permissions(it.destinations.as_ref()));
        statements.extend(self.hook_permissions(name));
        let layers = self.texts(&it.layers);
        let tags = it
            .tags
            .iter()
            .map(|tag| json!({ "Key": tag.name, "Value": self.text(&tag.value) }))
            .collect();
        self.check_reach(&it.connect_to, it.join_default_vpc);
        self.code(
            name,
            Code {
                packaging: &it.packaging,
                runtime: it.runtime,
                architecture: it.architecture,
                memory: it.memory,
                timeout: it.timeout,
                storage: it.storage,
                joins_network: it.join_default_vpc,
                logging: &it.logging,
                environment,
                statements,
                layers,
                reserved_concurrency: it.reserved_concurrency,
                tags,
            },
        );
        self.release(name, it);
        if let Some(destinations) = &it.destinations {
            self.destinations(name, destinations, release::is_aliased(it));
        }
        if let Some(url) = it.url.as_ref().filter(|url| url.enabled) {
            self.function_url(name, url, release::is_aliased(it));
        }
        let target = self.function_target(name);
        self.events(name, &it.events, &target);
        if let Some(cdn) = &it.cdn {
            self.cdn(name, cdn);
        }
        self.alarms(name, &it.alarms, &it.disabled_global_alarms);
    }

    /// What calls and events are sent to: the alias where there is one.
    pub fn function_target(&self, name: &str) -> Value {
        match self.find(name) {
            Some(ResourceKind::Function(function)) if release::is_aliased(function) => {
                reference(&logical(&[name, "Stp", "Alias"]))
            }
            _ => attribute(&logical(&[name, "Function"]), "Arn"),
        }
    }

    /// The function itself with its role, log group and security group.
    pub fn code(&mut self, name: &str, code: Code<'_>) {
        let id = logical(&[name, "Function"]);
        let function = self.physical(name, 64);
        let (package, handler) = self.zip(name, code.packaging);
        let runtime = self.lambda_runtime(code.packaging, code.runtime);
        let group = format!("/aws/lambda/{function}");
        let mut statements = Vec::new();
        if !code.logging.disabled {
            statements.push(allow(
                &["logs:CreateLogStream", "logs:PutLogEvents"],
                vec![arn(&format!("logs:log-group:{group}:*"))],
            ));
        }
        let network = code.joins_network.then(|| {
            statements.push(allow(&INTERFACES, vec![json!("*")]));
            let group = self.security_group(
                &logical(&[name, "SecurityGroup"]),
                &format!("The function {function}"),
                Vec::new(),
            );
            json!({
                "SecurityGroupIds": [group],
                "SubnetIds": self.network().public_subnets,
            })
        });
        statements.extend(code.statements);
        let log_group = self.logs(&logical(&[name, "LogGroup"]), group, code.logging);
        let role_id = logical(&[name, "Role"]);
        let role = self.role(&role_id, "lambda.amazonaws.com", &[], statements);
        for (variable, _) in &code.environment {
            let mut letters = variable.chars();
            let is_fine = letters.next().is_some_and(|it| it.is_ascii_alphabetic())
                && variable.len() > 1
                && letters.all(|it| it.is_ascii_alphanumeric() || it == '_');
            if !is_fine {
                self.refuse(
                    "environment",
                    format!("Lambda does not accept the variable \"{variable}\""),
                    Some("use two or more letters, digits and underscores, a letter first"),
                );
            }
        }
        let variables: serde_json::Map<String, Value> = code.environment.into_iter().collect();
        let architecture = match code.architecture {
            Architecture::X86_64 => "x86_64",
            Architecture::Arm64 => "arm64",
        };
        let part = self.add(
            id,
            "AWS::Lambda::Function",
            json!({
                "FunctionName": function,
                "Runtime": runtime,
                "Handler": handler,
                "Code": package,
                "Role": role,
                "Architectures": [architecture],
                "MemorySize": code.memory.unwrap_or(1024),
                "Timeout": code.timeout,
                "EphemeralStorage": { "Size": code.storage },
                "Environment": (!variables.is_empty()).then(|| json!({ "Variables": variables })),
                "Layers": (!code.layers.is_empty()).then_some(code.layers),
                "ReservedConcurrentExecutions": code.reserved_concurrency,
                "VpcConfig": network,
                "Tags": (!code.tags.is_empty()).then_some(code.tags),
            }),
        );
        // Otherwise the first call makes a log group that is never cleaned up.
        if let Some(log_group) = log_group {
            part.after(log_group);
        }
    }

    fn lambda_runtime(
        &mut self,
        packaging: &FunctionPackaging,
        runtime: Option<LambdaRuntime>,
    ) -> Option<&'static str> {
        let by_file = match packaging {
            FunctionPackaging::Buildpack(it) => LambdaRuntime::for_entry_file(&it.entryfile_path),
            FunctionPackaging::CustomArtifact(it) => it
                .handler
                .as_deref()
                .and_then(LambdaRuntime::for_entry_file),
        };
        let runtime = runtime.or(by_file);
        if runtime.is_none() {
            self.refuse(
                "runtime",
                "the runtime cannot be derived from the file",
                Some("set runtime, such as nodejs22.x"),
            );
        }
        runtime.map(LambdaRuntime::as_str)
    }

    fn destinations(&mut self, name: &str, destinations: &Destinations, is_aliased: bool) {
        let mut to = |text: &Option<Text>| {
            text.as_ref()
                .map(|text| json!({ "Destination": self.text(text) }))
        };
        let on_success = to(&destinations.on_success);
        let on_failure = to(&destinations.on_failure);
        let qualifier = if is_aliased {
            release::ALIAS
        } else {
            "$LATEST"
        };
        let part = self.add(
            logical(&[name, "EventInvokeConfig"]),
            "AWS::Lambda::EventInvokeConfig",
            json!({
                "FunctionName": reference(&logical(&[name, "Function"])),
                "Qualifier": qualifier,
                "DestinationConfig": { "OnSuccess": on_success, "OnFailure": on_failure },
            }),
        );
        if is_aliased {
            part.after(logical(&[name, "Stp", "Alias"]));
        }
    }

    fn destination_permissions(&mut self, destinations: Option<&Destinations>) -> Vec<Value> {
        let Some(destinations) = destinations else {
            return Vec::new();
        };
        let mut statements = Vec::new();
        for text in [&destinations.on_success, &destinations.on_failure]
            .into_iter()
            .flatten()
        {
            let actions = self.sending_actions(text);
            let target = self.loose(text);
            let statement = allow(&actions, vec![target]);
            if !statements.contains(&statement) {
                statements.push(statement);
            }
        }
        statements
    }

    /// What is needed to send something to an ARN, by what it is the ARN of.
    fn sending_actions(&self, text: &Text) -> Vec<&'static str> {
        let kind = match text.runtime() {
            Some(windlass_stack_config::Runtime::ResourceParam { resource, .. }) => {
                self.find(resource).map(ResourceKind::type_name)
            }
            _ => text.literal().and_then(|arn| arn.split(':').nth(2)),
        };
        match kind {
            Some("sqs-queue" | "sqs") => vec!["sqs:SendMessage"],
            Some("sns-topic" | "sns") => vec!["sns:Publish"],
            Some("function" | "lambda") => vec!["lambda:InvokeFunction"],
            Some("event-bus" | "events") => vec!["events:PutEvents"],
            _ => vec![
                "events:PutEvents",
                "lambda:InvokeFunction",
                "sns:Publish",
                "sqs:SendMessage",
            ],
        }
    }

    fn function_url(&mut self, name: &str, url: &FunctionUrl, is_aliased: bool) {
        let auth = match url.auth_mode {
            UrlAuthMode::AwsIam => "AWS_IAM",
            UrlAuthMode::None => "NONE",
        };
        let mode = match url.response_stream_enabled {
            true => "RESPONSE_STREAM",
            false => "BUFFERED",
        };
        let cors = url.cors.as_ref().filter(|cors| cors.enabled);
        let function = attribute(&logical(&[name, "Function"]), "Arn");
        let part = self.add(
            logical(&[name, "Url"]),
            "AWS::Lambda::Url",
            json!({
                "TargetFunctionArn": function,
                "Qualifier": is_aliased.then_some(release::ALIAS),
                "AuthType": auth,
                "InvokeMode": mode,
                "Cors": cors.map(url_cors),
            }),
        );
        if is_aliased {
            part.after(logical(&[name, "Stp", "Alias"]));
        }
        if url.auth_mode == UrlAuthMode::None {
            let target = self.function_target(name);
            self.add(
                logical(&[name, "PublicUrl", "Permission"]),
                "AWS::Lambda::Permission",
                json!({
                    "Action": "lambda:InvokeFunctionUrl",
                    "FunctionName": target,
                    "FunctionUrlAuthType": "NONE",
                    "Principal": "*",
                }),
            );
        }
    }

    /// The domain of a function's address.
    pub fn function_url_domain(&self, name: &str) -> Value {
        let url = attribute(&logical(&[name, "Url"]), "FunctionUrl");
        json!({ "Fn::Select": [2, { "Fn::Split": ["/", url] }] })
    }

    /// A function that watches a deployment may report the outcome.
    fn hook_permissions(&mut self, name: &str) -> Vec<Value> {
        let is_hook = self.each().any(|(_, kind)| match kind {
            ResourceKind::Function(function) => function.deployment.as_ref().is_some_and(|it| {
                it.before_allow_traffic_function.as_deref() == Some(name)
                    || it.after_traffic_shift_function.as_deref() == Some(name)
            }),
            _ => false,
        });
        match is_hook {
            true => vec![allow(
                &["codedeploy:PutLifecycleEventHookExecutionStatus"],
                vec![arn(&format!(
                    "codedeploy:deploymentgroup:{}-*",
                    self.facts.stack_name()
                ))],
            )],
            false => Vec::new(),
        }
    }

    /// Lets a service of AWS call a function.
    pub fn permit(&mut self, id: &str, target: &Value, service: &str, source: Option<Value>) {
        self.add(
            id,
            "AWS::Lambda::Permission",
            json!({
                "Action": "lambda:InvokeFunction",
                "FunctionName": target,
                "Principal": service,
                "SourceArn": source,
            }),
        );
    }

    /// The ARN by which API Gateway calls a function.
    pub fn invocation_uri(&self, target: Value) -> Value {
        join([
            crate::cf::sub(
                "arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/",
            ),
            target,
            json!("/invocations"),
        ])
    }

    /// The ARN of a function by its name; of the alias where there is one.
    pub fn function_by_name(&self, name: &str) -> Value {
        let alias = match self.find(name) {
            Some(ResourceKind::Function(function)) if release::is_aliased(function) => {
                format!(":{}", release::ALIAS)
            }
            _ => String::new(),
        };
        arn(&format!(
            "lambda:function:{}{alias}",
            self.physical(name, 64)
        ))
    }
}

fn url_cors(cors: &Cors) -> Value {
    let methods = cors.allowed_methods.as_ref().map(|methods| {
        methods
            .iter()
            .map(|method| cors_method(*method))
            .collect::<Vec<_>>()
    });
    json!({
        "AllowOrigins": cors.allowed_origins,
        "AllowMethods": methods.unwrap_or_else(|| vec!["*"]),
        "AllowHeaders": cors.allowed_headers.clone().unwrap_or_else(|| vec!["*".to_owned()]),
        "AllowCredentials": cors.allow_credentials,
        "ExposeHeaders": cors.exposed_response_headers,
        "MaxAge": cors.max_age,
    })
}

pub(crate) fn cors_method(method: CorsMethod) -> &'static str {
    match method {
        CorsMethod::Get => "GET",
        CorsMethod::Head => "HEAD",
        CorsMethod::Post => "POST",
        CorsMethod::Put => "PUT",
        CorsMethod::Patch => "PATCH",
        CorsMethod::Delete => "DELETE",
        CorsMethod::Options => "OPTIONS",
        CorsMethod::Any => "*",
    }
}

/// What a function needs to be inside a network.
const INTERFACES: [&str; 6] = [
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
];
