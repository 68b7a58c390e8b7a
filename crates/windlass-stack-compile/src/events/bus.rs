//! Rules of event buses: schedules, patterns, alarms that change their state.

use serde_json::{Value, json};
use windlass_stack_config::Data;
use windlass_stack_config::model::events::{
    CloudwatchAlarmEvent, DeliveryFailure, EventBusEvent, InputTransformer, ScheduleEvent,
};

use super::event_id;
use super::streams::arn_of;
use crate::cf::reference;
use crate::name::logical;
use crate::stack::Stack;
use crate::text::Tie;

impl Stack<'_> {
    pub(super) fn schedule_event(
        &mut self,
        name: &str,
        index: usize,
        event: &ScheduleEvent,
        target: &Value,
    ) {
        let mut entry = json!({ "Id": "target", "Arn": target });
        self.rule_input(
            &mut entry,
            event.input.as_ref(),
            event.input_path.as_deref(),
            event.input_transformer.as_ref(),
        );
        let rule = event_id(name, index, "Rule");
        self.add(
            &rule,
            "AWS::Events::Rule",
            json!({ "ScheduleExpression": event.schedule_rate.trim(), "Targets": [entry] }),
        );
        self.permit_rule(name, index, &rule, target);
    }

    pub(super) fn bus_event(
        &mut self,
        name: &str,
        index: usize,
        event: &EventBusEvent,
        target: &Value,
    ) {
        let rule = self.bus_rule(name, index, event, target);
        self.permit_rule(name, index, &rule, target);
    }

    pub(super) fn alarm_event(
        &mut self,
        name: &str,
        index: usize,
        event: &CloudwatchAlarmEvent,
        target: &Value,
    ) {
        let alarm = self.text(&event.alarm_name);
        let rule = event_id(name, index, "Rule");
        self.add(
            &rule,
            "AWS::Events::Rule",
            json!({
                "EventPattern": {
                    "source": ["aws.cloudwatch"],
                    "detail-type": ["CloudWatch Alarm State Change"],
                    "detail": { "alarmName": [alarm] },
                },
                "Targets": [{ "Id": "target", "Arn": target }],
            }),
        );
        self.permit_rule(name, index, &rule, target);
    }

    /// A rule that sends events of a bus to a target; returns the rule's id.
    pub fn bus_rule(
        &mut self,
        name: &str,
        index: usize,
        event: &EventBusEvent,
        target: &Value,
    ) -> String {
        let bus = match (&event.event_bus_name, &event.event_bus_arn) {
            (Some(bus), _) => Some(reference(&logical(&[bus, "EventBus"]))),
            (None, Some(arn)) => Some(self.text(arn)),
            (None, None) => None,
        };
        if bus.is_none() && !event.use_default_bus {
            self.needs_source(index, "eventBusName, eventBusArn or useDefaultBus");
        }
        let mut entry = json!({ "Id": "target", "Arn": target });
        if let Some(failure) = self.undelivered(index, event.on_delivery_failure.as_ref()) {
            entry["DeadLetterConfig"] = json!({ "Arn": failure });
        }
        self.rule_input(
            &mut entry,
            event.input.as_ref(),
            event.input_path.as_deref(),
            event.input_transformer.as_ref(),
        );
        let pattern = self.data_map(&event.event_pattern, Tie::Firm);
        let rule = event_id(name, index, "Rule");
        let part = self.add(
            &rule,
            "AWS::Events::Rule",
            json!({ "EventBusName": bus, "Targets": [entry] }),
        );
        // Patterns may look for null, which is not the same as nothing.
        part.properties["EventPattern"] = pattern;
        rule
    }

    /// The queue for what could not be delivered. Queues of this stack allow it themselves.
    pub(super) fn undelivered(
        &mut self,
        index: usize,
        failure: Option<&DeliveryFailure>,
    ) -> Option<Value> {
        let failure = failure?;
        match (&failure.sqs_queue_name, &failure.sqs_queue_arn) {
            (Some(queue), _) => Some(self.param(queue, "arn", Tie::Firm)),
            (None, Some(arn)) => {
                self.warn(
                    &format!("events.{index}.properties.onDeliveryFailure"),
                    "the queue is not of this stack: its own policy must allow the delivery",
                );
                Some(self.text(arn))
            }
            (None, None) => {
                self.refuse(
                    &format!("events.{index}.properties.onDeliveryFailure"),
                    "one of sqsQueueName and sqsQueueArn is needed",
                    None,
                );
                None
            }
        }
    }

    fn rule_input(
        &mut self,
        entry: &mut Value,
        input: Option<&Data>,
        path: Option<&str>,
        transformer: Option<&InputTransformer>,
    ) {
        if let Some(input) = input {
            entry["Input"] = self.json_text(input, Tie::Firm);
        }
        if let Some(path) = path {
            entry["InputPath"] = json!(path);
        }
        if let Some(transformer) = transformer {
            let template = match &transformer.input_template {
                Data::String(text) => json!(text),
                other => self.json_text(other, Tie::Firm),
            };
            entry["InputTransformer"] = json!({ "InputTemplate": template });
            if let Some(paths) = &transformer.input_paths_map {
                entry["InputTransformer"]["InputPathsMap"] = json!(paths);
            }
        }
    }

    fn permit_rule(&mut self, name: &str, index: usize, rule: &str, target: &Value) {
        let id = event_id(name, index, "Permission");
        self.permit(&id, target, "events.amazonaws.com", Some(arn_of(rule)));
    }
}
