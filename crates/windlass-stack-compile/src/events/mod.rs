//! What starts a function, one file per family of sources.
//!
//! Batch jobs have a small function that starts them, so their events are a function's too.

mod balancer;
mod bus;
mod http;
mod logs;
mod s3;
mod sns;
mod streams;

pub(crate) use balancer::Rule;
pub(crate) use http::Route;

use serde_json::Value;
use windlass_stack_config::model::events::Event;

use crate::connect::allow;
use crate::name::logical;
use crate::stack::Stack;
use crate::text::Tie;

/// The id of a part that belongs to one event.
pub(crate) fn event_id(name: &str, index: usize, last: &str) -> String {
    logical(&[name, &format!("Event{index}"), last])
}

impl Stack<'_> {
    /// Connects a function to everything that starts it.
    pub fn events(&mut self, name: &str, events: &[Event], target: &Value) {
        for (index, event) in events.iter().enumerate() {
            match event {
                Event::HttpApiGateway(event) => self.http_event(name, index, event, target),
                Event::ApplicationLoadBalancer(event) => {
                    self.balancer_event(name, index, event, target);
                }
                Event::Sqs(event) => self.sqs_event(name, index, event, target),
                Event::Schedule(event) => self.schedule_event(name, index, event, target),
                Event::S3(event) => self.s3_event(name, index, event, target),
                Event::Sns(event) => self.sns_event(name, index, event, target),
                Event::DynamoDbStream(event) => self.dynamo_event(name, index, event, target),
                Event::KinesisStream(event) => self.kinesis_event(name, index, event, target),
                Event::EventBus(event) => self.bus_event(name, index, event, target),
                Event::CloudwatchLog(event) => self.log_event(name, index, event, target),
                Event::CloudwatchAlarm(event) => self.alarm_event(name, index, event, target),
            }
        }
    }

    /// What a function must be allowed for its events: reading what it polls.
    pub fn event_permissions(&mut self, name: &str, events: &[Event]) -> Vec<Value> {
        let mut statements = Vec::new();
        for (index, event) in events.iter().enumerate() {
            match event {
                Event::Sqs(event) => {
                    let queue = match (&event.sqs_queue_name, &event.sqs_queue_arn) {
                        (Some(queue), _) => self.param(queue, "arn", Tie::Loose),
                        (None, Some(arn)) => self.loose(arn),
                        (None, None) => continue,
                    };
                    statements.push(allow(
                        &[
                            "sqs:DeleteMessage",
                            "sqs:GetQueueAttributes",
                            "sqs:ReceiveMessage",
                        ],
                        vec![queue],
                    ));
                }
                Event::DynamoDbStream(event) => {
                    let stream = self.loose(&event.stream_arn);
                    statements.push(allow(
                        &[
                            "dynamodb:DescribeStream",
                            "dynamodb:GetRecords",
                            "dynamodb:GetShardIterator",
                            "dynamodb:ListStreams",
                        ],
                        vec![stream],
                    ));
                    statements.extend(self.failure_permission(event.on_failure.as_ref()));
                }
                Event::KinesisStream(event) => {
                    statements.extend(self.kinesis_permissions(name, index, event));
                    statements.extend(self.failure_permission(event.on_failure.as_ref()));
                }
                Event::HttpApiGateway(_)
                | Event::ApplicationLoadBalancer(_)
                | Event::Schedule(_)
                | Event::S3(_)
                | Event::Sns(_)
                | Event::EventBus(_)
                | Event::CloudwatchLog(_)
                | Event::CloudwatchAlarm(_) => {}
            }
        }
        statements
    }
}
