//! A stack just before an operation on it, and what its status says about the operation since.
//!
//! Events tell the story of an operation; whether it has begun and ended, the stack itself says.
//! Emulators of AWS have no client tokens in their events, some have no events at all, so nothing
//! here needs one. Pure, except for [`StackMark::of`].

use serde::{Deserialize, Serialize};
use windlass_ports::aws::Stack;
use windlass_types::Timestamp;

use crate::access::Access;
use crate::fault::Fault;
use crate::follow::Trail;
use crate::status::{Operation, is_busy, is_settled};

/// What of a stack changes when an operation begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StackMark {
    /// Its status.
    pub status: String,
    /// The change set that was executed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_set_id: Option<String>,
    /// When it was last updated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// When its deletion began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
}

impl From<&Stack> for StackMark {
    fn from(stack: &Stack) -> Self {
        Self {
            status: stack.stack_status.clone(),
            change_set_id: stack.change_set_id.clone(),
            updated_at: stack.last_updated_time,
            deleted_at: stack.deletion_time,
        }
    }
}

impl StackMark {
    /// The mark of a stack as it is now; `None` where there is no such stack.
    pub async fn of(access: &Access, stack_id: &str) -> Result<Option<Self>, Fault> {
        let stack = access
            .cloud
            .describe_stack(&access.target, stack_id)
            .await?;
        Ok(stack.as_ref().map(Self::from))
    }
}

/// What a stack's status says about an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has not begun, as far as can be seen.
    Unbegun,
    /// The stack is in this status because of it.
    Running(String),
    /// It ended with this status.
    Ended(String),
    /// There is no such stack any more, or another one has its name.
    Gone,
}

/// Decides.
pub fn judge(trail: &Trail, found: Option<&Stack>) -> Verdict {
    let same = |stack: &&Stack| stack.stack_id.is_empty() || stack.stack_id == trail.stack_id;
    let Some(stack) = found.filter(same) else {
        return match trail.operation {
            Operation::Delete => Verdict::Ended("DELETE_COMPLETE".to_owned()),
            Operation::Deploy | Operation::Rollback => Verdict::Gone,
        };
    };
    let status = stack.stack_status.as_str();
    if is_busy(status) {
        return if trail.is_started || trail.operation.shows_in(status) {
            Verdict::Running(status.to_owned())
        } else {
            Verdict::Unbegun
        };
    }
    let is_deleted = status == "DELETE_COMPLETE";
    if is_settled(status) && (trail.is_started || is_deleted || has_changed(trail, stack)) {
        return Verdict::Ended(status.to_owned());
    }
    Verdict::Unbegun
}

