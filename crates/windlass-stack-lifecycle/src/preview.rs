//! Preview: what a deployment would do, asked of CloudFormation and forgotten by it again.
//!
//! `intend` says what will be left to clean up before anything is made; `inspect` makes the
//! change set and reads it; `clean` removes it, and the stack that only held it. Cleaning works
//! from the intent alone, so the next start after a crash can do it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_ports::aws::{
    ChangeSet, ChangeSetAddress, ChangeSetKind, DeleteStack, StackCall, TemplateStage,
};
use windlass_secrets::Redactor;
use windlass_types::Timestamp;

use crate::access::{Access, Pacing, Pause};
use crate::assets::{AssetStore, TemplatePlace, place_template};
use crate::change::{Normaliser, additions, masked_raw};
use crate::change_set::{self, Made};
use crate::drift::{self, Drift};
use crate::fault::{Fault, FaultKind};
use crate::plan::{Base, Plan};
use crate::proposal::Proposal;
use crate::recreate::deletion_first;
use crate::situation::{Situation, is_of};
use crate::stuck::{self, Stuck};

/// Where the changes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// CloudFormation computed them.
    ChangeSet,
    /// They were read from the template: everything is made, perhaps in the place of a failed
    /// stack.
    Local,
}

/// What a preview will make, recorded before it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreviewIntent {
    /// The stack.
    pub stack_name: String,
    /// The change set.
    pub change_set_name: String,
    /// Whether a stack that holds nothing but change sets of Windlass goes with the last one.
    pub removes_review_stack: bool,
}

/// What a preview will leave to clean up.
pub fn intend(situation: &Situation, change_set_name: &str) -> PreviewIntent {
    PreviewIntent {
        stack_name: situation.stack_name.clone(),
        change_set_name: change_set_name.to_owned(),
        removes_review_stack: situation.owns_review,
    }
}

/// What was found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// Whether the stack would be made.
    pub is_new_stack: bool,
    /// Where the changes come from.
    pub source: Source,
    /// As CloudFormation described them, values masked.
    pub changes: Vec<Value>,
    /// The plan.
    pub plan: Plan,
    /// Drift, where it was asked for and there is a stack.
    pub drift: Option<Drift>,
    /// Why the stack is deleted first, where it is recreated.
    #[serde(default)]
    pub stuck: Option<Stuck>,
}

impl Preview {
    /// `data` of the operation, without what the engine adds (token, secrets, cost).
    pub fn data(&self) -> Value {
        let plan = &self.plan;
        let mut data = json!({
            "stackName": plan.stack_name,
            "isNewStack": self.is_new_stack,
            "recreate": plan.recreate.is_some(),
            "noChanges": plan.no_changes,
            "source": self.source,
            "changes": self.changes,
            "resourceChanges": plan.changes,
            "counts": plan.counts(),
            "statefulChanges": plan.stateful(),
            "drift": self.drift,
            "planDigest": plan.digest().to_string(),
        });
        if let Some(stuck) = &self.stuck {
            data["stuck"] = json!(stuck);
        }
        data
    }
}

/// Whether drift is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriftWish {
    /// It is.
    Detect,
    /// It is not.
    Skip,
}

/// What is previewed, and with what.
#[derive(Clone, Copy)]
pub struct PreviewRequest<'a> {
    /// What would be deployed.
    pub proposal: &'a Proposal,
    /// The stack as it was found.
    pub situation: &'a Situation,
    /// What is recorded to be cleaned up.
    pub intent: &'a PreviewIntent,
    /// Where a large template goes, if it exists.
    pub store: &'a AssetStore,
    /// Whether drift is looked for.
    pub drift: DriftWish,
    /// Knows secrets.
    pub redactor: &'a Redactor,
}

/// What cleaning up may take after the deadline: running out of time leaves nothing behind.
const GRACE: Duration = Duration::from_secs(60);

/// Makes the change set and reads it. Leaves it behind for `clean`.
pub async fn inspect(
    access: &Access,
    request: PreviewRequest<'_>,
    deadline: Timestamp,
) -> Result<Preview, Fault> {
    let PreviewRequest {
        proposal,
        situation,
        redactor,
        ..
    } = request;
    if let Some(failed) = deletion_first(access, situation, &proposal.names).await? {
        return Ok(Preview {
            is_new_stack: true,
            source: Source::Local,
            changes: Vec::new(),
            stuck: stuck::explain(&failed.stack_name, &failed.status, &[]),
            plan: Plan::recreating(proposal, failed),
            drift: None,
        });
    }
    situation.require_deployable(access).await?;
    let drift = match (&situation.stack, request.drift) {
        (Some(stack), DriftWish::Detect) if situation.kind() == ChangeSetKind::Update => {
            Some(drift::detect(access, &stack.stack_id, redactor, deadline).await?)
        }
        _ => None,
    };
    let is_new_stack = situation.base() == Base::Absent;
    let template = match place_template(access, request.store, proposal).await? {
        TemplatePlace::At(template) => template,
        TemplatePlace::Nowhere if is_new_stack => {
            let changes = additions(&proposal.template, &proposal.names);
            return Ok(Preview {
                is_new_stack,
                source: Source::Local,
                changes: Vec::new(),
                plan: Plan::new(proposal, Base::Absent, changes, false),
                drift,
                stuck: None,
            });
        }
        TemplatePlace::Nowhere => return Err(no_store(proposal, request.store)),
    };
    let made = change_set::make(
        access,
        proposal,
        &request.intent.change_set_name,
        situation.kind(),
        &template,
        deadline,
    )
    .await?;
    let plan = planned(access, proposal, situation, &made, redactor).await?;
    Ok(Preview {
        is_new_stack,
        source: Source::ChangeSet,
        changes: raw(made.set(), redactor),
        plan,
        drift,
        stuck: None,
    })
}

