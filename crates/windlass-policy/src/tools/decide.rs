//! The decision about a call of a tool.
//!
//! In this order, and the strictest answer wins: what guards refuse, the mode, the rules, what
//! guards and taint ask about, grants, what the class says. Where it would ask and nobody is
//! there, it refuses.

use windlass_shell::{Role, Via, is_risky_variable};
use windlass_types::{ApprovalTerms, EffectClass};

use super::{
    Attendance, Finding, Mode, Profile, Sandbox, Site, Taint, ToolClass, ToolDecision, ToolRequest,
    ToolRule, guards, paths::Paths, read_only, rule,
};
use crate::{
    Policy,
    decide::{Answer, Verdict},
};

const BUILT_IN: &str = "built-in";

/// One answer and where it comes from.
struct Answered {
    answer: Answer,
    rule: String,
    source: String,
    reason: Option<String>,
}

impl Answered {
    fn built_in(answer: Answer, rule: &str, reason: impl Into<String>) -> Self {
        Self {
            answer,
            rule: format!("{BUILT_IN}: {rule}"),
            source: BUILT_IN.to_owned(),
            reason: Some(reason.into()),
        }
    }

    fn by(rule: &ToolRule) -> Self {
        Self {
            answer: rule.answer,
            rule: rule.name(),
            source: rule.place.clone(),
            reason: rule.reason.clone(),
        }
    }
}

/// A request with what is found out about it once.
pub(crate) struct Case<'a> {
    pub request: &'a ToolRequest<'a>,
    pub sites: Vec<Site<'a>>,
    pub findings: Vec<Finding>,
    pub class: ToolClass,
}

impl<'a> Case<'a> {
    pub(crate) fn of(request: &'a ToolRequest<'a>) -> Self {
        let paths = Paths::of(request.place, request.script);
        let commands = request.script.map_or(&[][..], |script| &script.commands);
        let is_remote = request.class == ToolClass::Remote;
        let sites: Vec<Site<'_>> = commands
            .iter()
            .enumerate()
            .map(|(index, command)| {
                // A shell that is given nothing to run still opens its redirections.
                let runs_next = commands
                    .get(index + 1)
                    .is_some_and(|next| next.via.len() > command.via.len());
                let is_runner = matches!(&command.role, Role::Wrapper(via) if via.is_transparent());
                let is_away = |via: &Via| matches!(via, Via::Ssh { .. } | Via::Container(_));
                Site {
                    command,
                    paths,
                    is_elsewhere: is_remote || command.via.iter().any(is_away),
                    is_only_runner: is_runner && runs_next,
                    hosts: request.hosts,
                }
            })
            .collect();
        let findings = guards::find(request, &sites, &paths);
        let class = match request.class {
            // A call says what it is, its paths say where.
            ToolClass::Read
                if !request
                    .paths
                    .iter()
                    .all(|path| paths.literal(path).is_inside()) =>
            {
                ToolClass::ReadOutside
            }
            class => class,
        };
        Self {
            request,
            sites,
            findings,
            class,
        }
    }

    /// The effect that rules with `effect` are compared with: what a guard watches for may not be
    /// undone.
    fn effect(&self) -> EffectClass {
        match self.findings.is_empty() {
            true => self.class.effect(),
            false => EffectClass::Destructive,
        }
    }

    /// The commands that have to be covered: a program that only runs another one is judged by
    /// what it runs.
    pub(crate) fn judged(&self) -> impl Iterator<Item = (usize, &Site<'a>)> {
        let all = self.sites.iter().enumerate();
        all.filter(|(_, site)| !site.is_only_runner)
    }
}

