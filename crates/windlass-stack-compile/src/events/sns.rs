//! Messages to a topic.

use serde_json::{Value, json};
use windlass_stack_config::model::events::SnsEvent;

use super::event_id;
use crate::stack::Stack;
use crate::text::Tie;

impl Stack<'_> {
    pub(super) fn sns_event(&mut self, name: &str, index: usize, event: &SnsEvent, target: &Value) {
        let topic = match (&event.sns_topic_name, &event.sns_topic_arn) {
            (Some(topic), _) => self.param(topic, "arn", Tie::Firm),
            (None, Some(arn)) => self.text(arn),
            (None, None) => return self.needs_source(index, "snsTopicName or snsTopicArn"),
        };
        let failure = self
            .undelivered(index, event.on_delivery_failure.as_ref())
            .map(|queue| json!({ "deadLetterTargetArn": queue }));
        let filter = event
            .filter_policy
            .as_ref()
            .map(|filter| self.data(filter, Tie::Firm));
        let part = self.add(
            event_id(name, index, "Subscription"),
            "AWS::SNS::Subscription",
            json!({
                "TopicArn": topic,
                "Protocol": "lambda",
                "Endpoint": target,
                "RedrivePolicy": failure,
            }),
        );
        if let Some(filter) = filter {
            part.properties["FilterPolicy"] = filter;
        }
        let id = event_id(name, index, "Permission");
        self.permit(&id, target, "sns.amazonaws.com", Some(topic));
    }
}
