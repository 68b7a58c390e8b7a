//! The decision: strictest matching rule first, built-in rules last.

use serde::Deserialize;
use windlass_types::{ApprovalTerms, EffectClass, Principal, PrincipalKind};

use crate::{glob::Glob, tools::ToolRule};

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
    /// How many different approvers have to say yes.
    pub quorum: u32,
    /// Whether the caller's own yes counts for nothing.
    pub distinct_approver: bool,
    pub reason: Option<String>,
}

/// What is decided where no rule matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithoutRule {
    /// Reads are allowed, everything else asks.
    #[default]
    ByEffect,
    /// The call itself confirms exactly what it does, as its contract prescribes: allowed.
    ConfirmedByCall,
    /// Asked about, and the call itself is no answer.
    Ask,
}

/// What a call would touch.
#[derive(Clone, Copy, Debug)]
pub enum Targets<'a> {
    /// The plan is not known yet: rules that name a target or an effect are left for the decision
    /// that knows them.
    Unknown,
    /// These: a path, a region, a run. Empty when the operation has no target.
    Known(&'a [String]),
    /// These, and the files below them that would change. Allowing looks at the targets; asking and
    /// refusing look at the files, too.
    Files {
        /// The targets.
        targets: &'a [String],
        /// The files.
        files: &'a [String],
    },
}

/// A call to be decided.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The operation's name, such as `runs.cancel`.
    pub operation: &'a str,
    /// Who asks.
    pub principal: &'a Principal,
    /// What it would touch.
    pub targets: Targets<'a>,
    /// What it would do.
    pub effect: EffectClass,
    /// What is decided where no rule matches.
    pub without_rule: WithoutRule,
}

