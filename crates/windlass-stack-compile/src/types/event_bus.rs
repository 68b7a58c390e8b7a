//! Event buses and their archives.

use serde_json::json;
use windlass_stack_config::model::messaging::EventBus;

use crate::cf::attribute;
use crate::name::logical;
use crate::stack::Stack;

impl Stack<'_> {
    pub fn event_bus(&mut self, name: &str, it: &EventBus) {
        let source = self.maybe(it.event_source_name.as_ref());
        let id = logical(&[name, "EventBus"]);
        // A partner's bus must have the name of its source.
        let bus_name = match &source {
            Some(source) => source.clone(),
            None => json!(self.physical(name, 256)),
        };
        self.add(
            &id,
            "AWS::Events::EventBus",
            json!({ "Name": bus_name, "EventSourceName": source }),
        );
        if let Some(archive) = it.archivation.as_ref().filter(|archive| archive.enabled) {
            self.add(
                logical(&[name, "Archive"]),
                "AWS::Events::Archive",
                json!({
                    "ArchiveName": self.physical(name, 48),
                    "SourceArn": attribute(&id, "Arn"),
                    "RetentionDays": archive.retention_days,
                }),
            );
        }
    }
}
