//! Words of CloudFormation: what a stack's or a resource's status says.

use serde::{Deserialize, Serialize};

/// Whether something is being done to a stack.
pub fn is_busy(status: &str) -> bool {
    status.ends_with("_IN_PROGRESS") && status != "REVIEW_IN_PROGRESS"
}

/// Whether nothing more happens to a resource or stack by itself.
pub fn is_settled(status: &str) -> bool {
    !status.ends_with("_IN_PROGRESS")
}

/// Whether a status is a failure.
pub fn is_failed(status: &str) -> bool {
    status.ends_with("_FAILED")
}

/// What is done to a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// A change set is executed.
    Deploy,
    /// The stack is deleted.
    Delete,
    /// A failed operation is rolled back.
    Rollback,
}

impl Operation {
    /// Whether a stack's final status means that it worked.
    pub fn succeeded(self, status: &str) -> bool {
        match self {
            Self::Deploy => matches!(status, "CREATE_COMPLETE" | "UPDATE_COMPLETE"),
            Self::Delete => status == "DELETE_COMPLETE",
            Self::Rollback => matches!(status, "ROLLBACK_COMPLETE" | "UPDATE_ROLLBACK_COMPLETE"),
        }
    }

    /// Whether a stack's status can be caused by it.
    pub fn shows_in(self, status: &str) -> bool {
        match self {
            Self::Deploy => !status.starts_with("DELETE") && !status.starts_with("REVIEW"),
            Self::Delete => status.starts_with("DELETE"),
            Self::Rollback => status.contains("ROLLBACK"),
        }
    }

    /// The phase its progress is reported under, given the stack's status.
    pub fn phase(self, status: &str) -> &'static str {
        match self {
            Self::Deploy if status.contains("ROLLBACK") => "rolling-back",
            Self::Deploy if status.starts_with("CREATE") => "creating",
            Self::Deploy => "deploying",
            Self::Delete => "deleting",
            Self::Rollback => "rolling-back",
        }
    }
}