/// What the policy says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Go ahead.
    Allow,
    /// Wait until these have approved; see [`may_approve`].
    Ask {
        /// Who, how many and who not.
        terms: ApprovalTerms,
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

impl Decision {
    /// Whether no rule of the file matched.
    pub fn is_built_in(&self) -> bool {
        self.rule.starts_with(BUILT_IN)
    }
}

const BUILT_IN: &str = "built-in: ";

/// The rules in force.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(crate) approvers: Approvers,
    /// Whether the file says so itself.
    pub(crate) names_approvers: bool,
    pub(crate) rules: Vec<Rule>,
    pub(crate) tool_rules: Vec<ToolRule>,
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
            names_approvers: false,
            rules: Vec::new(),
            tool_rules: Vec::new(),
        }
    }

    /// Who answers where no rule names others.
    pub fn approvers(&self) -> &[String] {
        &self.approvers
    }

    /// The operations that rules name: the place of the rule, the pattern as it is written, and
    /// whether it fits a name.
    pub fn named_operations(
        &self,
    ) -> impl Iterator<Item = (&str, &str, impl Fn(&str) -> bool + '_)> {
        self.rules.iter().filter_map(|rule| {
            let pattern = rule.operation.as_ref()?;
            let fits = |name: &str| pattern.matches(name);
            Some((rule.place.as_str(), pattern.as_str(), fits))
        })
    }

    /// The scopes whose holders may approve, with the place of the rule that names them.
    pub fn named_scopes(&self) -> impl Iterator<Item = (&str, &str)> {
        let rules = self.rules.iter().filter_map(|rule| {
            let approvers = rule.approvers.as_deref()?;
            Some((rule.place.as_str(), approvers))
        });
        let of_tools = self.tool_rules.iter().filter_map(|rule| {
            let approvers = rule.approvers.as_deref()?;
            Some((rule.place.as_str(), approvers))
        });
        let all = rules
            .chain(of_tools)
            .chain([("approvers", self.approvers.as_slice())]);
        all.flat_map(|(place, approvers)| {
            let scopes = approvers
                .iter()
                .filter_map(|name| name.strip_prefix("scope:"));
            scopes.map(move |scope| (place, scope))
        })
    }

    /// Decides. Of several asking rules the first that names its own approvers is followed,
    /// so that a general rule above a special one does not widen who may approve; the conditions
    /// of all of them hold.
    pub fn decide(&self, request: &Request<'_>) -> Decision {
        let site = Site::of(request);
        let matching = || self.rules.iter().filter(|rule| site.is_matched_by(rule));
        let strictest = matching().max_by(|left, right| {
            // `max_by` keeps the last of equals; the first in the file must decide.
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
            Answer::Ask => {
                let approvers = rule.approvers.as_ref().unwrap_or(&self.approvers);
                let asking = || matching().filter(|rule| rule.answer == Answer::Ask);
                let quorum = asking().map(|rule| rule.quorum).max().unwrap_or(1);
                let is_distinct = asking().any(|rule| rule.distinct_approver);
                Verdict::Ask {
                    terms: ApprovalTerms {
                        approvers: approvers.clone(),
                        quorum,
                        except: is_distinct.then(|| request.principal.person()),
                    },
                }
            }
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
            terms: ApprovalTerms::by(self.approvers.clone()),
        };
        let (verdict, rule) = match (request.without_rule, request.effect) {
            (WithoutRule::Ask, _) => (ask, "built-in: this change asks"),
            (_, EffectClass::Read) => (Verdict::Allow, "built-in: reads are allowed"),
            (WithoutRule::ConfirmedByCall, _) => {
                (Verdict::Allow, "built-in: confirmed by the call")
            }
            (WithoutRule::ByEffect, EffectClass::Write) => (ask, "built-in: writes ask"),
            (WithoutRule::ByEffect, EffectClass::Destructive) => {
                (ask, "built-in: destructive operations ask")
            }
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
    /// Each target as written and with `.`, `..` and doubled slashes resolved; `None` while
    /// they are not known.
    targets: Option<Vec<(&'a str, String)>>,
    /// The files below them, in the same way.
    files: Vec<(&'a str, String)>,
}

impl<'a> Site<'a> {
    fn of(request: &'a Request<'a>) -> Self {
        let spellings = |target: &'a str| (target, plain(target));
        let (targets, files): (Option<&[String]>, &[String]) = match request.targets {
            Targets::Unknown => (None, &[]),
            Targets::Known(targets) => (Some(targets), &[]),
            Targets::Files { targets, files } => (Some(targets), files),
        };
        let targets = targets.map(|targets| match targets {
            [] => vec![spellings("")],
            targets => targets.iter().map(|target| spellings(target)).collect(),
        });
        let files = files.iter().map(|file| spellings(file)).collect();
        Self {
            files,
            request,
            principal: request.principal.id(),
            targets,
        }
    }

    fn is_matched_by(&self, rule: &Rule) -> bool {
        let fits =
            |glob: &Option<Glob>, text: &str| glob.as_ref().is_none_or(|glob| glob.matches(text));
        self.fits_target(rule)
            && fits(&rule.operation, self.request.operation)
            && fits(&rule.principal, &self.principal)
            && rule
                .effect
                .is_none_or(|effect| self.targets.is_some() && effect == self.request.effect)
    }

    /// A target such as `/srv/app/../../etc` must neither slip into an allowing rule nor out of
    /// a refusing one, so leniency needs every target in both spellings and strictness any one.
    fn fits_target(&self, rule: &Rule) -> bool {
        let Some(glob) = &rule.target else {
            return true;
        };
        let Some(targets) = &self.targets else {
            return false;
        };
        let lenient = rule.answer == Answer::Allow;
        let files: &[(&str, String)] = if lenient { &[] } else { &self.files };
        let mut spellings = targets
            .iter()
            .chain(files)
            .flat_map(|(written, plain)| [*written, plain.as_str()]);
        if lenient {
            spellings.all(|target| glob.matches(target))
        } else {
            spellings.any(|target| glob.matches(target))
        }
    }
}

pub(crate) fn plain(target: &str) -> String {
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

/// Whether this principal is one of the approvers. Windlass itself never is, and neither is the
/// caller, nor another program of the same user, where another person has to be.
pub fn may_approve(principal: &Principal, terms: &ApprovalTerms) -> bool {
    let id = principal.id();
    if principal.kind == PrincipalKind::System || terms.excludes(&id) {
        return false;
    }
    terms
        .approvers
        .iter()
        .any(|approver| match approver.strip_prefix("scope:") {
            Some(scope) => principal.has_scope(scope),
            None => Glob::principal(approver).is_ok_and(|glob| glob.matches(&id)),
        })
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
