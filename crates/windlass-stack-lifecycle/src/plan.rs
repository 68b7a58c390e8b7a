//! The plan of a deployment: what it starts from, what it is made of, what it does; its digest,
//! and the difference between two plans.
//!
//! A preview deletes its change set; the deployment makes a new one from the same inputs and
//! executes it only if its plan is equal to the one that was confirmed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_ports::aws::Stack;
use windlass_types::{Digest, Timestamp};

use crate::change::{Change, Counts, StatefulChange, counts, stateful_changes};
use crate::delete::Deletion;
use crate::fault::{Fault, FaultKind};
use crate::proposal::Proposal;

/// What a plan starts from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum Base {
    /// There is no stack.
    Absent,
    /// The stack as it was last changed.
    #[serde(rename_all = "camelCase")]
    Present {
        /// Its ARN.
        stack_id: String,
        /// When it was last changed.
        last_updated: Option<Timestamp>,
    },
}

impl Base {
    /// The base a stack gives. One that was never more than a change set counts as absent.
    pub fn of(stack: Option<&Stack>) -> Self {
        match stack {
            None => Self::Absent,
            Some(stack) if stack.stack_status == "REVIEW_IN_PROGRESS" => Self::Absent,
            Some(stack) => Self::Present {
                stack_id: stack.stack_id.clone(),
                last_updated: stack.last_updated_time.or(stack.creation_time),
            },
        }
    }
}

/// Everything a confirmation covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The stack.
    pub stack_name: String,
    /// What it starts from.
    pub base: Base,
    /// Of the template, as it is sent.
    pub template_sha256: Digest,
    /// Parameters; those nobody may see are named without their value.
    pub parameters: BTreeMap<String, String>,
    /// Tags.
    pub tags: BTreeMap<String, String>,
    /// Capabilities, sorted.
    pub capabilities: Vec<String>,
    /// The digests of the artifacts by name.
    pub artifacts: BTreeMap<String, String>,
    /// What happens to each resource, by logical id.
    pub changes: Vec<Change>,
    /// Whether CloudFormation found nothing to do. Without resource changes a stack may still
    /// change: outputs, tags.
    pub no_changes: bool,
    /// The failed stack that is deleted first, where the stack is recreated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recreate: Option<Deletion>,
}

/// What stands in a plan for a parameter that may not be seen.
const HIDDEN: &str = "(hidden)";

impl Plan {
    /// The plan of a proposal with the changes that CloudFormation found.
    pub fn new(proposal: &Proposal, base: Base, changes: Vec<Change>, no_changes: bool) -> Self {
        let hidden = proposal.hidden_parameters();
        let parameters = proposal
            .parameters
            .iter()
            .map(|(name, value)| {
                let shown = if hidden.contains(name) { HIDDEN } else { value };
                (name.clone(), shown.to_owned())
            })
            .collect();
        let mut capabilities = proposal.capabilities.clone();
        capabilities.sort();
        capabilities.dedup();
        Self {
            stack_name: proposal.stack_name.clone(),
            base,
            template_sha256: proposal.template_digest(),
            parameters,
            tags: proposal.tags.clone(),
            capabilities,
            artifacts: proposal.artifacts.clone(),
            changes,
            no_changes,
            recreate: None,
        }
    }

    /// Over all of it.
    pub fn digest(&self) -> Digest {
        Digest::of_json(&serde_json::to_value(self).unwrap_or(Value::Null))
    }

    /// How many of each.
    pub fn counts(&self) -> Counts {
        counts(&self.changes)
    }

    /// What it does to resources that hold data, those of a failed stack among them.
    pub fn stateful(&self) -> Vec<StatefulChange> {
        let mut found = stateful_changes(&self.changes);
        found.extend(
            self.recreate
                .iter()
                .flat_map(|failed| failed.stateful.clone()),
        );
        found
    }

    /// Whether it needs an explicit yes: it loses data, or deletes a failed stack.
    pub fn needs_confirm(&self) -> bool {
        self.recreate.is_some() || self.loses_data()
    }