impl Policy {
    /// Decides about a call of a tool.
    pub fn decide_tool(&self, request: &ToolRequest<'_>) -> ToolDecision {
        let case = Case::of(request);
        let open: Vec<&Finding> = case
            .findings
            .iter()
            .filter(|finding| !self.lifts(&case, finding))
            .collect();
        let is_guarded = !open.is_empty();
        let mut answers = Vec::new();
        answers.extend(guard_answers(&open, Answer::Deny));
        answers.extend(mode_gate(&case));
        let strict: Vec<&ToolRule> = self
            .tool_rules
            .iter()
            .filter(|rule| rule.answer != Answer::Allow && self.is_touched(rule, &case))
            .collect();
        answers.extend(strict.iter().map(|rule| Answered::by(rule)));
        answers.extend(guard_answers(&open, Answer::Ask));
        answers.extend(taint_answer(&case));
        if !answers
            .iter()
            .any(|answered| answered.answer == Answer::Deny)
        {
            let allowed = self.allowed(&case);
            let is_allowed = allowed.answer == Answer::Allow;
            answers.extend(readonly_gate(&case, is_allowed));
            answers.push(allowed);
        }
        self.strictest(answers, &strict, &case, is_guarded)
    }

    fn strictest(
        &self,
        answers: Vec<Answered>,
        strict: &[&ToolRule],
        case: &Case<'_>,
        is_guarded: bool,
    ) -> ToolDecision {
        let request = case.request;
        let mut found: Option<Answered> = None;
        for answered in answers {
            // The first of equals.
            if found
                .as_ref()
                .is_none_or(|best| answered.answer > best.answer)
            {
                found = Some(answered);
            }
        }
        let found = found.unwrap_or_else(|| {
            Answered::built_in(
                Answer::Ask,
                "unknown calls ask",
                "nothing is known about it",
            )
        });
        let asking: Vec<&&ToolRule> = strict
            .iter()
            .filter(|rule| rule.answer == Answer::Ask)
            .collect();
        let approvers = asking.iter().find_map(|rule| rule.approvers.clone());
        let is_distinct = asking.iter().any(|rule| rule.distinct_approver);
        let terms = ApprovalTerms {
            approvers: approvers.unwrap_or_else(|| self.approvers.clone()),
            quorum: asking.iter().map(|rule| rule.quorum).max().unwrap_or(1),
            except: is_distinct.then(|| request.principal.person()),
        };
        let is_refused = found.answer == Answer::Ask
            && (request.attendance == Attendance::Unattended || !terms.can_be_met());
        let reason = match (is_refused, &found.reason) {
            (true, Some(reason)) => Some(format!("there is nobody to ask: {reason}")),
            (true, None) => Some("there is nobody to ask".to_owned()),
            (false, reason) => reason.clone(),
        };
        ToolDecision {
            verdict: match found.answer {
                Answer::Allow => Verdict::Allow,
                Answer::Ask if !is_refused => Verdict::Ask { terms },
                _ => Verdict::Deny,
            },
            rule: found.rule,
            source: found.source,
            reason,
            is_always_human: asking.iter().any(|rule| rule.is_always_human),
            may_be_remembered: found.answer == Answer::Ask
                && !is_refused
                && !is_guarded
                && !asking.iter().any(|rule| rule.is_always_human)
                && request.taint == Taint::Clean
                && case.class != ToolClass::Destructive
                && case.class != ToolClass::Secret
                && request.script.is_none_or(|script| script.is_understood()),
            findings: case.findings.clone(),
        }
    }

    /// Whether a rule that asks or refuses is about a call.
    fn is_touched(&self, rule: &ToolRule, case: &Case<'_>) -> bool {
        if !rule.applies(case.request, case.effect()) {
            return false;
        }
        let of_commands = case
            .sites
            .iter()
            .enumerate()
            .any(|(index, site)| rule.touches(site, &case.findings, index));
        of_commands || rule.fits_call(case.request, &case.findings)
    }

    /// Whether a rule that names the guard allows what it found.
    fn lifts(&self, case: &Case<'_>, finding: &Finding) -> bool {
        let about = finding.command.and_then(|index| case.sites.get(index));
        self.tool_rules.iter().any(|rule| {
            rule.answer == Answer::Allow
                && rule.guard == Some(finding.guard)
                && rule.applies(case.request, case.effect())
                && match about {
                    Some(site) => rule.gap(site).is_ok(),
                    None => rule.prefix.is_none() && rule.fits_call(case.request, &case.findings),
                }
        })
    }

