//! What events, authorizers and content delivery networks refer to.

use super::references::References;
use super::schedule;
use crate::fault::FaultKind;
use crate::model::ResourceKind;
use crate::model::cdn::{Cdn, RouteRewrite, RouteTarget};
use crate::model::events::{Authorizer, ContainerEvent, DeliveryFailure, Event, EventBusEvent};
use crate::tree::Path;

impl References<'_> {
    pub(super) fn events(&mut self, events: &[Event], path: &Path) {
        for (index, event) in events.iter().enumerate() {
            let path = path.key("events").index(index).key("properties");
            match event {
                Event::HttpApiGateway(event) => self.route(
                    &event.http_api_gateway_name,
                    event.authorizer.as_ref(),
                    &event.path,
                    &path,
                ),
                Event::ApplicationLoadBalancer(event) => {
                    self.balancer(&event.load_balancer_name, event.listener_port, &path)
                }
                Event::Sqs(event) => {
                    self.exactly_one(&path, &["sqsQueueName", "sqsQueueArn"]);
                    let target = event.sqs_queue_name.as_deref();
                    self.expect_some(&path.key("sqsQueueName"), target, &["sqs-queue"]);
                }
                Event::Sns(event) => {
                    self.exactly_one(&path, &["snsTopicName", "snsTopicArn"]);
                    let target = event.sns_topic_name.as_deref();
                    self.expect_some(&path.key("snsTopicName"), target, &["sns-topic"]);
                    self.failure(event.on_delivery_failure.as_ref(), &path);
                }
                Event::KinesisStream(event) => {
                    self.exactly_one(&path, &["kinesisStreamName", "streamArn"]);
                    let target = event.kinesis_stream_name.as_deref();
                    self.expect_some(&path.key("kinesisStreamName"), target, &["kinesis-stream"]);
                    if event.auto_create_consumer && event.consumer_arn.is_some() {
                        let message =
                            "consumerArn and autoCreateConsumer exclude each other".to_owned();
                        let path = path.key("consumerArn");
                        self.add(FaultKind::InvalidValue, &path, message, None);
                    }
                }
                Event::EventBus(event) => self.event_bus(event, &path),
                Event::Schedule(event) => {
                    if let Err(wrong) = schedule::check(event.schedule_rate.trim()) {
                        let path = path.key("scheduleRate");
                        self.add(FaultKind::InvalidValue, &path, wrong.message, wrong.help);
                    }
                }
                Event::S3(_)
                | Event::DynamoDbStream(_)
                | Event::CloudwatchLog(_)
                | Event::CloudwatchAlarm(_) => {}
            }
        }
    }

    pub(super) fn container_event(&mut self, event: &ContainerEvent, path: &Path) {
        match event {
            ContainerEvent::HttpApiGateway(event) => self.route(
                &event.http_api_gateway_name,
                event.authorizer.as_ref(),
                &event.path,
                path,
            ),
            ContainerEvent::ApplicationLoadBalancer(event) => {
                self.balancer(&event.load_balancer_name, event.listener_port, path);
            }
            ContainerEvent::WorkloadInternal(_) | ContainerEvent::ServiceConnect(_) => {}
        }
    }

    fn route(&mut self, api: &str, authorizer: Option<&Authorizer>, route: &str, path: &Path) {
        self.expect(&path.key("httpApiGatewayName"), api, &["http-api-gateway"]);
        if route != "*" && !route.starts_with('/') {
            let message = format!("the path \"{route}\" does not begin with \"/\"");
            let help = Some(format!("write /{route}"));
            self.add(FaultKind::InvalidValue, &path.key("path"), message, help);
        }
        let path = path.key("authorizer").key("properties");
        match authorizer {
            Some(Authorizer::Cognito(authorizer)) => self.expect(
                &path.key("userPoolName"),
                &authorizer.user_pool_name,
                &["user-auth-pool"],
            ),
            Some(Authorizer::Lambda(authorizer)) => self.expect(
                &path.key("functionName"),
                &authorizer.function_name,
                &["function"],
            ),
            None => {}
        }
    }

    fn balancer(&mut self, name: &str, port: Option<u16>, path: &Path) {
        let kind = "application-load-balancer";
        self.expect(&path.key("loadBalancerName"), name, &[kind]);
        let Some(ResourceKind::ApplicationLoadBalancer(balancer)) =
            self.typed.get(name).map(|resource| &resource.kind)
        else {
            return;
        };
        if balancer.listeners.is_empty() {
            return;
        }
        let ports: Vec<String> = balancer
            .listeners
            .iter()
            .map(|listener| listener.port.to_string())
            .collect();
        let fits = port.is_some_and(|port| ports.contains(&port.to_string()));
        if !fits {
            let message =
                format!("\"{name}\" has listeners of its own, and none is specified here");
            let help = Some(format!("give listenerPort: {}", ports.join(" or ")));
            self.add(
                FaultKind::UnknownReference,
                &path.key("listenerPort"),
                message,
                help,
            );
        }
    }

    pub(super) fn event_bus(&mut self, event: &EventBusEvent, path: &Path) {
        self.exactly_one(path, &["eventBusName", "eventBusArn", "useDefaultBus"]);
        let target = event.event_bus_name.as_deref();
        self.expect_some(&path.key("eventBusName"), target, &["event-bus"]);
        self.failure(event.on_delivery_failure.as_ref(), path);
    }

    fn failure(&mut self, failure: Option<&DeliveryFailure>, path: &Path) {
        if let Some(failure) = failure {
            let path = path.key("onDeliveryFailure");
            self.exactly_one(&path, &["sqsQueueName", "sqsQueueArn"]);
            let target = failure.sqs_queue_name.as_deref();
            self.expect_some(&path.key("sqsQueueName"), target, &["sqs-queue"]);
        }
    }

    pub(super) fn cdn(&mut self, cdn: Option<&Cdn>, path: &Path) {
        if let Some(cdn) = cdn {
            self.rewrites(&cdn.route_rewrites, &path.key("cdn"));
        }
    }

    pub(super) fn rewrites(&mut self, rewrites: &[RouteRewrite], path: &Path) {
        for (index, rewrite) in rewrites.iter().enumerate() {
            let path = path
                .key("routeRewrites")
                .index(index)
                .key("routeTo")
                .key("properties");
            match &rewrite.route_to {
                Some(RouteTarget::ApplicationLoadBalancer(to)) => self.expect(
                    &path.key("loadBalancerName"),
                    &to.load_balancer_name,
                    &["application-load-balancer"],
                ),
                Some(RouteTarget::HttpApiGateway(to)) => self.expect(
                    &path.key("httpApiGatewayName"),
                    &to.http_api_gateway_name,
                    &["http-api-gateway"],
                ),
                Some(RouteTarget::Function(to)) => {
                    self.expect(&path.key("functionName"), &to.function_name, &["function"]);
                }
                Some(RouteTarget::Bucket(to)) => self.expect(
                    &path.key("bucketName"),
                    &to.bucket_name,
                    &["bucket", "hosting-bucket"],
                ),
                Some(RouteTarget::CustomOrigin(_)) | None => {}
            }
        }
    }
}
