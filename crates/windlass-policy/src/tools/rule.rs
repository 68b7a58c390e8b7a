//! One rule about tools, and what it covers.
//!
//! Leniency needs certainty and strictness needs none: a rule that allows covers a command only
//! where every word says so, a rule that asks or refuses also one that may be meant.

use regex::Regex;
use windlass_shell::{Command, Kind, Redirect, RedirectKind, Role, Via, is_risky_variable};
use windlass_types::EffectClass;

use super::{
    Finding, Guard, Site, ToolRequest,
    guards::{is_harmless_device, is_protected},
    paths::{Where, is_below, plain},
};
use crate::{
    decide::{Answer, Approvers, Rule},
    glob::Glob,
};

/// What a rule lets a command write by redirection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Redirects {
    #[default]
    None,
    Workspace,
}

/// A rule about tools; a key left out matches everything.
#[derive(Clone, Debug)]
pub(crate) struct ToolRule {
    pub id: Option<String>,
    pub place: String,
    pub tool: Option<Glob>,
    /// The words a command starts with, each with its alternatives.
    pub prefix: Option<Vec<Vec<String>>>,
    pub args_deny: Option<Regex>,
    /// Whether arguments may be expansions, whose text nobody knows.
    pub dynamic_args: bool,
    pub env_allow: Vec<Glob>,
    pub redirect: Redirects,
    pub hosts: Vec<Glob>,
    pub project: Option<String>,
    pub expires: Option<windlass_types::Timestamp>,
    pub guard: Option<Guard>,
    pub principal: Option<Glob>,
    pub target: Option<Glob>,
    pub effect: Option<EffectClass>,
    pub answer: Answer,
    pub approvers: Option<Approvers>,
    pub quorum: u32,
    pub distinct_approver: bool,
    pub is_always_human: bool,
    pub reason: Option<String>,
}

impl ToolRule {
    /// A rule that names neither an operation nor a tool is about both. Where it allows, it was
    /// written for operations, whose effects are known before they start.
    pub(crate) fn general(rule: &Rule) -> Option<Self> {
        let is_general = rule.operation.is_none() && rule.answer != Answer::Allow;
        is_general.then(|| Self {
            principal: rule.principal.clone(),
            target: rule.target.clone(),
            effect: rule.effect,
            approvers: rule.approvers.clone(),
            quorum: rule.quorum,
            distinct_approver: rule.distinct_approver,
            reason: rule.reason.clone(),
            place: rule.place.clone(),
            ..Self::empty(rule.answer)
        })
    }

    /// A rule that matches everything.
    pub(crate) fn empty(answer: Answer) -> Self {
        Self {
            id: None,
            place: String::new(),
            tool: None,
            prefix: None,
            args_deny: None,
            dynamic_args: false,
            env_allow: Vec::new(),
            redirect: Redirects::None,
            hosts: Vec::new(),
            project: None,
            expires: None,
            guard: None,
            principal: None,
            target: None,
            effect: None,
            answer,
            approvers: None,
            quorum: 1,
            distinct_approver: false,
            is_always_human: false,
            reason: None,
        }
    }

    /// What a decision calls it.
    pub(crate) fn name(&self) -> String {
        self.id.clone().unwrap_or_else(|| self.place.clone())
    }

    /// Whether it is about calls like this one at all: tool, caller, project, time, effect.
    pub(crate) fn applies(&self, request: &ToolRequest<'_>, effect: EffectClass) -> bool {
        let is_in_project = self.project.as_ref().is_none_or(|project| {
            let tree = plain(request.place.work_tree);
            tree == plain(project) || is_below(&tree, project)
        });
        is_in_project
            && self.expires.is_none_or(|end| request.now < end)
            && self.fits_tool(request.tool)
            && self.effect.is_none_or(|wanted| wanted == effect)
            && self
                .principal
                .as_ref()
                .is_none_or(|glob| glob.matches(&request.principal.id()))
            && self.fits_paths(request)
    }

    /// Names are compared in full. A pattern that allows stays on its side of the `__` between a
    /// server and its tool, so that `*` gives nothing to other servers.
    fn fits_tool(&self, tool: &str) -> bool {
        self.tool.as_ref().is_none_or(|glob| {
            let crosses = tool.contains("__") && !glob.as_str().contains("__");
            glob.matches(tool) && (self.answer != Answer::Allow || !crosses)
        })
    }

    fn fits_paths(&self, request: &ToolRequest<'_>) -> bool {
        let Some(glob) = &self.target else {
            return true;
        };
        let spellings = || {
            let written = request.paths.iter().cloned();
            written.chain(request.paths.iter().map(|path| plain(path)))
        };
        match self.answer {
            Answer::Allow => {
                !request.paths.is_empty() && spellings().all(|path| glob.matches(&path))
            }
            _ => spellings().any(|path| glob.matches(&path)),
        }
    }

