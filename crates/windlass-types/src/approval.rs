//! The terms of an approval: who may give it, how many have to, and who may not.
//!
//! A policy file writes the conditions as keys of a rule (`quorum`, `distinct_approver`).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::principal::person_of;

/// How older journals have the conditions: as entries of the list of approvers.
const QUORUM: &str = "quorum:";
const EXCEPT: &str = "not:";

/// Who approves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(from = "Written")]
pub struct ApprovalTerms {
    /// Who may approve, any of these: `local:GLOB`, `key:GLOB` or `scope:NAME`. Empty: whom policy
    /// names by default.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    /// How many different approvers have to; 1 when absent.
    #[serde(skip_serializing_if = "is_one")]
    pub quorum: u32,
    /// Who may not approve, because the request is their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub except: Option<String>,
}

/// The terms as they are written.
#[derive(Deserialize, schemars::JsonSchema)]
struct Written {
    /// Who may approve.
    #[serde(default)]
    approvers: Vec<String>,
    /// How many different approvers have to; 1 when absent.
    #[serde(default)]
    quorum: Option<u32>,
    /// Who may not approve, because the request is their own.
    #[serde(default)]
    except: Option<String>,
}

// `skip_serializing_if` wants a reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_one(number: &u32) -> bool {
    *number == 1
}

impl Default for ApprovalTerms {
    fn default() -> Self {
        Self {
            approvers: Vec::new(),
            quorum: 1,
            except: None,
        }
    }
}

impl From<Written> for ApprovalTerms {
    fn from(written: Written) -> Self {
        let listed = Self::of_list(written.approvers);
        Self {
            quorum: listed.quorum.max(written.quorum.unwrap_or(1)),
            except: written.except.or(listed.except),
            approvers: listed.approvers,
        }
    }
}

impl ApprovalTerms {
    /// One approval by any of these.
    pub fn by(approvers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            approvers: approvers.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// The terms that a list means which has the conditions among the approvers, as older
    /// journals have it.
    pub fn of_list(list: Vec<String>) -> Self {
        let mut terms = Self::default();
        for entry in list {
            if let Some(number) = entry.strip_prefix(QUORUM) {
                // A number that cannot be read must not make an approval easier.
                terms.quorum = number.parse().unwrap_or(u32::MAX).max(1);
            } else if let Some(principal) = entry.strip_prefix(EXCEPT) {
                terms.except = Some(principal.to_owned());
            } else {
                terms.approvers.push(entry);
            }
        }
        terms
    }

    /// Whether nobody is named.
    pub fn is_empty(&self) -> bool {
        self.approvers.is_empty()
    }

    /// Whether there can be as many different approvers as are wanted. Patterns and scopes may
    /// stand for any number.
    pub fn can_be_met(&self) -> bool {
        let is_open = |name: &String| name.contains(['*', '?']) || name.starts_with("scope:");
        if self.approvers.iter().any(is_open) {
            return true;
        }
        let named = self.approvers.iter().filter(|name| !self.excludes(name));
        let people: BTreeSet<&str> = named.map(|name| person_of(name)).collect();
        u32::try_from(people.len()).unwrap_or(u32::MAX) >= self.quorum.max(1)
    }

    /// Whether the request is this principal's own, or that of a program of the same user, and
    /// another person has to approve it.
    pub fn excludes(&self, principal: &str) -> bool {
        let except = self.except.as_deref();
        except.is_some_and(|except| person_of(except) == person_of(principal))
    }

    /// What is waited for: `an approval by local:ada or key:ops`, `2 approvals by scope:approve,
    /// not by key:ci`.
    pub fn text(&self) -> String {
        let mut text = match self.quorum {
            1 => "an approval".to_owned(),
            number => format!("{number} approvals"),
        };
        if !self.approvers.is_empty() {
            text.push_str(&format!(" by {}", self.approvers.join(" or ")));
        }
        if let Some(principal) = &self.except {
            text.push_str(&format!(", not by {principal}"));
        }
        text
    }

    /// How far it is: `1 of 2 approvals`; nothing where one is enough.
    pub fn progress(&self, given: usize) -> Option<String> {
        (self.quorum > 1).then(|| format!("{given} of {} approvals", self.quorum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(quorum: u32, except: Option<&str>) -> ApprovalTerms {
        ApprovalTerms {
            quorum,
            except: except.map(str::to_owned),
            ..ApprovalTerms::by(["local:ada", "scope:approve"])
        }
    }

    #[test]
    fn conditions_have_fields_of_their_own() {
        for (terms, json, text) in [
            (
                terms(1, None),
                r#"{"approvers":["local:ada","scope:approve"]}"#,
                "an approval by local:ada or scope:approve",
            ),
            (
                terms(3, Some("key:ci")),
                r#"{"approvers":["local:ada","scope:approve"],"quorum":3,"except":"key:ci"}"#,
                "3 approvals by local:ada or scope:approve, not by key:ci",
            ),
            (ApprovalTerms::default(), "{}", "an approval"),
        ] {
            assert_eq!(serde_json::to_string(&terms).unwrap(), json);
            assert_eq!(serde_json::from_str::<ApprovalTerms>(json).unwrap(), terms);
            assert_eq!(terms.text(), text);
        }
        assert_eq!(terms(2, None).progress(1).unwrap(), "1 of 2 approvals");
    }

    #[test]
    fn conditions_within_the_list_are_understood() {
        let old = r#"{"approvers":["local:ada","scope:approve","quorum:2","not:key:ci"]}"#;
        let read: ApprovalTerms = serde_json::from_str(old).unwrap();
        assert_eq!(read, terms(2, Some("key:ci")));
        let odd = ApprovalTerms::of_list(vec!["quorum:many".to_owned()]);
        assert_eq!(odd.quorum, u32::MAX);
    }

    #[test]
    fn more_approvals_than_approvers_cannot_be_had() {
        for (approvers, quorum, except, expected) in [
            (&["local:ada"][..], 1, None, true),
            (&["local:ada"], 2, None, false),
            (&["local:ada", "key:ops"], 2, None, true),
            (&["local:ada", "local:ada/mcp"], 2, None, false),
            (&["local:ada", "key:ops"], 2, Some("local:ada"), false),
            (&["local:ada"], 1, Some("local:ada/mcp"), false),
            (&["local:ada", "key:*"], 20, None, true),
            (&["scope:approve"], 20, None, true),
            (&[], 1, None, false),
        ] {
            let terms = ApprovalTerms {
                quorum,
                except: except.map(str::to_owned),
                ..ApprovalTerms::by(approvers.iter().copied())
            };
            assert_eq!(terms.can_be_met(), expected, "{terms:?}");
        }
    }

    #[test]
    fn a_user_and_their_programs_are_one_person() {
        for (except, principal, excluded) in [
            ("local:ada", "local:ada", true),
            ("local:ada/mcp", "local:ada", true),
            ("local:ada", "local:ada/mcp", true),
            ("local:ada/mcp", "local:ada/agent", true),
            ("local:ada", "local:ad", false),
            ("local:ada", "local:adam", false),
            ("key:ada", "local:ada", false),
            ("key:a/b", "key:a/c", false),
        ] {
            let terms = terms(1, Some(except));
            assert_eq!(terms.excludes(principal), excluded, "{except} {principal}");
        }
        assert!(!terms(1, None).excludes("local:ada"));
    }
}
