//! Reads a policy file, strictly: unknown keys, empty lists and examples that do not fit
//! are errors with a place, because a rule that says less than its author thinks is a hole.

use std::{io, path::Path};

use serde::Deserialize;
use toml::Spanned;
use windlass_config::{FileError, file};
use windlass_types::{ApprovalTerms, EffectClass, Problem, code};

use crate::{
    Policy,
    decide::{Answer, Approvers, Rule},
    glob::Glob,
    parse_tools::{Expires, PrefixWord, RedirectWord},
    tools::ToolRule,
};

/// More approvals than that are a mistake.
const MOST_APPROVALS: u32 = 20;

/// Why there is no policy.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The file is there and cannot be read; the cause names its path.
    #[error("the policy file cannot be read: {0}")]
    Unreadable(io::Error),
    /// The file is not understood.
    #[error(transparent)]
    Invalid(#[from] FileError),
}

impl From<PolicyError> for Problem {
    fn from(error: PolicyError) -> Self {
        match error {
            PolicyError::Invalid(error) => error.into(),
            other => Self::new(&code::CONFIG_INVALID, other.to_string()),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyFile {
    version: Spanned<u32>,
    approvers: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    rule: Vec<Spanned<RuleFile>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleFile {
    pub id: Option<Spanned<String>>,
    pub operation: Option<Spanned<String>>,
    pub principal: Option<Spanned<String>>,
    pub target: Option<Spanned<String>>,
    pub effect: Option<EffectClass>,
    pub tool: Option<Spanned<String>>,
    pub prefix: Option<Spanned<Vec<PrefixWord>>>,
    pub args_deny: Option<Spanned<String>>,
    pub dynamic_args: Option<Spanned<bool>>,
    pub env_allow: Option<Spanned<Vec<String>>>,
    pub redirect: Option<Spanned<RedirectWord>>,
    pub hosts: Option<Spanned<Vec<String>>>,
    pub project: Option<Spanned<String>>,
    pub expires: Option<Spanned<Expires>>,
    pub guard: Option<Spanned<String>>,
    pub decision: Answer,
    pub approvers: Option<Spanned<Vec<String>>>,
    pub quorum: Option<Spanned<u32>>,
    pub distinct_approver: Option<Spanned<bool>>,
    pub always_human: Option<Spanned<bool>>,
    pub reason: Option<String>,
    #[serde(default)]
    pub examples: Vec<Spanned<Example>>,
    #[serde(default, rename = "match")]
    pub matching: Vec<Spanned<String>>,
    #[serde(default, rename = "not_match")]
    pub not_matching: Vec<Spanned<String>>,
}

/// A request the rule must match; a key left out stands for anything.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Example {
    operation: Option<String>,
    principal: Option<String>,
    target: Option<String>,
    effect: Option<EffectClass>,
}

/// Whether the user trusts a file of a project in its present content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectTrust {
    /// Its rules count like the user's.
    Trusted,
    /// It may ask and refuse, and nothing else.
    Untrusted,
}

impl Policy {
    /// Reads the policy file; a missing file means the built-in rules.
    pub fn load(path: &Path) -> Result<Self, PolicyError> {
        match file::read_if_there(path).map_err(PolicyError::Unreadable)? {
            Some(text) => Self::parse(&text, &name_of(path)),
            None => Ok(Self::built_in()),
        }
    }

    /// Adds the rules of a second file, which is read as if its rules stood at the end of the
    /// first; a missing file adds none.
    pub fn load_rules(mut self, path: &Path) -> Result<Self, PolicyError> {
        if let Some(text) = file::read_if_there(path).map_err(PolicyError::Unreadable)? {
            self.add(&text, &name_of(path))?;
        }
        Ok(self)
    }

    /// Understands the text of a policy file; `file_name` appears in errors and decisions.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, PolicyError> {
        let mut policy = Self::built_in();
        policy.read(text, file_name)?;
        Ok(policy)
    }

    /// Adds the rules of another text.
    pub fn add(&mut self, text: &str, file_name: &str) -> Result<(), PolicyError> {
        let other = Self::parse(text, file_name)?;
        if other.names_approvers {
            let message = "approvers belong to the policy file";
            return Err(FileError::at(file_name, text, 0, message)
                .hint("name them in a rule instead")
                .into());
        }
        self.rules.extend(other.rules);
        self.tool_rules.extend(other.tool_rules);
        Ok(())
    }

    /// Adds the rules of a project's file. Where the user does not trust it, only what makes
    /// decisions stricter counts, and it does not say who answers.
    pub fn add_project(
        &mut self,
        text: &str,
        file_name: &str,
        trust: ProjectTrust,
    ) -> Result<(), PolicyError> {
        let mut other = Self::parse(text, file_name)?;
        if trust == ProjectTrust::Untrusted {
            other.rules.retain(|rule| rule.answer != Answer::Allow);
            other.tool_rules.retain(|rule| rule.answer != Answer::Allow);
            for rule in &mut other.rules {
                rule.approvers = None;
            }
            for rule in &mut other.tool_rules {
                rule.approvers = None;
            }
        }
        self.rules.extend(other.rules);
        self.tool_rules.extend(other.tool_rules);
        Ok(())
    }

    fn read(&mut self, text: &str, file_name: &str) -> Result<(), PolicyError> {
        let source = Source { text, file_name };
        let parsed: PolicyFile = file::parse(text, file_name)?;
        if *parsed.version.get_ref() != 1 {
            return Err(source
                .error(&parsed.version, "this Windlass reads policy version 1")
                .into());
        }
        if let Some(approvers) = &parsed.approvers {
            self.approvers = source.approvers(approvers)?;
            self.names_approvers = true;
        }
        for written in &parsed.rule {
            let tool_rule = source.tool_rule(written)?;
            let rule = source.rule(written, tool_rule.is_some())?;
            source.quorum(written, &rule, &self.approvers)?;
            match tool_rule {
                Some(rule) => self.tool_rules.push(rule),
                None => {
                    self.tool_rules.extend(ToolRule::general(&rule));
                    self.rules.push(rule);
                }
            }
        }
        Ok(())
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.display().to_string(),
    )
}

pub(crate) struct Source<'a> {
    pub text: &'a str,
    pub file_name: &'a str,
}

