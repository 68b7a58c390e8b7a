//! The states a stack and a resource can be in, and what each allows.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackStatus {
    ReviewInProgress,
    CreateInProgress,
    CreateFailed,
    CreateComplete,
    RollbackInProgress,
    RollbackFailed,
    RollbackComplete,
    DeleteInProgress,
    DeleteFailed,
    DeleteComplete,
    UpdateInProgress,
    UpdateCompleteCleanupInProgress,
    UpdateComplete,
    UpdateFailed,
    UpdateRollbackInProgress,
    UpdateRollbackFailed,
    UpdateRollbackCompleteCleanupInProgress,
    UpdateRollbackComplete,
}

impl StackStatus {
    pub fn name(self) -> &'static str {
        match self {
            StackStatus::ReviewInProgress => "REVIEW_IN_PROGRESS",
            StackStatus::CreateInProgress => "CREATE_IN_PROGRESS",
            StackStatus::CreateFailed => "CREATE_FAILED",
            StackStatus::CreateComplete => "CREATE_COMPLETE",
            StackStatus::RollbackInProgress => "ROLLBACK_IN_PROGRESS",
            StackStatus::RollbackFailed => "ROLLBACK_FAILED",
            StackStatus::RollbackComplete => "ROLLBACK_COMPLETE",
            StackStatus::DeleteInProgress => "DELETE_IN_PROGRESS",
            StackStatus::DeleteFailed => "DELETE_FAILED",
            StackStatus::DeleteComplete => "DELETE_COMPLETE",
            StackStatus::UpdateInProgress => "UPDATE_IN_PROGRESS",
            StackStatus::UpdateCompleteCleanupInProgress => "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
            StackStatus::UpdateComplete => "UPDATE_COMPLETE",
            StackStatus::UpdateFailed => "UPDATE_FAILED",
            StackStatus::UpdateRollbackInProgress => "UPDATE_ROLLBACK_IN_PROGRESS",
            StackStatus::UpdateRollbackFailed => "UPDATE_ROLLBACK_FAILED",
            StackStatus::UpdateRollbackCompleteCleanupInProgress => {
                "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS"
            }
            StackStatus::UpdateRollbackComplete => "UPDATE_ROLLBACK_COMPLETE",
        }
    }

    /// Whether an update may start from here.
    pub fn allows_update(self) -> bool {
        matches!(
            self,
            StackStatus::CreateComplete
                | StackStatus::CreateFailed
                | StackStatus::UpdateComplete
                | StackStatus::UpdateFailed
                | StackStatus::UpdateRollbackComplete
        )
    }

    /// Whether work is in progress that a deletion has to wait for.
    pub fn is_busy(self) -> bool {
        self != StackStatus::ReviewInProgress && self.name().ends_with("_IN_PROGRESS")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceStatus {
    CreateInProgress,
    CreateFailed,
    CreateComplete,
    UpdateInProgress,
    UpdateFailed,
    UpdateComplete,
    DeleteInProgress,
    DeleteFailed,
    DeleteComplete,
    DeleteSkipped,
}

impl ResourceStatus {
    pub fn name(self) -> &'static str {
        match self {
            ResourceStatus::CreateInProgress => "CREATE_IN_PROGRESS",
            ResourceStatus::CreateFailed => "CREATE_FAILED",
            ResourceStatus::CreateComplete => "CREATE_COMPLETE",
            ResourceStatus::UpdateInProgress => "UPDATE_IN_PROGRESS",
            ResourceStatus::UpdateFailed => "UPDATE_FAILED",
            ResourceStatus::UpdateComplete => "UPDATE_COMPLETE",
            ResourceStatus::DeleteInProgress => "DELETE_IN_PROGRESS",
            ResourceStatus::DeleteFailed => "DELETE_FAILED",
            ResourceStatus::DeleteComplete => "DELETE_COMPLETE",
            ResourceStatus::DeleteSkipped => "DELETE_SKIPPED",
        }
    }

    /// The resource is as its template says.
    pub fn is_settled(self) -> bool {
        matches!(
            self,
            ResourceStatus::CreateComplete | ResourceStatus::UpdateComplete
        )
    }

    pub fn is_gone(self) -> bool {
        matches!(
            self,
            ResourceStatus::DeleteComplete | ResourceStatus::DeleteSkipped
        )
    }
}
