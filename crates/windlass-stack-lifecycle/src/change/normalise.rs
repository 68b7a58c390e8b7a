//! Raw changes of a change set → what happens to each resource, in a fixed order.

use std::collections::BTreeMap;

use serde_json::Value;
use windlass_ports::aws::{ResourceChange, ResourceChangeDetail};
use windlass_secrets::Redactor;

use super::mask::shown_value;
use super::stateful::{Tier, tier};
use super::{Action, Change, Counts, Reason};

/// What is known besides the change set.
pub struct Normaliser<'a> {
    /// Logical id → the resource of the config it belongs to.
    pub names: &'a BTreeMap<String, String>,
    /// The template that is to be deployed; says what becomes of what is replaced.
    pub template: &'a Value,
    /// The template the stack has; says what becomes of what is removed.
    pub before: Option<&'a Value>,
    /// Knows secrets.
    pub redactor: &'a Redactor,
}

impl Normaliser<'_> {
    /// All changes, by logical id.
    pub fn all(&self, raw: &[ResourceChange]) -> Vec<Change> {
        let mut changes: Vec<Change> = raw.iter().map(|change| self.one(change)).collect();
        changes.sort_by(|left, right| left.logical_id.cmp(&right.logical_id));
        changes
    }

    fn one(&self, raw: &ResourceChange) -> Change {
        let id = &raw.logical_resource_id;
        let mut reasons: Vec<Reason> = raw
            .details
            .iter()
            .map(|detail| self.reason(detail))
            .collect();
        reasons.sort();
        reasons.dedup();
        let (will_replace, mut may_replace) = replacing(&raw.details);
        let policy_action = self.policy_action(raw);
        let action = action(raw, policy_action.as_deref());
        if action == Action::Replace && will_replace.is_empty() && may_replace.is_empty() {
            may_replace.push("not known before it is executed".to_owned());
        }
        let mut change = Change {
            resource_name: self.names.get(id).unwrap_or(id).clone(),
            resource_type: raw.resource_type.clone(),
            logical_id: id.clone(),
            action,
            will_replace,
            may_replace,
            highlights: Vec::new(),
            reason: None,
            policy_action,
            reasons,
        };
        change.reason = sentence(&change);
        change.highlights = highlights(&change, raw);
        change
    }

    /// CloudFormation's own word where it gives one, else what the template says.
    fn policy_action(&self, raw: &ResourceChange) -> Option<String> {
        if raw.policy_action.is_some() {
            return raw.policy_action.clone();
        }
        let attribute = |template: Option<&Value>, name: &str| {
            template?
                .get("Resources")?
                .get(&raw.logical_resource_id)?
                .get(name)?
                .as_str()
                .map(str::to_owned)
        };
        match raw.action.as_str() {
            "Remove" => Some(
                match attribute(self.before, "DeletionPolicy").as_deref() {
                    Some("Retain" | "RetainExceptOnCreate") => "Retain",
                    Some("Snapshot") => "Snapshot",
                    _ => "Delete",
                }
                .to_owned(),
            ),
            "Modify" if is_replacing(raw) => Some(
                match attribute(Some(self.template), "UpdateReplacePolicy").as_deref() {
                    Some("Retain") => "ReplaceAndRetain",
                    Some("Snapshot") => "ReplaceAndSnapshot",
                    _ => "ReplaceAndDelete",
                }
                .to_owned(),
            ),
            _ => None,
        }
    }

    fn reason(&self, detail: &ResourceChangeDetail) -> Reason {
        let target = &detail.target;
        let property = target
            .name
            .clone()
            .or_else(|| target.attribute.clone())
            .unwrap_or_default();
        let path = target.path.clone();
        let place = path.clone().unwrap_or_else(|| property.clone());
        let shown = |value: &Option<String>| {
            value
                .as_deref()
                .map(|text| shown_value(&place, text, self.redactor))
        };
        Reason {
            before: shown(&target.before_value),
            after: shown(&target.after_value),
            recreation: target.requires_recreation.clone(),
            cause: detail.causing_entity.clone(),
            property,
            path,
        }
    }
}

fn is_replacing(raw: &ResourceChange) -> bool {
    matches!(raw.replacement.as_deref(), Some("True" | "Conditional"))
}