fn no_store(proposal: &Proposal, store: &AssetStore) -> Fault {
    let message = format!(
        "the template of {} is too large to be sent inline, and the asset bucket {} does not exist",
        proposal.stack_name, store.bucket
    );
    Fault::new(FaultKind::Validation, "asset_store_missing", message)
        .with("bucket", store.bucket.as_str())
        .next("deploy: it creates the asset bucket and shows the same plan before anything changes")
}

fn raw(set: &ChangeSet, redactor: &Redactor) -> Vec<Value> {
    set.changes
        .iter()
        .map(|change| masked_raw(change, redactor))
        .collect()
}

/// The plan of a change set; a deployment makes it the same way and compares.
pub async fn planned(
    access: &Access,
    proposal: &Proposal,
    situation: &Situation,
    made: &Made,
    redactor: &Redactor,
) -> Result<Plan, Fault> {
    let set = made.set();
    // Only removals without CloudFormation's own word need what the stack has now.
    let needs_before = set
        .changes
        .iter()
        .any(|change| change.action == "Remove" && change.policy_action.is_none());
    let before = match &situation.stack {
        Some(stack) if needs_before => {
            let text = access
                .cloud
                .get_template(&access.target, &stack.stack_id, TemplateStage::Original)
                .await?;
            serde_json::from_str::<Value>(&text).ok()
        }
        _ => None,
    };
    let normaliser = Normaliser {
        names: &proposal.names,
        template: &proposal.template,
        before: before.as_ref(),
        redactor,
    };
    let changes = normaliser.all(&set.changes);
    let no_changes = matches!(made, Made::Empty(_));
    Ok(Plan::new(proposal, situation.base(), changes, no_changes))
}

/// Removes what a preview made. What is gone is removed; repeating does no harm.
pub async fn clean(
    access: &Access,
    intent: &PreviewIntent,
    deadline: Timestamp,
) -> Result<(), Fault> {
    let cloud = &access.cloud;
    let target = &access.target;
    let stack = access
        .patiently(deadline, || {
            cloud.describe_stack(target, &intent.stack_name)
        })
        .await?;
    let Some(stack) = stack else {
        return Ok(());
    };
    if stack.stack_status == "REVIEW_IN_PROGRESS" && intent.removes_review_stack {
        let sets = access
            .patiently(deadline, || cloud.list_change_sets(target, &stack.stack_id))
            .await?;
        let others = sets
            .iter()
            .any(|set| is_of(set, &stack) && set.change_set_name != intent.change_set_name);
        // Its change sets go with the stack: one call, so no crash leaves a stack behind whose
        // owner is unknown. Another preview's change set keeps it.
        if !others {
            let request = DeleteStack {
                call: StackCall::new(&stack.stack_id, &intent.change_set_name),
                retain_resources: Vec::new(),
            };
            access
                .patiently(deadline, || cloud.delete_stack(target, request.clone()))
                .await?;
            return gone(access, &stack.stack_id, deadline).await;
        }
    }
    let address = ChangeSetAddress {
        stack: stack.stack_id,
        change_set: intent.change_set_name.clone(),
    };
    change_set::discard(access, &address, deadline).await
}

async fn gone(access: &Access, stack_id: &str, deadline: Timestamp) -> Result<(), Fault> {
    let mut pacing = Pacing::default();
    loop {
        let found = access
            .patiently(deadline, || {
                access.cloud.describe_stack(&access.target, stack_id)
            })
            .await?;
        match found.map(|stack| stack.stack_status).as_deref() {
            None | Some("DELETE_COMPLETE") => return Ok(()),
            Some(_) => {}
        }
        if access.pause(&mut pacing, deadline).await == Pause::TooLate {
            return Err(Fault::timeout(format!(
                "the empty stack {stack_id} of the preview is not deleted yet"
            ))
            .with("stackId", stack_id));
        }
    }
}

/// Inspects and cleans, whatever comes of the inspection.
pub async fn run(
    access: &Access,
    request: PreviewRequest<'_>,
    deadline: Timestamp,
) -> Result<Preview, Fault> {
    let inspected = inspect(access, request, deadline).await;
    let limit = access.clock.now().max(deadline).after(GRACE);
    let cleaned = clean(access, request.intent, limit).await;
    let preview = inspected?;
    cleaned?;
    Ok(preview)
}