impl Source<'_> {
    pub(crate) fn error<T>(&self, place: &Spanned<T>, message: impl Into<String>) -> FileError {
        FileError::at(self.file_name, self.text, place.span().start, message)
    }

    /// The place of a rule: `policy.toml:12`.
    pub(crate) fn place(&self, written: &Spanned<RuleFile>) -> String {
        let (line, _) = file::position(self.text, written.span().start);
        format!("{}:{line}", self.file_name)
    }

    pub(crate) fn reason(&self, file: &RuleFile) -> Option<String> {
        let reason = file.reason.clone();
        reason.filter(|reason| !reason.trim().is_empty())
    }

    fn rule(&self, written: &Spanned<RuleFile>, is_of_tool: bool) -> Result<Rule, FileError> {
        let file = written.get_ref();
        let rule = Rule {
            place: self.place(written),
            operation: self.glob(file.operation.as_ref(), Glob::name)?,
            principal: self.glob(file.principal.as_ref(), Glob::principal)?,
            target: self.glob(file.target.as_ref(), Glob::path)?,
            effect: file.effect,
            answer: file.decision,
            approvers: file
                .approvers
                .as_ref()
                .map(|approvers| self.approvers(approvers))
                .transpose()?,
            quorum: file.quorum.as_ref().map_or(1, |quorum| *quorum.get_ref()),
            distinct_approver: file
                .distinct_approver
                .as_ref()
                .is_some_and(|distinct| *distinct.get_ref()),
            reason: self.reason(file),
        };
        if let (Some(approvers), Answer::Allow | Answer::Deny) = (&file.approvers, rule.answer) {
            return Err(self
                .error(
                    approvers,
                    "approvers are asked only where the decision is \"ask\"",
                )
                .hint("remove the key or change the decision"));
        }
        self.conditions(file)?;
        let covers_destruction =
            !matches!(rule.effect, Some(EffectClass::Read | EffectClass::Write));
        let may_destroy = covers_destruction && !is_of_tool;
        if rule.answer == Answer::Allow && may_destroy && rule.reason.is_none() {
            return Err(self
                .error(
                    written,
                    "a rule that allows destructive operations needs a reason",
                )
                .hint("add reason = \"…\", or effect = \"read\" or \"write\""));
        }
        for example in &file.examples {
            self.example(&rule, example)?;
        }
        Ok(rule)
    }

    /// How many approvers, and whether others: only where an approver is asked.
    fn conditions(&self, file: &RuleFile) -> Result<(), FileError> {
        let needless = |key: &str| format!("{key} matters only where the decision is \"ask\"");
        let way_out = "remove the key or change the decision";
        if let Some(quorum) = &file.quorum {
            if file.decision != Answer::Ask {
                return Err(self.error(quorum, needless("quorum")).hint(way_out));
            }
            if !(1..=MOST_APPROVALS).contains(quorum.get_ref()) {
                let message = format!("a quorum is a number from 1 to {MOST_APPROVALS}");
                return Err(self.error(quorum, message));
            }
        }
        match &file.distinct_approver {
            Some(distinct) if file.decision != Answer::Ask => Err(self
                .error(distinct, needless("distinct_approver"))
                .hint(way_out)),
            _ => Ok(()),
        }
    }

    /// A quorum that the rule's approvers cannot make up.
    fn quorum(
        &self,
        written: &Spanned<RuleFile>,
        rule: &Rule,
        default_approvers: &Approvers,
    ) -> Result<(), FileError> {
        let own = rule.principal.as_ref().map(Glob::as_str);
        let terms = ApprovalTerms {
            approvers: rule.approvers.as_ref().unwrap_or(default_approvers).clone(),
            quorum: rule.quorum,
            except: own
                .filter(|own| rule.distinct_approver && !own.contains(['*', '?']))
                .map(str::to_owned),
        };
        if rule.answer != Answer::Ask || terms.can_be_met() {
            return Ok(());
        }
        let file = written.get_ref();
        let message = format!(
            "the rule waits for {}, and its approvers cannot give that",
            terms.text()
        );
        let hint = "name more of them; a user and their programs are one";
        let error = match (&file.quorum, &file.distinct_approver) {
            (Some(quorum), _) => self.error(quorum, message),
            (None, Some(distinct)) => self.error(distinct, message),
            (None, None) => self.error(written, message),
        };
        Err(error.hint(hint))
    }

    pub(crate) fn glob(
        &self,
        written: Option<&Spanned<String>>,
        read: fn(&str) -> Result<Glob, String>,
    ) -> Result<Option<Glob>, FileError> {
        written
            .map(|text| read(text.get_ref()).map_err(|message| self.error(text, message)))
            .transpose()
    }

    pub(crate) fn approvers(&self, written: &Spanned<Vec<String>>) -> Result<Approvers, FileError> {
        let names = written.get_ref();
        if names.is_empty() {
            return Err(self
                .error(written, "the list of approvers is empty")
                .hint("to forbid, write decision = \"deny\""));
        }
        for name in names {
            let rest = ["local:", "key:", "scope:"]
                .iter()
                .find_map(|prefix| name.strip_prefix(prefix));
            if rest.is_none_or(str::is_empty) {
                return Err(self
                    .error(written, format!("`{name}` is not an approver"))
                    .hint("write `local:NAME`, `key:KEY_ID` or `scope:SCOPE`; a star in NAME or KEY_ID matches any"));
            }
        }
        Ok(names.clone())
    }

    fn example(&self, rule: &Rule, written: &Spanned<Example>) -> Result<(), FileError> {
        let example = written.get_ref();
        let misfit =
            |name: &str, pattern: &Option<Glob>, value: &Option<String>| match (pattern, value) {
                (Some(pattern), Some(value)) if !pattern.matches(value) => Some(format!(
                    "its {name} `{value}` does not fit `{}`",
                    pattern.as_str()
                )),
                _ => None,
            };
        let wrong = misfit("operation", &rule.operation, &example.operation)
            .or_else(|| misfit("principal", &rule.principal, &example.principal))
            .or_else(|| misfit("target", &rule.target, &example.target))
            .or_else(|| match (rule.effect, example.effect) {
                (Some(wanted), Some(given)) if wanted != given => Some(format!(
                    "its effect is {}, the rule's {}",
                    given.as_str(),
                    wanted.as_str()
                )),
                _ => None,
            });
        match wrong {
            Some(cause) => Err(self
                .error(
                    written,
                    format!("the rule does not match its own example: {cause}"),
                )
                .hint("correct the rule or the example")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
