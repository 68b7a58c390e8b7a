//! What state a stack is in before anything is done to it: absent, free, busy, stuck.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_ports::aws::{
    ChangeSetKind, ChangeSetSummary, Stack, StackEventsRequest, StackResource,
};

use crate::access::Access;
use crate::fault::{Fault, FaultKind};
use crate::owner::{CHANGE_SET_PREFIX, require_own};
use crate::plan::Base;
use crate::status::{is_busy, is_failed};
use crate::stuck::{self, Stuck};

/// A stack as it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Situation {
    /// Its name.
    pub stack_name: String,
    /// The stack, where there is one.
    pub stack: Option<Stack>,
    /// Whether a stack that holds only change sets would be Windlass's to remove: there is none
    /// yet, or all its change sets are Windlass's.
    pub owns_review: bool,
}

impl Situation {
    /// Looks.
    pub async fn find(access: &Access, stack_name: &str) -> Result<Self, Fault> {
        let cloud = &access.cloud;
        let stack = cloud.describe_stack(&access.target, stack_name).await?;
        let stack = stack.filter(|stack| stack.stack_status != "DELETE_COMPLETE");
        let owns_review = match &stack {
            None => true,
            Some(stack) if stack.stack_status == "REVIEW_IN_PROGRESS" => {
                let sets = cloud
                    .list_change_sets(&access.target, &stack.stack_id)
                    .await?;
                let mut own = sets.iter().filter(|set| is_of(set, stack)).peekable();
                own.peek().is_some()
                    && own.all(|set| set.change_set_name.starts_with(CHANGE_SET_PREFIX))
            }
            Some(_) => false,
        };
        Ok(Self {
            stack_name: stack_name.to_owned(),
            stack,
            owns_review,
        })
    }

    /// What a plan made now starts from.
    pub fn base(&self) -> Base {
        Base::of(self.stack.as_ref())
    }

    /// Whether a change set makes the stack or changes it.
    pub fn kind(&self) -> ChangeSetKind {
        match self.base() {
            Base::Absent => ChangeSetKind::Create,
            Base::Present { .. } => ChangeSetKind::Update,
        }
    }

    /// Refuses a deployment that cannot work: a stack that is not ours, a busy or a stuck one.
    pub async fn require_deployable(&self, access: &Access) -> Result<(), Fault> {
        let Some(stack) = &self.stack else {
            return Ok(());
        };
        let status = stack.stack_status.as_str();
        if status == "REVIEW_IN_PROGRESS" {
            return if self.owns_review {
                Ok(())
            } else {
                Err(stuck::fault(stack, &[]))
            };
        }
        require_own(stack)?;
        self.require_free(access).await?;
        // What failed with rollback disabled may be deployed to again.
        if matches!(
            status,
            "ROLLBACK_COMPLETE" | "ROLLBACK_FAILED" | "DELETE_FAILED" | "UPDATE_ROLLBACK_FAILED"
        ) {
            let blockers = blockers(access, &stack.stack_id).await?;
            return Err(stuck::fault(stack, &blockers));
        }
        if status == "CREATE_FAILED" {
            // CloudFormation takes no change set of type UPDATE for it.
            return Err(stuck::fault(stack, &[]));
        }
        Ok(())
    }

    /// Refuses while another operation is in progress, and says which.
    pub async fn require_free(&self, access: &Access) -> Result<(), Fault> {
        let Some(stack) = &self.stack else {
            return Ok(());
        };
        let status = stack.stack_status.as_str();
        if !is_busy(status) {
            return Ok(());
        }
        let request = StackEventsRequest {
            stack: stack.stack_id.clone(),
            after_event_id: None,
            limit: Some(1),
        };
        // Who is at work is worth knowing, not worth failing for.
        let newest = access
            .cloud
            .stack_events(&access.target, request)
            .await
            .ok()
            .and_then(|events| events.into_iter().next());
        let token = newest.and_then(|event| event.client_request_token);
        let by = match &token {
            Some(token) => format!(" by the operation {token}"),
            None => String::new(),
        };
        let message = format!(
            "the stack {} is busy: it is in {status}{by}",
            self.stack_name
        );
        Err(Fault::new(FaultKind::Validation, "stack_busy", message)
            .with("stackName", self.stack_name.as_str())
            .with("status", status)
            .with("operation", token.map_or(Value::Null, Value::from))
            .next("wait until it has ended; `windlass stack info operations` shows it"))
    }

    /// What is stuck and how to continue; `None` for a stack that is not.
    pub async fn stuck(&self, access: &Access) -> Result<Option<Stuck>, Fault> {
        let Some(stack) = &self.stack else {
            return Ok(None);
        };
        if !stuck::is_stuck(&stack.stack_status) {
            return Ok(None);
        }
        let blockers = blockers(access, &stack.stack_id).await?;
        Ok(stuck::explain(
            &stack.stack_name,
            &stack.stack_status,
            &blockers,
        ))
    }
}

/// Whether a change set is of this stack: emulators list those of others and of deleted stacks of
/// the same name, too.
pub(crate) fn is_of(set: &ChangeSetSummary, stack: &Stack) -> bool {
    set.stack_id.is_empty() || set.stack_id == stack.stack_id
}

/// Resources that could not be changed or removed.
pub async fn blockers(access: &Access, stack: &str) -> Result<Vec<StackResource>, Fault> {
    let resources = access.cloud.stack_resources(&access.target, stack).await?;
    Ok(resources
        .into_iter()
        .filter(|resource| is_failed(&resource.resource_status))
        .collect())
}
