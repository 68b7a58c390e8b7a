//! A stack whose first creation failed, created again: CloudFormation allows only its deletion, so
//! one plan deletes it and creates it again.
//!
//! No change set can be made while the failed stack is there. The plan that is confirmed is read
//! from the template, where everything is an addition; once the stack is gone, a real change set
//! must come to the same before it is executed.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::access::Access;
use crate::change::{Change, additions};
use crate::delete::{self, Deletion};
use crate::fault::Fault;
use crate::owner::require_own;
use crate::plan::{Base, Plan};
use crate::proposal::Proposal;
use crate::situation::Situation;

/// The only state in which a stack is recreated.
pub const FAILED_CREATION: &str = "ROLLBACK_COMPLETE";

/// The deletion that must come first; `None` for a stack in any other state. What the failed
/// creation left behind is in it.
pub async fn deletion_first(
    access: &Access,
    situation: &Situation,
    names: &BTreeMap<String, String>,
) -> Result<Option<Deletion>, Fault> {
    match &situation.stack {
        Some(stack) if stack.stack_status == FAILED_CREATION => require_own(stack)?,
        _ => return Ok(None),
    }
    let deletion = delete::plan(access, &situation.stack_name, &[], names).await?;
    // Another caller may have deleted or recreated it just now.
    Ok((deletion.status == FAILED_CREATION).then_some(deletion))
}

impl Plan {
    /// The plan that deletes a failed stack and creates it again.
    pub fn recreating(proposal: &Proposal, failed: Deletion) -> Self {
        let changes = additions(&proposal.template, &proposal.names);
        Self {
            recreate: Some(failed),
            ..Self::new(proposal, Base::Absent, changes, false)
        }
    }

    /// Proves that a change set, made after the failed stack was deleted, does what this plan
    /// says. A plan that was read from a template lacks what only a change set knows, so of each
    /// change the members that both have are compared: logical id, type and action. A resource
    /// with a condition may be missing from the change set. Everything else is compared as always.
    pub fn prove_fulfilled(&self, made: &Plan, template: &Value) -> Result<(), Fault> {
        let same = |mine: &Change, theirs: &Change| {
            mine.logical_id == theirs.logical_id
                && mine.resource_type == theirs.resource_type
                && mine.action == theirs.action
        };
        let is_conditional =
            |mine: &Change| !template["Resources"][&mine.logical_id]["Condition"].is_null();
        let changes = self.changes.iter().filter_map(|mine| {
            let id = &mine.logical_id;
            let theirs = made.changes.iter().find(|theirs| theirs.logical_id == *id);
            match theirs {
                Some(theirs) if same(mine, theirs) => Some(theirs.clone()),
                None if is_conditional(mine) => None,
                _ => Some(mine.clone()),
            }
        });
        let seen = Self {
            recreate: None,
            changes: changes.collect(),
            ..self.clone()
        };
        made.prove_equal(&seen)
            .map_err(|fault| fault.with("confirmedPlanDigest", self.digest().to_string()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::change::Action;

    fn proposal() -> Proposal {
        Proposal {
            stack_name: "shop-dev".to_owned(),
            template: json!({ "Resources": {
                "Jobs": { "Type": "AWS::SQS::Queue" },
                "Maybe": { "Type": "AWS::SNS::Topic", "Condition": "IsLive" },
            }}),
            ..Proposal::default()
        }
    }

    fn failed() -> Deletion {
        Deletion {
            stack_name: "shop-dev".to_owned(),
            stack_id: "arn:failed".to_owned(),
            status: FAILED_CREATION.to_owned(),
            changes: Vec::new(),
            stateful: Vec::new(),
            clearings: Vec::new(),
            retain: Vec::new(),
        }
    }

    /// What CloudFormation makes of it, edited.
    fn made(edit: impl Fn(&mut Vec<Change>)) -> Plan {
        let proposal = proposal();
        let mut changes = additions(&proposal.template, &proposal.names);
        changes
            .iter_mut()
            .for_each(|change| change.highlights.clear());
        edit(&mut changes);
        Plan::new(&proposal, Base::Absent, changes, false)
    }

    #[test]
    fn what_is_confirmed_covers_the_failed_stack() {
        let plan = Plan::recreating(&proposal(), failed());
        assert!(plan.needs_confirm() && !plan.loses_data());
        assert_eq!(plan.counts().create, 2);
        let other = Deletion {
            stack_id: "arn:other".to_owned(),
            ..failed()
        };
        for other in [Plan::recreating(&proposal(), other), made(|_| ())] {
            assert_ne!(plan.digest(), other.digest());
            let fault = other.prove_equal(&plan).unwrap_err();
            assert_eq!(fault.reason, "plan_changed");
            assert!(
                fault.message.contains("the stack was changed since"),
                "{fault}"
            );
        }
    }

    #[test]
    fn a_change_set_fulfils_the_plan_or_is_refused() {
        let plan = Plan::recreating(&proposal(), failed());
        let template = proposal().template;
        let verdict = |made: &Plan| match plan.prove_fulfilled(made, &template) {
            Ok(()) => "fulfilled".to_owned(),
            Err(fault) => {
                assert_eq!(fault.data["confirmedPlanDigest"], plan.digest().to_string());
                fault.data["diff"].to_string()
            }
        };
        assert_eq!(verdict(&made(|_| ())), "fulfilled");
        // What a condition keeps out is not made; details are CloudFormation's own.
        let more = made(|changes| {
            changes.retain(|change| change.logical_id != "Maybe");
            changes[0].reason = Some("more than the template says".to_owned());
        });
        assert_eq!(verdict(&more), "fulfilled");
        let fewer = made(|changes| changes.retain(|change| change.logical_id != "Jobs"));
        assert!(
            verdict(&fewer).contains(r#""removed":["Jobs"]"#),
            "{}",
            verdict(&fewer)
        );
        let other = made(|changes| changes[0].action = Action::Update);
        assert!(
            verdict(&other).contains("Jobs: create"),
            "{}",
            verdict(&other)
        );
        let mut config = made(|_| ());
        config.tags.insert("team".to_owned(), "a".to_owned());
        assert!(
            verdict(&config).contains("tag team"),
            "{}",
            verdict(&config)
        );
    }
}
