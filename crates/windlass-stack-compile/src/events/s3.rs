//! Changes in a bucket: the bucket notifies the function, so it must be of the same stack.

use serde_json::{Value, json};
use windlass_stack_config::Runtime;
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::events::{Event, S3Event};

use super::event_id;
use crate::stack::Stack;
use crate::text::Tie;

/// One function a bucket notifies.
pub(crate) struct Notified<'a> {
    pub event: &'a S3Event,
    /// What is called.
    pub target: Value,
    /// The permission that must be there first.
    pub permission: String,
}

impl<'a> Stack<'a> {
    pub(super) fn s3_event(&mut self, name: &str, index: usize, event: &S3Event, target: &Value) {
        let Some(bucket) = self.event_bucket(event) else {
            return self.refuse(
                &format!("events.{index}.properties.bucketArn"),
                "only a bucket of the same stack can start a function",
                Some("write $ResourceParam('bucketName', 'arn'), or use an event-bus event with the other bucket's events"),
            );
        };
        let source = self.param(bucket, "arn", Tie::Loose);
        let id = event_id(name, index, "Permission");
        self.add(
            id,
            "AWS::Lambda::Permission",
            json!({
                "Action": "lambda:InvokeFunction",
                "FunctionName": target,
                "Principal": "s3.amazonaws.com",
                "SourceArn": source,
                "SourceAccount": { "Ref": "AWS::AccountId" },
            }),
        );
    }

    fn event_bucket<'e>(&self, event: &'e S3Event) -> Option<&'e str> {
        match event.bucket_arn.runtime()? {
            Runtime::ResourceParam { resource, param } if param == "arn" => {
                let kind = self.find(resource)?;
                let is_bucket = matches!(
                    kind,
                    ResourceKind::Bucket(_) | ResourceKind::HostingBucket(_)
                );
                is_bucket.then_some(resource.as_str())
            }
            _ => None,
        }
    }

    /// Every function that a bucket notifies.
    pub fn notified_by(&self, bucket: &str) -> Vec<Notified<'a>> {
        let mut notified = Vec::new();
        for (name, kind) in self.each() {
            let (events, target) = match kind {
                ResourceKind::Function(it) => (&it.events, self.function_target(name)),
                ResourceKind::BatchJob(it) => (&it.events, self.trigger_target(name)),
                _ => continue,
            };
            for (index, event) in events.iter().enumerate() {
                if let Event::S3(event) = event
                    && self.event_bucket(event) == Some(bucket)
                {
                    notified.push(Notified {
                        event,
                        target: target.clone(),
                        permission: event_id(name, index, "Permission"),
                    });
                }
            }
        }
        notified
    }
}
