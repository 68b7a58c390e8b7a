//! The terms of an approval: who may give it, how many have to, and who may not.
//!
//! Journals keep them as one list of texts: `local:GLOB`, `key:GLOB` and `scope:NAME` name
//! approvers; `quorum:N` and `not:PRINCIPAL` are conditions. A policy file writes the conditions
//! as keys of a rule (`quorum`, `distinct_approver`), never in the list.

const QUORUM: &str = "quorum:";
const EXCEPT: &str = "not:";

/// The terms, read from such a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalTerms<'a> {
    /// Who may approve: any of these.
    pub approvers: Vec<&'a str>,
    /// How many different approvers have to.
    pub quorum: usize,
    /// The principal who may not, because the request is its own.
    pub except: Option<&'a str>,
}

impl<'a> ApprovalTerms<'a> {
    /// Reads a list.
    pub fn of(list: &'a [String]) -> Self {
        let mut terms = Self {
            approvers: Vec::new(),
            quorum: 1,
            except: None,
        };
        for entry in list {
            if let Some(number) = entry.strip_prefix(QUORUM) {
                // A number that cannot be read must not make an approval easier.
                terms.quorum = number.parse().unwrap_or(usize::MAX).max(1);
            } else if let Some(principal) = entry.strip_prefix(EXCEPT) {
                terms.except = Some(principal);
            } else {
                terms.approvers.push(entry);
            }
        }
        terms
    }

    /// The list with these conditions.
    pub fn list(mut approvers: Vec<String>, quorum: u32, except: Option<&str>) -> Vec<String> {
        if quorum > 1 {
            approvers.push(format!("{QUORUM}{quorum}"));
        }
        if let Some(principal) = except {
            approvers.push(format!("{EXCEPT}{principal}"));
        }
        approvers
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
        if let Some(principal) = self.except {
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

    #[test]
    fn conditions_are_part_of_the_list() {
        let names = || vec!["local:ada".to_owned(), "scope:approve".to_owned()];
        for (quorum, except, expected) in [
            (1, None, "an approval by local:ada or scope:approve"),
            (2, None, "2 approvals by local:ada or scope:approve"),
            (
                3,
                Some("key:ci"),
                "3 approvals by local:ada or scope:approve, not by key:ci",
            ),
        ] {
            let list = ApprovalTerms::list(names(), quorum, except);
            let terms = ApprovalTerms::of(&list);
            assert_eq!(terms.text(), expected);
            assert_eq!((terms.quorum, terms.except), (quorum as usize, except));
        }
        let odd = ["quorum:many".to_owned()];
        assert_eq!(ApprovalTerms::of(&odd).quorum, usize::MAX);
        assert_eq!(ApprovalTerms::of(&[]).text(), "an approval");
        let two = ApprovalTerms::list(names(), 2, None);
        let terms = ApprovalTerms::of(&two);
        assert_eq!(terms.progress(1).as_deref(), Some("1 of 2 approvals"));
    }
}
