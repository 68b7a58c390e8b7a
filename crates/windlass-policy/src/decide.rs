//! The decision: strictest matching rule first, built-in rules last.

use serde::Deserialize;
use windlass_types::{EffectClass, Principal, PrincipalKind};

use crate::glob::Glob;

/// Who may answer: `local:GLOB`, `key:GLOB` or `scope:NAME`; any one of them.
pub(crate) type Approvers = Vec<String>;

/// What a rule answers, from lenient to strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    Allow,
    Ask,
    Deny,
}

/// One rule; a key left out matches everything.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub place: String,
    pub operation: Option<Glob>,
    pub principal: Option<Glob>,
    pub target: Option<Glob>,
    pub effect: Option<EffectClass>,
    pub answer: Answer,
    pub approvers: Option<Approvers>,
    pub reason: Option<String>,
}

/// What somebody wants to do.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The operation's name, such as `runs.cancel`.
    pub operation: &'a str,
    /// Who asks.
    pub principal: &'a Principal,
    /// What it would touch: a path, a stack, a run; empty when the operation has no target.
    pub target: &'a str,
    /// What it would do.
    pub effect: EffectClass,
    /// Whether the caller's own yes to exactly this counts where no rule says otherwise,
    /// because the operation cannot be called without one.
    pub confirmed: bool,
}

/// What the policy says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Go ahead.
    Allow,
    /// Wait until one of these has approved; see [`may_approve`].
    Ask {
        /// `local:GLOB`, `key:GLOB` or `scope:NAME`; any one of them.
        approvers: Vec<String>,
    },
    /// Refuse.
    Deny,
}

impl Verdict {
    /// The word policy files use.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask { .. } => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A verdict and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What the policy says.
    pub verdict: Verdict,
    /// Which rule decided: `policy.toml:12` or `built-in: writes ask`.
    pub rule: String,
    /// The rule's reason, when it gives one.
    pub reason: Option<String>,
}

/// The rules in force.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(crate) approvers: Approvers,
    pub(crate) rules: Vec<Rule>,
}

impl Default for Policy {
    fn default() -> Self {
        Self::built_in()
    }
}

impl Policy {
    /// The policy without a file: reading is allowed, everything else asks the local user
    /// or the holder of a key that may approve.
    pub fn built_in() -> Self {
        Self {
            approvers: vec!["local:*".to_owned(), "scope:approve".to_owned()],
            rules: Vec::new(),
        }
    }

    /// Who answers where no rule names anybody else.
    pub fn approvers(&self) -> &[String] {
        &self.approvers
    }

    /// Decides. Of several asking rules the first that names its own approvers is followed,
    /// so that a general rule above a special one does not widen who may approve.
    pub fn decide(&self, request: &Request<'_>) -> Decision {
        let site = Site::of(request);
        let strictest = self
            .rules
            .iter()
            .filter(|rule| site.is_matched_by(rule))
            .max_by(|left, right| {
                // `max_by` keeps the last of equals; the first in the file shall decide.
                let rank = |rule: &Rule| (rule.answer, rule.approvers.is_some());
                rank(left)
                    .cmp(&rank(right))
                    .then(std::cmp::Ordering::Greater)
            });
        let Some(rule) = strictest else {
            return self.without_rule(request);
        };
        let verdict = match rule.answer {
            Answer::Allow => Verdict::Allow,
            Answer::Ask => Verdict::Ask {
                approvers: rule
                    .approvers
                    .clone()
                    .unwrap_or_else(|| self.approvers.clone()),
            },
            Answer::Deny => Verdict::Deny,
        };
        Decision {
            verdict,
            rule: rule.place.clone(),
            reason: rule.reason.clone(),
        }
    }

    fn without_rule(&self, request: &Request<'_>) -> Decision {
        let ask = Verdict::Ask {
            approvers: self.approvers.clone(),
        };
        let (verdict, rule) = match request.effect {
            EffectClass::Read => (Verdict::Allow, "built-in: reads are allowed"),
            _ if request.confirmed => (
                Verdict::Allow,
                "built-in: the call itself carries the confirmation",
            ),
            EffectClass::Write => (ask, "built-in: writes ask"),
            EffectClass::Destructive => (ask, "built-in: destructive operations ask"),
        };
        Decision {
            verdict,
            rule: rule.to_owned(),
            reason: None,
        }
    }
}

/// A request in the form rules are compared with.
struct Site<'a> {
    request: &'a Request<'a>,
    principal: String,
    /// The target with `.`, `..` and doubled slashes resolved.
    plain_target: String,
}

impl<'a> Site<'a> {
    fn of(request: &'a Request<'a>) -> Self {
        Self {
            request,
            principal: request.principal.id(),
            plain_target: plain(request.target),
        }
    }

    fn is_matched_by(&self, rule: &Rule) -> bool {
        let fits =
            |glob: &Option<Glob>, text: &str| glob.as_ref().is_none_or(|glob| glob.matches(text));
        // A target such as `/srv/app/../../etc` must neither slip into an allowing rule nor
        // out of a refusing one, so leniency needs both spellings and strictness either.
        let (written, plain) = (
            fits(&rule.target, self.request.target),
            fits(&rule.target, &self.plain_target),
        );
        let target = if rule.answer == Answer::Allow {
            written && plain
        } else {
            written || plain
        };
        target
            && fits(&rule.operation, self.request.operation)
            && fits(&rule.principal, &self.principal)
            && rule
                .effect
                .is_none_or(|effect| effect == self.request.effect)
    }
}

fn plain(target: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in target.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    let root = if target.starts_with('/') { "/" } else { "" };
    format!("{root}{}", segments.join("/"))
}

/// Whether this principal is one of the approvers. Windlass itself never is.
pub fn may_approve(principal: &Principal, approvers: &[String]) -> bool {
    if principal.kind == PrincipalKind::System {
        return false;
    }
    let id = principal.id();
    approvers
        .iter()
        .any(|approver| match approver.strip_prefix("scope:") {
            Some(scope) => principal.has_scope(scope),
            None => Glob::principal(approver).is_ok_and(|glob| glob.matches(&id)),
        })
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
