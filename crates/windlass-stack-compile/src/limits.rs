//! CloudFormation's limits: resources, outputs, bytes.

use serde_json::Value;

use crate::stack::Stack;

/// The most resources a template can have.
const RESOURCES: usize = 500;
/// From here on there is a warning.
const RESOURCES_SOON: usize = 470;
/// The most bytes of a template that is sent with the call.
pub const INLINE_BYTES: usize = 51_200;
/// The most bytes of a template that is read from a bucket.
pub const TEMPLATE_BYTES: usize = 1_000_000;

impl Stack<'_> {
    pub fn check_limits(&mut self, template: &Value) {
        let count = template["Resources"].as_object().map_or(0, |it| it.len());
        if count == 0 && self.refusals.is_empty() {
            self.refuse(
                "resources",
                "the stack has no resources",
                Some("CloudFormation needs at least one"),
            );
        }
        if count > RESOURCES {
            self.refuse(
                "resources",
                format!("the template has {count} resources; CloudFormation allows {RESOURCES}"),
                Some("split the stack in two"),
            );
        } else if count >= RESOURCES_SOON {
            self.warn(
                "resources",
                format!("the template has {count} of {RESOURCES} resources"),
            );
        }
        let bytes = template.to_string().len();
        if bytes > TEMPLATE_BYTES {
            self.refuse(
                "resources",
                format!("the template has {bytes} bytes; CloudFormation allows {TEMPLATE_BYTES}"),
                Some("split the stack in two"),
            );
        }
    }
}
