//! The gate: the one place that decides whether a call may go on, and the one place where a
//! change becomes a run.
//!
//! Operations never see a verdict. They answer, or they propose a run; a run whose plan is made
//! while it runs asks again once the plan is known. `allow`, `ask` and `deny` mean the same for
//! each of them: an `ask` is met by a caller who may approve and says yes, otherwise by another
//! person's approval of a waiting run, and where nothing can wait the call is refused.

use schemars::JsonSchema;
use serde::Serialize;
use windlass_policy::{Decision, Request, Targets, Verdict, WithoutRule, may_approve};
use windlass_text::shell_word;
use windlass_types::{
    ApprovalTerms, EffectClass, Plan, Principal, Problem, RunId, code,
    journal::{ApprovalGate, ChangeSubject},
};

use crate::{
    Engine,
    operation::{CallContext, OperationInfo, ProposedRun, Timing},
    run::{NewRun, NotCreated},
};

/// How many lines of a plan an approver is shown.
const MAX_LINES: usize = 40;
/// How long each of them may be.
const MAX_LINE: usize = 200;

/// What policy says, as shown beside a plan.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PolicyView {
    /// `allow`, `ask` or `deny`.
    pub verdict: String,
    /// The rule that decides.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// Who can be asked, where policy asks.
    #[serde(flatten)]
    pub terms: ApprovalTerms,
    /// Whether the caller's own yes counts.
    pub caller_may_approve: bool,
}

/// A call or a change to be judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'a> {
    pub operation: &'a str,
    pub principal: &'a Principal,
    pub targets: Targets<'a>,
    pub effect: EffectClass,
    pub without_rule: WithoutRule,
    /// Whether the caller says yes to exactly this.
    pub yes: bool,
}

/// A call that is not refused.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    /// The rule that decided.
    pub rule: String,
    pub passage: Passage,
}

/// Whether a call goes on at once.
#[derive(Clone, Debug)]
pub(crate) enum Passage {
    /// Nobody has to be asked.
    Free,
    /// The caller may approve, and said yes.
    OwnYes,
    /// Others have to approve first.
    Wanted { terms: ApprovalTerms },
}

impl Engine {
    /// Decides. An error is a refusal that no approval can lift.
    pub(crate) fn judge(&self, question: &Question<'_>) -> Result<Judged, Problem> {
        let decision = self.policy.decide(&question.request());
        let own_yes_counts = !(decision.is_built_in() && question.without_rule == WithoutRule::Ask);
        let Decision {
            verdict,
            rule,
            reason,
        } = decision;
        let (operation, principal) = (question.operation, question.principal);
        let passage = match verdict {
            Verdict::Allow => Passage::Free,
            Verdict::Deny => {
                return Err(Problem::new(
                    &code::POLICY_DENIED,
                    format!(
                        "policy forbids {operation}{} for {principal}",
                        question.on_targets()
                    ),
                )
                .with("reason_code", "policy_denied")
                .with("reason", reason.unwrap_or_default())
                .with("rule", rule.as_str())
                .next(self.policy_check(question, &rule)));
            }
            Verdict::Ask { terms }
                if question.yes
                    && own_yes_counts
                    && terms.quorum == 1
                    && may_approve(principal, &terms) =>
            {
                Passage::OwnYes
            }
            Verdict::Ask { terms } if !terms.can_be_met() => {
                return Err(Problem::new(
                    &code::APPROVAL_REQUIRED,
                    format!(
                        "{operation}{} needs {}, and policy names no approvers who could give it",
                        question.on_targets(),
                        terms.text()
                    ),
                )
                .with("reason_code", "no_approver")
                .with("rule", rule.as_str())
                .next(self.policy_check(question, &rule)));
            }
            Verdict::Ask { terms } => Passage::Wanted { terms },
        };
        Ok(Judged { rule, passage })
    }

    /// The command that shows this decision again. Of several targets it names one that leads to
    /// the same rule.
    fn policy_check(&self, question: &Question<'_>, rule: &str) -> String {
        let mut command = format!(
            "windlass policy check --operation {} --principal {}",
            question.operation,
            shell_word(&question.principal.id())
        );
        let (targets, files): (&[String], &[String]) = match question.targets {
            Targets::Unknown => (&[], &[]),
            Targets::Known(targets) => (targets, &[]),
            Targets::Files { targets, files } => (targets, files),
        };
        let alone = |target: &&String| {
            let request = Request {
                targets: Targets::Known(std::slice::from_ref(*target)),
                ..question.request()
            };
            self.policy.decide(&request).rule == rule
        };
        let named = targets.iter().chain(files).find(alone).or(targets.first());
        if let Some(target) = named.filter(|target| !target.is_empty()) {
            command.push_str(&format!(" --target {}", shell_word(target)));
        }
        command.push_str(&format!(" --effect {}", question.effect.as_str()));
        command
    }

    /// What policy says to a plan before anybody applies it.
    pub fn preview_policy(&self, context: &CallContext, plan: &Plan) -> PolicyView {
        let question = Question {
            operation: &plan.operation,
            principal: &context.principal,
            targets: Targets::Files {
                targets: std::slice::from_ref(&plan.target),
                files: &plan.files(),
            },
            effect: plan.effect,
            without_rule: WithoutRule::ByEffect,
            yes: false,
        };
        self.policy_view(&question.request())
    }

