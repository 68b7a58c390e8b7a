//! A plan: what an operation would change, in words and as data, with a digest to confirm.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Digest, EffectClass};

/// What happens to one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangeAction {
    /// It does not exist and will.
    Create,
    /// It exists and will differ.
    Update,
    /// It exists and will not.
    Delete,
    /// It will be run, called or sent.
    Execute,
}

/// One line of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Change {
    /// What happens.
    pub action: ChangeAction,
    /// What it happens to.
    pub target: String,
    /// Why or how, in a few words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
}

impl Change {
    /// The change as a line for people.
    pub fn line(&self) -> String {
        let sign = match self.action {
            ChangeAction::Create => '+',
            ChangeAction::Update => '~',
            ChangeAction::Delete => '-',
            ChangeAction::Execute => '>',
        };
        match self.summary.is_empty() {
            true => format!("{sign} {}", self.target),
            false => format!("{sign} {} ({})", self.target, self.summary),
        }
    }
}

/// What an operation would do. The digest covers everything else, so confirming the digest
/// confirms the content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Plan {
    /// The operation that would be applied.
    pub operation: String,
    /// The strongest effect among the changes.
    pub effect: EffectClass,
    /// The thing the plan acts on, for policy rules: a directory, a stack, a repository.
    pub target: String,
    /// The changes, in the order they would be made.
    pub changes: Vec<Change>,
    /// What the run receives: everything it needs to act without planning again.
    pub payload: Value,
}

impl Plan {
    /// The digest a confirm token is bound to.
    pub fn digest(&self) -> Digest {
        // A plan is plain data: turning it into a value cannot fail, and if it did the
        // digest of null would match no token.
        Digest::of_json(&serde_json::to_value(self).unwrap_or(Value::Null))
    }

    /// The changes as lines for people.
    pub fn lines(&self) -> Vec<String> {
        self.changes.iter().map(Change::line).collect()
    }

    /// The files below the target that would change, where the target is a directory: rules that
    /// ask or refuse may name one of them.
    pub fn files(&self) -> Vec<String> {
        if !self.target.starts_with('/') {
            return Vec::new();
        }
        let below = |path: &&str| !path.starts_with('/') && !path.contains("://");
        let paths = self.changes.iter().map(|change| change.target.as_str());
        let directory = self.target.trim_end_matches('/');
        paths
            .filter(below)
            .map(|path| format!("{directory}/{path}"))
            .collect()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_those_below_a_directory() {
        let plan = |target: &str| Plan {
            operation: "demo.apply".into(),
            effect: EffectClass::Write,
            target: target.into(),
            changes: ["a/b.txt", "https://example.org/hook", "/etc/passwd"]
                .map(|target| Change {
                    action: ChangeAction::Create,
                    target: target.into(),
                    summary: String::new(),
                })
                .to_vec(),
            payload: Value::Null,
        };
        assert_eq!(plan("/srv/site").files(), ["/srv/site/a/b.txt"]);
        assert_eq!(plan("run_1").files(), Vec::<String>::new());
    }

    #[test]
    fn every_byte_counts() {
        let plan = Plan {
            operation: "demo.apply".into(),
            effect: EffectClass::Write,
            target: "dir".into(),
            changes: vec![Change {
                action: ChangeAction::Create,
                target: "a.txt".into(),
                summary: String::new(),
            }],
            payload: serde_json::json!({"a.txt": "hello"}),
        };
        let mut other = plan.clone();
        other.payload = serde_json::json!({"a.txt": "hellp"});
        assert_ne!(plan.digest(), other.digest());
        assert_eq!(plan.digest(), plan.clone().digest());
    }
}
