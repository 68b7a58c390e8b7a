//! Lines in a log group.

use serde_json::{Value, json};
use windlass_stack_config::model::events::CloudwatchLogEvent;

use super::event_id;
use crate::stack::Stack;

impl Stack<'_> {
    pub(super) fn log_event(
        &mut self,
        name: &str,
        index: usize,
        event: &CloudwatchLogEvent,
        target: &Value,
    ) {
        let arn = self.text(&event.log_group_arn);
        let group = match arn.as_str() {
            Some(arn) => match arn.split(':').nth(6) {
                Some(group) => json!(group),
                None => {
                    return self.refuse(
                        &format!("events.{index}.properties.logGroupArn"),
                        format!("\"{arn}\" is not an ARN of a log group"),
                        Some("such as arn:aws:logs:eu-west-1:123456789012:log-group:/my/group"),
                    );
                }
            },
            None => json!({ "Fn::Select": [6, { "Fn::Split": [":", arn] }] }),
        };
        let permission = event_id(name, index, "Permission");
        self.permit(&permission, target, "logs.amazonaws.com", Some(arn));
        self.add(
            event_id(name, index, "SubscriptionFilter"),
            "AWS::Logs::SubscriptionFilter",
            json!({
                "LogGroupName": group,
                "DestinationArn": target,
                "FilterPattern": event.filter.as_deref().unwrap_or_default(),
            }),
        )
        .after(permission);
    }
}