    /// Whether it loses data.
    pub fn loses_data(&self) -> bool {
        self.stateful().iter().any(|change| change.needs_confirm)
    }

    /// Proves that this plan, made just now, is the one that was confirmed.
    pub fn prove_equal(&self, confirmed: &Plan) -> Result<(), Fault> {
        if self.digest() == confirmed.digest() {
            return Ok(());
        }
        let difference = difference(confirmed, self);
        let message = format!(
            "the plan of {} is not the one that was confirmed: {}",
            self.stack_name,
            difference.sentence()
        );
        let fault = Fault::new(FaultKind::ConfirmationRequired, "plan_changed", message)
            .with("planDigest", self.digest().to_string())
            .with("confirmedPlanDigest", confirmed.digest().to_string())
            .with(
                "diff",
                serde_json::to_value(&difference).unwrap_or(Value::Null),
            )
            .next("review the new plan and repeat the deploy with its confirmToken");
        Err(fault)
    }
}

/// In what two plans differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanDiff {
    /// The stack was changed, made or deleted since.
    pub base_changed: bool,
    /// The template is another one.
    pub template_changed: bool,
    /// Names of parameters, tags and artifacts that differ, and capabilities.
    pub inputs_changed: Vec<String>,
    /// Logical ids that only the new plan changes.
    pub added: Vec<String>,
    /// Logical ids that only the old plan changes.
    pub removed: Vec<String>,
    /// Logical ids that both change, differently: `Items: update → replace`.
    pub altered: Vec<String>,
}

impl PlanDiff {
    /// For people.
    pub fn sentence(&self) -> String {
        let mut parts = Vec::new();
        if self.base_changed {
            parts.push("the stack was changed since".to_owned());
        }
        if self.template_changed {
            parts.push("the template differs".to_owned());
        }
        for (list, verb) in [
            (&self.inputs_changed, "differs"),
            (&self.added, "is now changed too"),
            (&self.removed, "is no longer changed"),
            (&self.altered, "is changed differently"),
        ] {
            if let Some((first, more)) = list.split_first() {
                let also = match more.len() {
                    0 => String::new(),
                    count => format!(" (and {count} more)"),
                };
                parts.push(format!("{first}{also} {verb}"));
            }
        }
        if parts.is_empty() {
            return "nothing differs".to_owned();
        }
        parts.join("; ")
    }
}

/// In what a plan differs from an older one.
pub fn difference(old: &Plan, new: &Plan) -> PlanDiff {
    let mut inputs_changed = Vec::new();
    if old.stack_name != new.stack_name {
        inputs_changed.push("stack name".to_owned());
    }
    for (what, before, after) in [
        ("parameter", &old.parameters, &new.parameters),
        ("tag", &old.tags, &new.tags),
        ("artifact", &old.artifacts, &new.artifacts),
    ] {
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        inputs_changed.extend(
            names
                .into_iter()
                .filter(|name| before.get(*name) != after.get(*name))
                .map(|name| format!("{what} {name}")),
        );
    }
    if old.capabilities != new.capabilities {
        inputs_changed.push("capabilities".to_owned());
    }
    let index = |plan: &Plan| -> BTreeMap<String, Change> {
        plan.changes
            .iter()
            .map(|change| (change.logical_id.clone(), change.clone()))
            .collect()
    };
    let (before, after) = (index(old), index(new));
    let only = |left: &BTreeMap<String, Change>, right: &BTreeMap<String, Change>| {
        left.keys()
            .filter(|id| !right.contains_key(*id))
            .cloned()
            .collect::<Vec<_>>()
    };
    let altered = after
        .iter()
        .filter_map(|(id, change)| {
            let earlier = before.get(id).filter(|earlier| *earlier != change)?;
            Some(if earlier.action == change.action {
                id.clone()
            } else {
                format!("{id}: {} → {}", earlier.action.name(), change.action.name())
            })
        })
        .collect();
    PlanDiff {
        base_changed: old.base != new.base || old.recreate != new.recreate,
        template_changed: old.template_sha256 != new.template_sha256,
        inputs_changed,
        added: only(&after, &before),
        removed: only(&before, &after),
        altered,
    }
}
