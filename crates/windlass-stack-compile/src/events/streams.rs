//! What Lambda polls: queues, streams of tables, Kinesis streams.

use serde_json::{Value, json};
use windlass_stack_config::model::events::{
    DynamoDbStreamEvent, KinesisStreamEvent, SqsEvent, StartingPosition, StreamFailure,
    StreamFailureKind,
};

use super::event_id;
use crate::cf::{attribute, join, reference};
use crate::connect::allow;
use crate::stack::Stack;
use crate::text::Tie;

impl Stack<'_> {
    pub(super) fn sqs_event(&mut self, name: &str, index: usize, event: &SqsEvent, target: &Value) {
        let queue = match (&event.sqs_queue_name, &event.sqs_queue_arn) {
            (Some(queue), _) => self.param(queue, "arn", Tie::Firm),
            (None, Some(arn)) => self.text(arn),
            (None, None) => return self.needs_source(index, "sqsQueueName or sqsQueueArn"),
        };
        // Lambda wants to gather for a while before it takes more than ten at once.
        let window = match (event.max_batch_window_seconds, event.batch_size) {
            (None, 11..) => Some(1),
            (window, _) => window,
        };
        self.add(
            event_id(name, index, "EventSourceMapping"),
            "AWS::Lambda::EventSourceMapping",
            json!({
                "EventSourceArn": queue,
                "FunctionName": target,
                "BatchSize": event.batch_size,
                "MaximumBatchingWindowInSeconds": window,
            }),
        );
    }

    pub(super) fn dynamo_event(
        &mut self,
        name: &str,
        index: usize,
        event: &DynamoDbStreamEvent,
        target: &Value,
    ) {
        let stream = self.text(&event.stream_arn);
        let failure = self.failure(event.on_failure.as_ref());
        self.add(
            event_id(name, index, "EventSourceMapping"),
            "AWS::Lambda::EventSourceMapping",
            json!({
                "EventSourceArn": stream,
                "FunctionName": target,
                "BatchSize": event.batch_size,
                "StartingPosition": position(event.starting_position),
                "MaximumBatchingWindowInSeconds": event.max_batch_window_seconds,
                "MaximumRetryAttempts": event.maximum_retry_attempts,
                "DestinationConfig": failure,
                "ParallelizationFactor": event.parallelization_factor,
                "BisectBatchOnFunctionError": event.bisect_batch_on_function_error,
            }),
        );
    }

    pub(super) fn kinesis_event(
        &mut self,
        name: &str,
        index: usize,
        event: &KinesisStreamEvent,
        target: &Value,
    ) {
        let stream = match (&event.kinesis_stream_name, &event.stream_arn) {
            (Some(stream), _) => self.param(stream, "arn", Tie::Firm),
            (None, Some(arn)) => self.text(arn),
            (None, None) => return self.needs_source(index, "kinesisStreamName or streamArn"),
        };
        let source = match &event.consumer_arn {
            Some(consumer) => self.text(consumer),
            None if self.has_consumer(event) => {
                let consumer = event_id(name, index, "StreamConsumer");
                let consumer_name = crate::name::bounded(
                    &format!("{}-{name}-{index}", self.facts.stack_name()),
                    128,
                );
                self.add(
                    &consumer,
                    "AWS::Kinesis::StreamConsumer",
                    json!({ "ConsumerName": consumer_name, "StreamARN": stream }),
                );
                reference(&consumer)
            }
            None => stream,
        };
        let failure = self.failure(event.on_failure.as_ref());
        self.add(
            event_id(name, index, "EventSourceMapping"),
            "AWS::Lambda::EventSourceMapping",
            json!({
                "EventSourceArn": source,
                "FunctionName": target,
                "BatchSize": event.batch_size,
                "StartingPosition": position(event.starting_position),
                "MaximumBatchingWindowInSeconds": event.max_batch_window_seconds,
                "MaximumRetryAttempts": event.maximum_retry_attempts,
                "DestinationConfig": failure,
                "ParallelizationFactor": event.parallelization_factor,
                "BisectBatchOnFunctionError": event.bisect_batch_on_function_error,
            }),
        );
    }

    /// A consumer is made for an event that asks for one, and for every event of a stream that
    /// gives each consumer throughput of its own.
    fn has_consumer(&self, event: &KinesisStreamEvent) -> bool {
        use windlass_stack_config::model::ResourceKind;
        let stream = event
            .kinesis_stream_name
            .as_deref()
            .and_then(|it| self.find(it));
        event.auto_create_consumer
            || matches!(stream, Some(ResourceKind::KinesisStream(it)) if it.enable_enhanced_fan_out)
    }

    pub(super) fn kinesis_permissions(
        &mut self,
        name: &str,
        index: usize,
        event: &KinesisStreamEvent,
    ) -> Vec<Value> {
        let stream = match (&event.kinesis_stream_name, &event.stream_arn) {
            (Some(stream), _) => self.param(stream, "arn", Tie::Loose),
            (None, Some(arn)) => self.loose(arn),
            (None, None) => return Vec::new(),
        };
        let mut statements = vec![allow(
            &[
                "kinesis:DescribeStream",
                "kinesis:DescribeStreamSummary",
                "kinesis:GetRecords",
                "kinesis:GetShardIterator",
                "kinesis:ListShards",
            ],
            vec![stream.clone()],
        )];
        let consumer = match &event.consumer_arn {
            Some(consumer) => Some(self.loose(consumer)),
            None if self.has_consumer(event) => {
                let consumer_name = crate::name::bounded(
                    &format!("{}-{name}-{index}", self.facts.stack_name()),
                    128,
                );
                Some(join([
                    stream,
                    json!(format!("/consumer/{consumer_name}:*")),
                ]))
            }
            None => None,
        };
        if let Some(consumer) = consumer {
            statements.push(allow(&["kinesis:SubscribeToShard"], vec![consumer]));
        }
        statements
    }

    fn failure(&mut self, failure: Option<&StreamFailure>) -> Option<Value> {
        let destination = self.text(&failure?.arn);
        Some(json!({ "OnFailure": { "Destination": destination } }))
    }

    pub(super) fn failure_permission(&mut self, failure: Option<&StreamFailure>) -> Option<Value> {
        let failure = failure?;
        let action = match failure.kind {
            StreamFailureKind::Sns => "sns:Publish",
            StreamFailureKind::Sqs => "sqs:SendMessage",
        };
        let target = self.loose(&failure.arn);
        Some(allow(&[action], vec![target]))
    }

    pub(super) fn needs_source(&mut self, index: usize, which: &str) {
        self.refuse(
            &format!("events.{index}.properties"),
            format!("the event needs {which}"),
            None,
        );
    }
}

fn position(position: StartingPosition) -> &'static str {
    match position {
        StartingPosition::Latest => "LATEST",
        StartingPosition::TrimHorizon => "TRIM_HORIZON",
    }
}

/// The ARN of a part that has one.
pub(super) fn arn_of(id: &str) -> Value {
    attribute(id, "Arn")
}
