//! Whose stack it is. Only stacks Windlass made are changed.

use serde::{Deserialize, Serialize};
use windlass_ports::aws::Stack;

use crate::fault::{Fault, FaultKind};

/// What the names of Windlass's change sets begin with.
pub const CHANGE_SET_PREFIX: &str = "windlass-";

/// Who made a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    /// Windlass.
    Windlass,
    /// Stacktape.
    Stacktape,
    /// Another tool or person.
    Other,
}

impl Owner {
    /// By the template's description and the stack's tags.
    pub fn of(stack: &Stack) -> Self {
        let description = stack.description.as_deref().unwrap_or_default();
        let tagged = |prefix: &str| stack.tags.iter().any(|tag| tag.key.starts_with(prefix));
        if tagged("windlass:stack") || description.starts_with("windlass-stack ") {
            Self::Windlass
        } else if tagged("stp:") || description.starts_with("STP-stack_") {
            Self::Stacktape
        } else {
            Self::Other
        }
    }
}

/// Refuses to change a stack that Windlass does not own.
pub fn require_own(stack: &Stack) -> Result<(), Fault> {
    let made_by = match Owner::of(stack) {
        Owner::Windlass => return Ok(()),
        Owner::Stacktape => "was created by Stacktape",
        Owner::Other => "was not created by Windlass",
    };
    let message = format!(
        "the stack {} {made_by}, so Windlass does not change it",
        stack.stack_name
    );
    Err(Fault::new(FaultKind::Validation, "foreign_stack", message)
        .with("stackName", stack.stack_name.as_str())
        .with("stackId", stack.stack_id.as_str())
        .next("use another projectName or stage; reading the stack works as it is"))
}

#[cfg(test)]
mod tests {
    use windlass_ports::aws::StackTag;

    use super::*;

    #[test]
    fn owners_are_recognised_by_tags_and_description() {
        let cases = [
            (None, Some("windlass:stack"), Owner::Windlass),
            (Some("windlass-stack shop dev"), None, Owner::Windlass),
            (Some("STP-stack_shop_dev_1a2b"), None, Owner::Stacktape),
            (None, Some("stp:stack-name"), Owner::Stacktape),
            (Some("the shop"), Some("team"), Owner::Other),
            (None, None, Owner::Other),
        ];
        for (description, tag, owner) in cases {
            let stack = Stack {
                description: description.map(str::to_owned),
                tags: tag
                    .map(|key| StackTag {
                        key: key.to_owned(),
                        value: "x".to_owned(),
                    })
                    .into_iter()
                    .collect(),
                ..Stack::default()
            };
            assert_eq!(Owner::of(&stack), owner, "{description:?} {tag:?}");
            assert_eq!(require_own(&stack).is_ok(), owner == Owner::Windlass);
        }
    }
}
