//! Topics.

use serde_json::json;
use windlass_stack_config::model::messaging::SnsTopic;

use crate::name::logical;
use crate::stack::Stack;

impl Stack<'_> {
    /// A topic's name. AWS wants a FIFO topic's to say so.
    pub fn topic_name(&self, name: &str, topic: &SnsTopic) -> String {
        match topic.fifo_enabled {
            true => format!("{}.fifo", self.physical(name, 251)),
            false => self.physical(name, 256),
        }
    }

    pub fn sns_topic(&mut self, name: &str, it: &SnsTopic) {
        if it.content_based_deduplication && !it.fifo_enabled {
            self.refuse(
                "contentBasedDeduplication",
                "only a FIFO topic has this",
                Some("set fifoEnabled: true"),
            );
        }
        self.add(
            logical(&[name, "Topic"]),
            "AWS::SNS::Topic",
            json!({
                "TopicName": self.topic_name(name, it),
                "DisplayName": it.sms_display_name,
                "FifoTopic": it.fifo_enabled.then_some(true),
                "ContentBasedDeduplication": it.content_based_deduplication.then_some(true),
            }),
        );
    }
}
