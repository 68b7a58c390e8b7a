//! RollbackMetadata: the plan of the pull request says how to undo it, and names what it touches.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_launch_model::Profile;

use crate::gates::{
    finding::{Checked, Finding, Limit},
    input::GateInput,
    outside::GateFault,
    run::Gate,
};

const MISSING: &str = "PR_MISSING_ROLLBACK_METADATA";
const BASE: &str = "PR_INVALID_BASE_REF_FORMAT";
const STEPS: &str = "PR_EMPTY_ROLLBACK_STEPS";
const PATHS: &str = "PR_EMPTY_AFFECTED_PATHS";
const DIFF: &str = "PR_AFFECTED_PATH_NOT_IN_DIFF";

/// The gate.
pub struct RollbackMetadata;

impl Gate for RollbackMetadata {
    fn name(&self) -> &'static str {
        "RollbackMetadata"
    }

    fn limit(&self) -> Limit {
        Limit::Total(5, 10)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        if input.profile == Profile::Local {
            return Ok(Checked::skipped("profile"));
        }
        let named = ["pr.json", "pr_plan.json"]
            .into_iter()
            .find_map(|name| input.artifact(name).map(|plan| (name, plan)));
        let Some((name, plan)) = named else {
            let message = "There is no pr_plan.json, so nothing says how to undo the change.";
            return Ok(Checked::Ran(vec![Finding::run(
                MISSING,
                "",
                message.to_owned(),
            )]));
        };
        Ok(Checked::Ran(faults(input, name, &plan)))
    }
}

fn faults(input: &GateInput, name: &str, plan: &Value) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut report = |code, excerpt: &str, message: String| {
        found.push(Finding::artifact(code, name, excerpt, message));
    };
    let base = plan
        .get("base_ref")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let is_hex = base
        .bytes()
        .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if !(matches!(base.len(), 40 | 64) && is_hex) || base.bytes().all(|b| b == b'0') {
        report(
            BASE,
            base,
            format!("base_ref is “{base}” and must be the site's full commit."),
        );
    }
    let list = |key: &str| -> Vec<&str> {
        let values = plan.get(key).and_then(Value::as_array);
        let texts = values.into_iter().flatten().filter_map(Value::as_str);
        texts.filter(|text| !text.trim().is_empty()).collect()
    };
    if list("rollback_steps").is_empty() {
        report(
            STEPS,
            "",
            "rollback_steps is empty: say how to undo the change.".to_owned(),
        );
    }
    let affected: BTreeSet<&str> = list("affected_paths").into_iter().collect();
    if affected.is_empty() {
        report(
            PATHS,
            "",
            "affected_paths is empty: name what the change touches.".to_owned(),
        );
        return found;
    }
    let changed: BTreeSet<&str> = input.changed.keys().map(String::as_str).collect();
    for path in affected.difference(&changed) {
        report(
            DIFF,
            path,
            format!("{path} is named as affected and is not in the diff."),
        );
    }
    for path in changed.difference(&affected) {
        report(
            DIFF,
            path,
            format!("{path} is in the diff and is not named as affected."),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::gates::{
        input::{ArtifactFile, Subject},
        sample::{codes, skipped, subject},
    };

    fn with(plan: Option<Value>) -> Subject {
        let mut subject = subject();
        subject.profile = Profile::Prod;
        subject.artifacts.retain(|file| file.name != "pr_plan.json");
        subject.artifacts.extend(plan.map(|plan| ArtifactFile {
            name: "pr_plan.json".to_owned(),
            bytes: plan.to_string().into_bytes(),
            schema: json!({}),
        }));
        subject
    }

    #[test]
    fn every_part_is_judged() {
        let paths: Vec<String> = subject().changed.into_keys().collect();
        let sha = "a1".repeat(20);
        let plan = |base: &str, steps: &[&str], paths: &[String]| {
            Some(json!({"base_ref": base, "rollback_steps": steps, "affected_paths": paths}))
        };
        let mut more = paths.clone();
        more.push("other.md".to_owned());
        let cases: [(Option<Value>, &[&str]); 9] = [
            (plan(&sha, &["git revert"], &paths), &[]),
            (None, &[MISSING]),
            (plan(&"0".repeat(40), &["x"], &paths), &[BASE]),
            (plan("main", &["x"], &paths), &[BASE]),
            (plan(&sha, &[], &paths), &[STEPS]),
            (plan(&sha, &[" "], &paths), &[STEPS]),
            (plan(&sha, &["x"], &[]), &[PATHS]),
            (plan(&sha, &["x"], &more), &[DIFF]),
            (plan(&sha, &["x"], &paths[1..]), &[DIFF]),
        ];
        for (plan, expected) in cases {
            assert_eq!(
                codes(&RollbackMetadata, with(plan.clone())),
                expected,
                "{plan:?}"
            );
        }
    }

    #[test]
    fn local_runs_skip_it() {
        assert_eq!(skipped(&RollbackMetadata, subject()), Some("profile"));
    }
}