    /// What rules, grants and the class say where nothing asks or refuses.
    fn allowed(&self, case: &Case<'_>) -> Answered {
        let request = case.request;
        let Some(script) = request.script else {
            let mut rules = self.tool_rules.iter().filter(|rule| {
                rule.answer == Answer::Allow
                    && rule.tool.is_some()
                    && rule.applies(request, case.effect())
                    && rule.fits_call(request, &case.findings)
            });
            if let Some(rule) = rules.next() {
                return Answered::by(rule);
            }
            if case.class != ToolClass::Destructive
                && let Some(grant) = granted(case, None)
            {
                return grant;
            }
            return by_class(case);
        };
        if let Some(concern) = script.concerns.first() {
            let text = format!("{}: {}", concern.kind.as_str(), concern.text);
            return Answered::built_in(Answer::Ask, "commands that are not understood ask", text);
        }
        let mut first = None;
        let mut uncovered = None;
        for (index, site) in case.judged() {
            match self.covering(case, site, index) {
                Some(answered) => first = first.or(Some(answered)),
                None => uncovered = uncovered.or(Some(site)),
            }
        }
        match (uncovered, first) {
            (None, Some(answered)) => answered,
            (Some(site), _) => uncovered_answer(case, site),
            (None, None) => Answered::built_in(Answer::Ask, "empty commands ask", "no command"),
        }
    }

    /// What allows one command.
    fn covering(&self, case: &Case<'_>, site: &Site<'_>, index: usize) -> Option<Answered> {
        let request = case.request;
        let is_guarded_by = |rule: &ToolRule| {
            rule.guard.is_none_or(|guard| {
                case.findings
                    .iter()
                    .any(|finding| finding.guard == guard && finding.is_about(index))
            })
        };
        // Another machine has to be meant.
        let is_meant = |rule: &ToolRule| {
            request.class != ToolClass::Remote || rule.tool.is_some() || !rule.hosts.is_empty()
        };
        let mut rules = self.tool_rules.iter().filter(|rule| {
            rule.answer == Answer::Allow
                && (rule.prefix.is_some() || rule.tool.is_some())
                && is_meant(rule)
                && is_guarded_by(rule)
                && rule.applies(request, case.effect())
                && rule.gap(site).is_ok()
        });
        if let Some(rule) = rules.next() {
            return Some(Answered::by(rule));
        }
        if let Some(answered) = granted(case, Some(site)) {
            return Some(answered);
        }
        let reads_anywhere = matches!(request.mode, Mode::AutoRead | Mode::Auto);
        let name = read_only::covers(site, reads_anywhere)?;
        Some(Answered {
            answer: Answer::Allow,
            rule: format!("read-only: {name}"),
            source: BUILT_IN.to_owned(),
            reason: Some("it only reads".to_owned()),
        })
    }
}

/// What guards say of findings that no rule lifts.
fn guard_answers(open: &[&Finding], answer: Answer) -> Vec<Answered> {
    open.iter()
        .filter(|finding| finding.guard.answer() == answer)
        .map(|finding| {
            Answered::built_in(
                answer,
                &format!("guard {}", finding.guard.as_str()),
                finding.what.clone(),
            )
        })
        .collect()
}

/// Plan mode reads and nothing else, whatever the rules say.
fn mode_gate(case: &Case<'_>) -> Option<Answered> {
    let is_plan = case.request.mode == Mode::Plan;
    let is_free = matches!(case.class, ToolClass::Read | ToolClass::Meta);
    (is_plan && !is_free)
        .then(|| Answered::built_in(Answer::Deny, "plan mode only reads", "the session plans"))
}

/// The read-only profile never asks: what it does not allow, it refuses.
fn readonly_gate(case: &Case<'_>, is_allowed: bool) -> Option<Answered> {
    if case.request.profile != Profile::ReadOnly {
        return None;
    }
    let by_rule = matches!(
        case.class,
        ToolClass::Exec | ToolClass::Network | ToolClass::Remote
    );
    let writes = case.sites.iter().any(|site| {
        let redirects = site.command.redirects.iter();
        redirects
            .into_iter()
            .any(|redirect| !rule::may_redirect(redirect, site, rule::Redirects::None))
    });
    let is_free = matches!(case.class, ToolClass::Read | ToolClass::Meta);
    let passes = is_free || (by_rule && is_allowed && !writes && case.findings.is_empty());
    (!passes).then(|| {
        Answered::built_in(
            Answer::Deny,
            "the read-only profile",
            "only reads, and commands that a rule allows",
        )
    })
}