fn action(raw: &ResourceChange, policy: Option<&str>) -> Action {
    match raw.action.as_str() {
        "Add" | "Import" => Action::Create,
        "Remove" if policy == Some("Retain") => Action::Retain,
        "Remove" => Action::Delete,
        "Modify" if is_replacing(raw) => Action::Replace,
        "Modify" if policy.is_some_and(|policy| policy.starts_with("ReplaceAnd")) => {
            Action::Replace
        }
        "Modify" => Action::Update,
        // `Dynamic`, or a word AWS added since: nothing is known, so the worst is assumed.
        _ => Action::Replace,
    }
}

/// Properties that certainly and perhaps replace, each once, in order.
fn replacing(details: &[ResourceChangeDetail]) -> (Vec<String>, Vec<String>) {
    let mut will = Vec::new();
    let mut may = Vec::new();
    for detail in details {
        let Some(name) = detail.target.name.clone() else {
            continue;
        };
        let is_dynamic = detail.evaluation.as_deref() == Some("Dynamic");
        match detail.target.requires_recreation.as_deref() {
            Some("Always") if !is_dynamic => will.push(name),
            Some("Always" | "Conditionally") => may.push(name),
            _ => {}
        }
    }
    will.sort();
    will.dedup();
    may.sort();
    may.dedup();
    may.retain(|name| !will.contains(name));
    (will, may)
}

/// The reason that matters most: what replaces it, else what changes.
fn sentence(change: &Change) -> Option<String> {
    // What certainly replaces before what may.
    let reason = [&change.will_replace, &change.may_replace]
        .into_iter()
        .filter(|_| change.action == Action::Replace)
        .find_map(|names| {
            let mut reasons = change.reasons.iter();
            reasons.find(|reason| names.contains(&reason.property))
        })
        .or_else(|| change.reasons.first())?;
    let name = reason
        .path
        .as_deref()
        .map(|path| path.trim_start_matches("/Properties/"))
        .filter(|path| !path.is_empty())
        .unwrap_or(&reason.property);
    let values = match (&reason.before, &reason.after) {
        (Some(before), Some(after)) => format!(" changes from `{before}` to `{after}`"),
        (None, Some(after)) => format!(" is set to `{after}`"),
        (Some(before), None) => format!(" is removed (was `{before}`)"),
        (None, None) => " changes".to_owned(),
    };
    let cause = match &reason.cause {
        Some(cause) => format!(" because of {cause}"),
        None => String::new(),
    };
    let needs = match (change.action, reason.recreation.as_deref()) {
        (Action::Replace, Some("Always")) => "; this needs a new resource",
        (Action::Replace, _) => "; this may need a new resource",
        _ => "",
    };
    Some(format!("{name}{values}{cause}{needs}"))
}

fn highlights(change: &Change, raw: &ResourceChange) -> Vec<String> {
    let mut notes = Vec::new();
    if raw.action == "Import" {
        notes.push("imported into the stack".to_owned());
    }
    if change.action == Action::Replace && raw.replacement.as_deref() != Some("True") {
        notes.push("may be replaced; known only when it is executed".to_owned());
    }
    let policy = change.policy_action.as_deref();
    if matches!(policy, Some("Retain" | "ReplaceAndRetain")) {
        notes.push("kept, no longer managed".to_owned());
    } else if matches!(change.action, Action::Delete | Action::Replace) {
        match tier(&change.resource_type) {
            Some(Tier::Confirm) => notes.push("its data is lost".to_owned()),
            Some(Tier::Mention) => notes.push("its contents are lost".to_owned()),
            None => {}
        }
        if matches!(policy, Some("Snapshot" | "ReplaceAndSnapshot")) {
            notes.push("a final snapshot is taken".to_owned());
        }
    }
    notes
}

/// How many of each.
pub fn counts(changes: &[Change]) -> Counts {
    let mut counts = Counts {
        total: changes.len(),
        ..Counts::default()
    };
    for change in changes {
        match change.action {
            Action::Create => counts.create += 1,
            Action::Update => counts.update += 1,
            Action::Replace => counts.replace += 1,
            Action::Delete => counts.delete += 1,
            Action::Retain => counts.retain += 1,
        }
    }
    counts
}