    /// What policy says to a request, in the form people are shown.
    pub fn policy_view(&self, request: &Request<'_>) -> PolicyView {
        let decision = self.policy.decide(request);
        let terms = match &decision.verdict {
            Verdict::Ask { terms } => terms.clone(),
            Verdict::Allow | Verdict::Deny => ApprovalTerms::default(),
        };
        PolicyView {
            verdict: decision.verdict.as_str().to_owned(),
            caller_may_approve: may_approve(request.principal, &terms) && terms.quorum == 1,
            rule: decision.rule,
            reason: decision.reason.unwrap_or_default(),
            terms,
        }
    }

    /// Makes a run of what an operation proposes, if the gate lets it. The commit that creates
    /// the run redeems its token.
    pub(crate) async fn admit(
        &self,
        info: &OperationInfo,
        context: &CallContext,
        proposed: ProposedRun,
        decision: &mut String,
    ) -> Result<RunId, Problem> {
        let ProposedRun {
            kind,
            title,
            input,
            subject,
            plan_digest,
            without_rule,
            token,
            idempotency_key,
            bound_to,
            run_id,
            holds,
            job_limit,
            timing,
            files,
            ..
        } = proposed;
        if let (Some(token), Some(digest)) = (&token, plan_digest)
            && (token.purpose.plan_digest != digest || token.purpose.operation != info.name)
        {
            return Err(Problem::new(
                &code::CONFIRM_TOKEN_MISMATCH,
                "the plan has changed since it was confirmed",
            )
            .with("reason_code", "plan_changed")
            .with(
                "confirmed_plan_digest",
                token.purpose.plan_digest.to_string(),
            )
            .with("current_plan_digest", digest.to_string()));
        }
        let subject = bounded(subject);
        let judged = self.judge(&Question {
            operation: &info.name,
            principal: &context.principal,
            targets: match timing {
                Timing::AtStart => Targets::Files {
                    targets: &subject.targets,
                    files: &files,
                },
                Timing::WhenPlanned => Targets::Unknown,
            },
            effect: subject.effect,
            without_rule: without_rule.unwrap_or(info.without_rule),
            yes: subject.yes,
        })?;
        decision.clone_from(&judged.rule);
        let approval = match (timing, judged.passage) {
            (_, Passage::Free) | (Timing::WhenPlanned, _) => None,
            // A query that is a run cannot wait: it was judged before it was called.
            (Timing::AtStart, _) if info.flow.is_reading() => None,
            (Timing::AtStart, Passage::OwnYes) => Some(ApprovalGate::Given {
                by: context.principal.clone(),
                plan_digest: plan_digest.unwrap_or_default(),
            }),
            (Timing::AtStart, Passage::Wanted { .. }) if context.terms.is_granted(&info.name) => {
                None
            }
            (Timing::AtStart, Passage::Wanted { terms }) => Some(ApprovalGate::Wanted {
                terms,
                rule: judged.rule,
            }),
        };
        let key = idempotency_key.or_else(|| context.terms.idempotency_key.clone());
        let new = NewRun {
            kind,
            title,
            context: context.clone(),
            input,
            plan_digest,
            confirm_token: token.map(|token| token.id),
            approval,
            subject: Some(subject),
            idempotency_key: key.clone(),
            bound_to,
            run_id,
            holds,
        };
        let created = match job_limit {
            Some(limit) => self.create_job(new, limit).await,
            None => self.create_run(new).await.map_err(NotCreated::into_problem),
        };
        match created {
            // Another call with the same key redeemed the token between our look and the commit.
            Err(problem) if problem.code() == &code::CONFIRM_TOKEN_USED && key.is_some() => {
                self.same_call(problem, key).await
            }
            created => created,
        }
    }

    async fn same_call(&self, problem: Problem, key: Option<String>) -> Result<RunId, Problem> {
        let run_id = problem.details().get("run_id");
        let run_id: Option<RunId> = run_id.and_then(|id| id.as_str()?.parse().ok());
        let Some(run_id) = run_id else {
            return Err(problem);
        };
        let record = self.store.run(&run_id).await?;
        match record.is_some_and(|record| record.idempotency_key == key) {
            true => Ok(run_id),
            false => Err(problem),
        }
    }
}

impl<'a> Question<'a> {
    const fn request(&self) -> Request<'a> {
        Request {
            operation: self.operation,
            principal: self.principal,
            targets: self.targets,
            effect: self.effect,
            without_rule: self.without_rule,
        }
    }

    fn on_targets(&self) -> String {
        match self.targets {
            Targets::Known(targets) | Targets::Files { targets, .. }
                if targets.iter().any(|target| !target.is_empty()) =>
            {
                format!(" on {}", targets.join(", "))
            }
            Targets::Known(_) | Targets::Files { .. } | Targets::Unknown => String::new(),
        }
    }
}

/// The refusal of a call that needs another person's approval and cannot wait for it.
pub(crate) fn cannot_wait(
    operation: &str,
    principal: &Principal,
    rule: &str,
    terms: &ApprovalTerms,
) -> Problem {
    Problem::new(
        &code::APPROVAL_REQUIRED,
        format!(
            "{operation} needs an approval that {principal} may not give; it can be called by {}",
            terms.approvers.join(" or ")
        ),
    )
    .with("reason_code", "approval_required")
    .with_approval(terms)
    .with("rule", rule)
}

/// What an approver is shown, in a bounded form.
pub(crate) fn bounded(mut subject: ChangeSubject) -> ChangeSubject {
    let surplus = subject.lines.len().saturating_sub(MAX_LINES);
    subject.lines.truncate(MAX_LINES);
    for line in &mut subject.lines {
        if let Some((cut, _)) = line.char_indices().nth(MAX_LINE) {
            line.truncate(cut);
            line.push('…');
        }
    }
    if surplus > 0 {
        subject.lines.push(format!("… and {surplus} more"));
    }
    subject
}