/// What comes from outside may read; to write, send or spend it has to ask.
fn taint_answer(case: &Case<'_>) -> Option<Answered> {
    if case.request.taint == Taint::Clean || case.class.only_reads() {
        return None;
    }
    let only_reads = case.class == ToolClass::Exec
        && !case.sites.is_empty()
        && case
            .request
            .script
            .is_some_and(|script| script.is_understood())
        && case
            .judged()
            .all(|(_, site)| read_only::covers(site, false).is_some());
    (!only_reads).then(|| {
        Answered::built_in(
            Answer::Ask,
            "arguments from outside ask",
            "its arguments were first seen in text that the user did not write",
        )
    })
}

/// What a grant allows.
fn granted(case: &Case<'_>, site: Option<&Site<'_>>) -> Option<Answered> {
    let request = case.request;
    let grant = request.grants.iter().find(|grant| {
        // A grant is a rule with nothing but a prefix.
        let rule = ToolRule {
            prefix: Some(grant.prefix.iter().map(|word| vec![word.clone()]).collect()),
            project: grant.project.clone(),
            expires: grant.expires,
            ..ToolRule::empty(Answer::Allow)
        };
        let fits = match site {
            Some(site) => !grant.prefix.is_empty() && rule.gap(site).is_ok(),
            None => grant.prefix.is_empty(),
        };
        grant.tool == request.tool && fits && rule.applies(request, case.effect())
    })?;
    Some(Answered {
        answer: Answer::Allow,
        rule: grant.id.clone(),
        source: "grant".to_owned(),
        reason: Some("allowed before".to_owned()),
    })
}

/// What is said of a command that nothing covers.
fn uncovered_answer(case: &Case<'_>, site: &Site<'_>) -> Answered {
    let text = site.command.text();
    let shown = if text.is_empty() {
        "a redirection"
    } else {
        &text
    };
    // Its own sandbox is what makes a command automatic; what leaves it is not, and neither is one
    // whose variables make others of the programs.
    let leaves = case.sites.iter().any(|site| {
        let own = match &site.command.role {
            Role::Wrapper(via) => Some(via),
            Role::Plain => None,
        };
        let mut via = site.command.via.iter().chain(own);
        let assignments = &site.command.assignments;
        site.is_elsewhere
            || guards::reaches_out(site)
            || assignments.iter().any(|one| is_risky_variable(&one.name))
            || via.any(|via| matches!(via, Via::Elevation(_) | Via::Ssh { .. } | Via::Container(_)))
    });
    let request = case.request;
    let is_automatic = request.mode == Mode::Auto
        && case.class == ToolClass::Exec
        && request.sandbox == Sandbox::On
        && !leaves;
    if is_automatic {
        return Answered::built_in(
            Answer::Allow,
            "auto mode, in the sandbox",
            "nothing that guards watch for",
        );
    }
    Answered::built_in(
        Answer::Ask,
        "commands ask",
        format!("no rule allows: {shown}"),
    )
}

/// What the class says.
fn by_class(case: &Case<'_>) -> Answered {
    let mode = case.request.mode;
    let class = case.class;
    let answer = match class {
        ToolClass::Read | ToolClass::Meta => Answer::Allow,
        ToolClass::ReadOutside if matches!(mode, Mode::AutoRead | Mode::Auto) => Answer::Allow,
        ToolClass::Write if mode == Mode::Auto => Answer::Allow,
        _ => Answer::Ask,
    };
    let verb = match answer {
        Answer::Allow => "is allowed",
        _ => "asks",
    };
    Answered::built_in(
        answer,
        &format!("class {} {verb}", class.as_str()),
        match class {
            ToolClass::Unknown => "it is not known what this tool does",
            _ => "no rule is about it",
        },
    )
}