    fn fits_hosts<'h>(&self, mut hosts: impl Iterator<Item = &'h str>) -> bool {
        if self.hosts.is_empty() {
            return true;
        }
        let fits = |host: &str| self.hosts.iter().any(|glob| glob.matches(host));
        match self.answer {
            Answer::Allow => {
                let mut hosts = hosts.peekable();
                hosts.peek().is_some() && hosts.all(fits)
            }
            _ => hosts.any(fits),
        }
    }

    /// Whether it is about a call without commands.
    pub(crate) fn fits_call(&self, request: &ToolRequest<'_>, findings: &[Finding]) -> bool {
        self.prefix.is_none()
            && self.args_deny.is_none()
            && self.fits_hosts(request.hosts.iter().map(String::as_str))
            && self
                .guard
                .is_none_or(|guard| findings.iter().any(|finding| finding.guard == guard))
    }

    /// Whether it asks or refuses because of this command.
    pub(crate) fn touches(&self, site: &Site<'_>, findings: &[Finding], index: usize) -> bool {
        let hosts = all_hosts(site);
        let is_excepted = self
            .args_deny
            .as_ref()
            .is_some_and(|pattern| site.literals().any(|argument| pattern.is_match(argument)));
        !is_excepted
            && self.fits_hosts(hosts.iter().map(String::as_str))
            && self.guard.is_none_or(|guard| {
                findings
                    .iter()
                    .any(|finding| finding.guard == guard && finding.is_about(index))
            })
            && self
                .prefix
                .as_ref()
                .is_none_or(|prefix| site.possibly_starts_with(prefix))
    }

    /// Why it does not cover a command, where it does not.
    pub(crate) fn gap(&self, site: &Site<'_>) -> Result<(), String> {
        let command = site.command;
        if let Some(prefix) = &self.prefix
            && !site.certainly_starts_with(prefix)
        {
            return Err("it starts in another way".to_owned());
        }
        let hosts = all_hosts(site);
        if !self.fits_hosts(hosts.iter().map(String::as_str)) {
            return Err("its host is not listed".to_owned());
        }
        if let Some(pattern) = &self.args_deny
            && let Some(argument) = site.literals().find(|argument| pattern.is_match(argument))
        {
            return Err(format!("args_deny matches `{argument}`"));
        }
        if !self.dynamic_args {
            if command.has_unknown_arguments {
                return Err("its arguments come from its input".to_owned());
            }
            if let Some(word) = command.arguments().iter().find(|word| !is_certain(word)) {
                return Err(format!("`{}` is only known when it runs", word.text));
            }
        }
        for assignment in &command.assignments {
            // What changes other programs has to be named, not matched.
            let is_named = self.env_allow.iter().any(|glob| {
                glob.as_str() == assignment.name
                    || (glob.matches(&assignment.name) && !is_risky_variable(&assignment.name))
            });
            if !is_named {
                return Err(format!("env_allow does not list {}", assignment.name));
            }
        }
        match command
            .redirects
            .iter()
            .find(|redirect| !self.may_redirect(redirect, site))
        {
            Some(redirect) => Err(format!("it redirects to `{}`", redirect.target.text)),
            None => Ok(()),
        }
    }

    fn may_redirect(&self, redirect: &Redirect, site: &Site<'_>) -> bool {
        may_redirect(redirect, site, self.redirect)
    }
}

/// Whether a redirection changes nothing but what is listed.
pub(crate) fn may_redirect(redirect: &Redirect, site: &Site<'_>, redirects: Redirects) -> bool {
    if redirect.kind == RedirectKind::Duplicate || is_harmless_device(&redirect.target) {
        return true;
    }
    // The shell opens the file here, also for what runs elsewhere.
    let path = site.paths.find(&redirect.target);
    let is_plain = redirect.target.kind == Kind::Literal;
    match redirect.kind {
        RedirectKind::Read => is_plain && path.is_inside(),
        _ => {
            let is_free = match &path {
                Where::Inside(path) => !is_protected(path),
                _ => false,
            };
            redirects == Redirects::Workspace && is_plain && is_free
        }
    }
}

/// Whether the text of an argument is known well enough: literal, a home directory, or a pattern
/// that cannot become an option.
pub(crate) fn is_certain(word: &windlass_shell::Word) -> bool {
    match word.kind {
        Kind::Literal | Kind::Tilde => true,
        Kind::Glob => {
            !word.text.contains('{')
                && word
                    .text
                    .starts_with(|first: char| first.is_alphanumeric() || "./_~".contains(first))
        }
        Kind::Expansion => false,
    }
}

/// The hosts that the call and its command name.
fn all_hosts(site: &Site<'_>) -> Vec<String> {
    let mut all = hosts(site.command);
    all.extend(site.hosts.iter().cloned());
    all
}

/// The hosts a command runs on or connects to by `ssh`.
pub(crate) fn hosts(command: &Command) -> Vec<String> {
    let own = match &command.role {
        Role::Wrapper(via) => Some(via),
        Role::Plain => None,
    };
    let all = command.via.iter().chain(own);
    all.filter_map(|via| match via {
        Via::Ssh { host } => Some(host_name(host).to_owned()),
        _ => None,
    })
    .collect()
}

/// `user@host` and `ssh://user@host:22` without what is not the host.
fn host_name(text: &str) -> &str {
    let text = text.strip_prefix("ssh://").unwrap_or(text);
    let text = text.rsplit('@').next().unwrap_or(text);
    text.split(':').next().unwrap_or(text)
}