/// Whether the stack is another than before the operation.
fn has_changed(trail: &Trail, stack: &Stack) -> bool {
    let now = StackMark::from(stack);
    trail.before.as_ref().is_some_and(|before| *before != now)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACK: &str = "arn:aws:cloudformation:eu-west-1:1:stack/shop-dev/1";

    fn stack(status: &str) -> Stack {
        Stack {
            stack_id: STACK.to_owned(),
            stack_name: "shop-dev".to_owned(),
            stack_status: status.to_owned(),
            ..Stack::default()
        }
    }

    fn trail(operation: Operation, before: &str) -> Trail {
        Trail {
            before: Some(StackMark::from(&stack(before))),
            ..Trail::new(STACK, "run-1", operation, [], None)
        }
    }

    #[test]
    fn the_status_says_whether_an_operation_has_begun_and_ended() {
        use Operation::{Delete, Deploy, Rollback};
        let ended = |status: &str| Verdict::Ended(status.to_owned());
        let running = |status: &str| Verdict::Running(status.to_owned());
        let cases = [
            (
                Deploy,
                "REVIEW_IN_PROGRESS",
                "REVIEW_IN_PROGRESS",
                Verdict::Unbegun,
            ),
            (
                Deploy,
                "REVIEW_IN_PROGRESS",
                "CREATE_IN_PROGRESS",
                running("CREATE_IN_PROGRESS"),
            ),
            (
                Deploy,
                "REVIEW_IN_PROGRESS",
                "CREATE_COMPLETE",
                ended("CREATE_COMPLETE"),
            ),
            (
                Deploy,
                "REVIEW_IN_PROGRESS",
                "CREATE_FAILED",
                ended("CREATE_FAILED"),
            ),
            (
                Deploy,
                "REVIEW_IN_PROGRESS",
                "ROLLBACK_COMPLETE",
                ended("ROLLBACK_COMPLETE"),
            ),
            (
                Deploy,
                "CREATE_COMPLETE",
                "CREATE_COMPLETE",
                Verdict::Unbegun,
            ),
            (
                Deploy,
                "CREATE_COMPLETE",
                "UPDATE_COMPLETE",
                ended("UPDATE_COMPLETE"),
            ),
            (
                Deploy,
                "UPDATE_COMPLETE",
                "UPDATE_COMPLETE",
                Verdict::Unbegun,
            ),
            (
                Deploy,
                "UPDATE_COMPLETE",
                "DELETE_IN_PROGRESS",
                Verdict::Unbegun,
            ),
            (
                Deploy,
                "UPDATE_COMPLETE",
                "DELETE_COMPLETE",
                ended("DELETE_COMPLETE"),
            ),
            (
                Delete,
                "UPDATE_COMPLETE",
                "UPDATE_IN_PROGRESS",
                Verdict::Unbegun,
            ),
            (
                Delete,
                "UPDATE_COMPLETE",
                "DELETE_IN_PROGRESS",
                running("DELETE_IN_PROGRESS"),
            ),
            (
                Delete,
                "UPDATE_COMPLETE",
                "DELETE_FAILED",
                ended("DELETE_FAILED"),
            ),
            (Delete, "DELETE_FAILED", "DELETE_FAILED", Verdict::Unbegun),
            (Rollback, "UPDATE_FAILED", "UPDATE_FAILED", Verdict::Unbegun),
            (
                Rollback,
                "UPDATE_FAILED",
                "UPDATE_ROLLBACK_IN_PROGRESS",
                running("UPDATE_ROLLBACK_IN_PROGRESS"),
            ),
            (
                Rollback,
                "UPDATE_FAILED",
                "UPDATE_ROLLBACK_COMPLETE",
                ended("UPDATE_ROLLBACK_COMPLETE"),
            ),
        ];
        for (operation, before, now, verdict) in cases {
            let found = stack(now);
            assert_eq!(
                judge(&trail(operation, before), Some(&found)),
                verdict,
                "{operation:?}: {before} -> {now}"
            );
        }
    }

    #[test]
    fn an_update_that_ends_where_it_began_shows_in_its_time_or_change_set() {
        let trail = trail(Operation::Deploy, "UPDATE_COMPLETE");
        let later = Stack {
            last_updated_time: Some(Timestamp::from_millis(5)),
            ..stack("UPDATE_COMPLETE")
        };
        let other_set = Stack {
            change_set_id: Some("set".to_owned()),
            ..stack("UPDATE_COMPLETE")
        };
        for found in [later, other_set] {
            let verdict = judge(&trail, Some(&found));
            assert_eq!(verdict, Verdict::Ended("UPDATE_COMPLETE".to_owned()));
        }
    }

    #[test]
    fn another_stack_of_the_name_is_not_the_one_that_was_changed() {
        let found = Stack {
            stack_id: format!("{STACK}-later"),
            ..stack("CREATE_COMPLETE")
        };
        for (operation, verdict) in [
            (Operation::Deploy, Verdict::Gone),
            (
                Operation::Delete,
                Verdict::Ended("DELETE_COMPLETE".to_owned()),
            ),
        ] {
            let trail = trail(operation, "UPDATE_COMPLETE");
            assert_eq!(judge(&trail, Some(&found)), verdict);
            assert_eq!(judge(&trail, None), verdict);
        }
    }
}
