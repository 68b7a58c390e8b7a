//! Queues. A queue has one policy: its own statements, the buses that send to it, and the
//! topics and rules that leave what they could not deliver.

use serde_json::{Value, json};
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::events::{DeliveryFailure, Event, QueueEvent};
use windlass_stack_config::model::messaging::SqsQueue;

use crate::cf::{attribute, reference};
use crate::events::event_id;
use crate::name::logical;
use crate::shared::policy;
use crate::stack::Stack;
use crate::text::Tie;

impl Stack<'_> {
    /// A queue's name. AWS wants a FIFO queue's to say so.
    pub fn queue_name(&self, name: &str, queue: &SqsQueue) -> String {
        match queue.fifo_enabled {
            true => format!("{}.fifo", self.physical(name, 75)),
            false => self.physical(name, 80),
        }
    }

    pub fn sqs_queue(&mut self, name: &str, it: &SqsQueue) {
        let id = logical(&[name, "Queue"]);
        let redrive = it.redrive_policy.as_ref().and_then(|redrive| {
            let target = match (
                &redrive.target_sqs_queue_name,
                &redrive.target_sqs_queue_arn,
            ) {
                (Some(queue), _) => self.param(queue, "arn", Tie::Firm),
                (None, Some(arn)) => self.text(arn),
                (None, None) => return None,
            };
            Some(json!({
                "deadLetterTargetArn": target,
                "maxReceiveCount": redrive.max_receive_count,
            }))
        });
        for (property, is_given) in [
            ("fifoHighThroughput", it.fifo_high_throughput == Some(true)),
            (
                "contentBasedDeduplication",
                it.content_based_deduplication == Some(true),
            ),
        ] {
            if is_given && !it.fifo_enabled {
                self.refuse(
                    property,
                    "only a FIFO queue has this",
                    Some("set fifoEnabled: true"),
                );
            }
        }
        let is_fast = it.fifo_enabled && it.fifo_high_throughput == Some(true);
        self.add(
            &id,
            "AWS::SQS::Queue",
            json!({
                "QueueName": self.queue_name(name, it),
                "DelaySeconds": it.delay_messages_second,
                "MaximumMessageSize": it.max_message_size_bytes,
                "MessageRetentionPeriod": it.message_retention_period_seconds,
                "ReceiveMessageWaitTimeSeconds": it.long_polling_seconds,
                "VisibilityTimeout": it.visibility_timeout_seconds,
                "FifoQueue": it.fifo_enabled.then_some(true),
                "ContentBasedDeduplication": it.content_based_deduplication.filter(|_| it.fifo_enabled),
                "DeduplicationScope": is_fast.then_some("messageGroup"),
                "FifoThroughputLimit": is_fast.then_some("perMessageGroupId"),
                "RedrivePolicy": redrive,
            }),
        );
        let arn = attribute(&id, "Arn");
        let mut statements = Vec::new();
        for statement in &it.policy_statements {
            statements.push(self.policy_statement(statement, std::slice::from_ref(&arn)));
        }
        for (index, QueueEvent::EventBus(event)) in it.events.iter().enumerate() {
            let rule = self.bus_rule(name, index, event, &arn);
            statements.push(send(&arn, "events.amazonaws.com", attribute(&rule, "Arn")));
        }
        statements.extend(self.leftovers(name, &arn));
        if !statements.is_empty() {
            self.add(
                logical(&[name, "QueuePolicy"]),
                "AWS::SQS::QueuePolicy",
                json!({ "Queues": [reference(&id)], "PolicyDocument": policy(statements) }),
            );
        }
        self.alarms(name, &it.alarms, &it.disabled_global_alarms);
    }

    /// Statements for what leaves undelivered messages in a queue.
    fn leftovers(&mut self, queue: &str, arn: &Value) -> Vec<Value> {
        let is_here = |failure: &Option<DeliveryFailure>| {
            failure
                .as_ref()
                .and_then(|failure| failure.sqs_queue_name.as_deref())
                == Some(queue)
        };
        let mut statements = Vec::new();
        for (name, kind) in self.each() {
            let events: &[Event] = match kind {
                ResourceKind::Function(it) => &it.events,
                ResourceKind::BatchJob(it) => &it.events,
                ResourceKind::SqsQueue(it) => {
                    for (index, QueueEvent::EventBus(event)) in it.events.iter().enumerate() {
                        if is_here(&event.on_delivery_failure) {
                            let rule = attribute(&event_id(name, index, "Rule"), "Arn");
                            statements.push(send(arn, "events.amazonaws.com", rule));
                        }
                    }
                    &[]
                }
                _ => &[],
            };
            for (index, event) in events.iter().enumerate() {
                match event {
                    Event::EventBus(event) if is_here(&event.on_delivery_failure) => {
                        let rule = attribute(&event_id(name, index, "Rule"), "Arn");
                        statements.push(send(arn, "events.amazonaws.com", rule));
                    }
                    Event::Sns(event) if is_here(&event.on_delivery_failure) => {
                        let topic = match (&event.sns_topic_name, &event.sns_topic_arn) {
                            (Some(topic), _) => self.param(topic, "arn", Tie::Firm),
                            (None, Some(arn)) => self.text(arn),
                            (None, None) => continue,
                        };
                        statements.push(send(arn, "sns.amazonaws.com", topic));
                    }
                    _ => {}
                }
            }
        }
        statements
    }
}

fn send(queue: &Value, service: &str, source: Value) -> Value {
    json!({
        "Effect": "Allow",
        "Principal": { "Service": service },
        "Action": ["sqs:SendMessage"],
        "Resource": [queue],
        "Condition": { "ArnEquals": { "aws:SourceArn": source } },
    })
}
