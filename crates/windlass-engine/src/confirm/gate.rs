//! The one approval path: token, policy, approval, and the commit that makes it a run.
//!
//! A change becomes a run only here. The order matters: the token is opened first, so that a
//! repetition of an applied call is recognised even though the world (and so the plan) has
//! changed since; the plan is made again and compared; policy is asked; then one transaction
//! both redeems the token and creates the run.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use windlass_policy::{Decision, Request, Verdict, may_approve};
use windlass_ports::entropy::random;
use windlass_types::{
    Code, Digest, EffectClass, Plan, Principal, Problem, RunId, Timestamp, TokenId, code,
    journal::ApprovalGate,
};

use super::token::{Claims, TokenError};
use crate::{
    Engine,
    operation::CallContext,
    run::{Holds, NewRun},
};

/// How long a token works.
const TOKEN_LIFETIME: Duration = Duration::from_secs(600);

/// A sealed plan.
#[derive(Clone, Debug)]
pub struct Sealed {
    /// The token.
    pub token: String,
    /// The digest it is bound to.
    pub plan_digest: Digest,
    /// When it stops working.
    pub expires_at: Timestamp,
}

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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    /// Whether the caller's own yes counts.
    pub caller_may_approve: bool,
}

/// An apply call.
#[derive(Clone, Copy, Debug)]
pub struct ApplyRequest<'a> {
    /// The applying operation.
    pub operation: &'a str,
    /// The operation that hands out tokens for it.
    pub plan_operation: &'a str,
    /// The kind of run to start.
    pub kind: &'a str,
    /// Who calls.
    pub context: &'a CallContext,
    /// The token.
    pub confirm_token: Option<&'a str>,
    /// Whether the caller said an explicit yes.
    pub yes: bool,
    /// The caller's idempotency key.
    pub idempotency_key: Option<&'a str>,
}

/// A change somebody asks for, as policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct Consent<'a> {
    /// Who asks.
    pub context: &'a CallContext,
    /// The operation.
    pub operation: &'a str,
    /// What it would touch.
    pub target: &'a str,
    /// What it would do.
    pub effect: EffectClass,
    /// Whether the caller's own yes counts where no rule says otherwise.
    pub confirmed: bool,
    /// Whether the caller said an explicit yes.
    pub yes: bool,
    /// What an approval would name.
    pub plan_digest: Digest,
}

/// A token that opened for this caller and operation.
#[derive(Debug)]
pub struct OpenedToken {
    id: TokenId,
    plan_digest: Digest,
}

/// What opening a token tells.
#[derive(Debug)]
pub enum Opened {
    /// It has not been used.
    Fresh(OpenedToken),
    /// It was used by an earlier call with the same idempotency key; this is that call's run.
    Repeated(RunId),
}

impl Engine {
    /// Seals a plan for a principal. Only the plan's own operation can be applied with it.
    pub fn seal(&self, principal: &Principal, plan: &Plan) -> Result<Sealed, Problem> {
        let expires_at = self.now().after(TOKEN_LIFETIME);
        let plan_digest = plan.digest();
        let claims = Claims {
            id: TokenId::from_random(random(&*self.entropy)),
            principal: principal.id(),
            operation: plan.operation.clone(),
            plan_digest,
            expires_at,
        };
        let token = self
            .sealer
            .seal(&claims)
            .map_err(|error| Problem::internal("confirm token", error))?;
        Ok(Sealed {
            token,
            plan_digest,
            expires_at,
        })
    }

    /// What policy will say when the plan is applied.
    pub fn foresee(&self, context: &CallContext, plan: &Plan) -> PolicyView {
        let decision = self.decide(context, plan);
        let approvers = match &decision.verdict {
            Verdict::Ask { approvers } => approvers.clone(),
            Verdict::Allow | Verdict::Deny => Vec::new(),
        };
        PolicyView {
            verdict: decision.verdict.as_str().to_owned(),
            caller_may_approve: may_approve(&context.principal, &approvers),
            rule: decision.rule,
            reason: decision.reason.unwrap_or_default(),
            approvers,
        }
    }

    fn decide(&self, context: &CallContext, plan: &Plan) -> Decision {
        self.policy.decide(&Request {
            operation: &plan.operation,
            principal: &context.principal,
            target: &plan.target,
            effect: plan.effect,
            confirmed: false,
        })
    }

    /// Opens the token of an apply call, before anything is planned.
    pub async fn open_token(&self, request: &ApplyRequest<'_>) -> Result<Opened, Problem> {
        let refuse = |code: &'static Code, reason: &str, message: &str| {
            Err(Problem::new(code, message.to_owned())
                .with("reason_code", reason)
                .next(format!(
                    "call {} and review the plan",
                    request.plan_operation
                ))
                .next(format!(
                    "call {} with the new confirm_token",
                    request.operation
                )))
        };
        let Some(token) = request.confirm_token.filter(|token| !token.is_empty()) else {
            return refuse(
                &code::CONFIRM_TOKEN_REQUIRED,
                "token_missing",
                "this change needs the confirm token of a reviewed plan",
            );
        };
        let claims = match self.sealer.open(token, self.now()) {
            Ok(claims) => claims,
            Err(error @ TokenError::Expired) => {
                return refuse(
                    &code::CONFIRM_TOKEN_EXPIRED,
                    "token_expired",
                    &error.to_string(),
                );
            }
            Err(error @ TokenError::Invalid) => {
                return refuse(
                    &code::CONFIRM_TOKEN_MISMATCH,
                    "token_invalid",
                    &error.to_string(),
                );
            }
        };
        if claims.principal != request.context.principal.id() {
            return refuse(
                &code::CONFIRM_TOKEN_MISMATCH,
                "principal_mismatch",
                "the confirm token was made for another caller",
            );
        }
        if claims.operation != request.operation {
            return refuse(
                &code::CONFIRM_TOKEN_MISMATCH,
                "operation_mismatch",
                "the confirm token was made for another operation",
            );
        }
        if let Some(run_id) = self.store.redeemed_by(&claims.id).await? {
            let record = self.store.run(&run_id).await?;
            let same_key = record.is_some_and(|record| {
                record.idempotency_key.is_some()
                    && record.idempotency_key.as_deref() == request.idempotency_key
            });
            if same_key {
                return Ok(Opened::Repeated(run_id));
            }
            return Err(crate::engine::commit_problem(
                windlass_ports::CommitError::TokenUsed { run_id },
            ));
        }
        Ok(Opened::Fresh(OpenedToken {
            id: claims.id,
            plan_digest: claims.plan_digest,
        }))
    }

    /// Starts the run that applies `plan`, if the opened token and policy agree.
    pub async fn apply(
        &self,
        request: &ApplyRequest<'_>,
        opened: OpenedToken,
        plan: Plan,
    ) -> Result<RunId, Problem> {
        let plan_digest = plan.digest();
        if plan_digest != opened.plan_digest {
            return Err(Problem::new(
                &code::CONFIRM_TOKEN_MISMATCH,
                "the plan has changed since it was confirmed",
            )
            .with("reason_code", "plan_changed")
            .with("confirmed_plan_digest", opened.plan_digest.to_string())
            .with("current_plan_digest", plan_digest.to_string())
            .next(format!(
                "call {} and review what differs",
                request.plan_operation
            )));
        }
        let approval = self.approval_for(request, &plan, plan_digest)?;
        self.create_run(NewRun {
            kind: request.kind.to_owned(),
            title: format!("{} {}", plan.operation, plan.target),
            context: request.context.clone(),
            input: plan.payload,
            plan_digest: Some(plan_digest),
            confirm_token: Some(opened.id),
            approval,
            idempotency_key: request.idempotency_key.map(str::to_owned),
            run_id: None,
            holds: Holds::default(),
        })
        .await
    }

    fn approval_for(
        &self,
        request: &ApplyRequest<'_>,
        plan: &Plan,
        plan_digest: Digest,
    ) -> Result<Option<ApprovalGate>, Problem> {
        self.consent(&Consent {
            context: request.context,
            operation: &plan.operation,
            target: &plan.target,
            effect: plan.effect,
            confirmed: false,
            yes: request.yes,
            plan_digest,
        })
    }

    /// What policy wants before a change is made: nothing, an approval that was just given, or
    /// one that the run must wait for.
    pub fn consent(&self, consent: &Consent<'_>) -> Result<Option<ApprovalGate>, Problem> {
        let principal = &consent.context.principal;
        let (operation, target) = (consent.operation, consent.target);
        let decision = self.policy.decide(&Request {
            operation,
            principal,
            target,
            effect: consent.effect,
            confirmed: consent.confirmed,
        });
        match decision.verdict {
            Verdict::Allow => Ok(None),
            Verdict::Deny => Err(Problem::new(
                &code::POLICY_DENIED,
                format!("policy forbids {operation} on {target} for {principal}"),
            )
            .with("reason_code", "policy_denied")
            .with("reason", decision.reason.unwrap_or_default())
            .with("rule", decision.rule)
            .next("windlass policy check")),
            Verdict::Ask { approvers } if consent.yes && may_approve(principal, &approvers) => {
                Ok(Some(ApprovalGate::Given {
                    by: principal.clone(),
                    plan_digest: consent.plan_digest,
                }))
            }
            Verdict::Ask { approvers } if approvers.is_empty() => Err(Problem::new(
                &code::APPROVAL_REQUIRED,
                format!(
                    "{operation} on {target} needs an approval, and policy names nobody who could \
                     give it"
                ),
            )
            .with("reason_code", "no_approver")
            .with("rule", decision.rule)),
            Verdict::Ask { approvers } => Ok(Some(ApprovalGate::Wanted {
                approvers,
                rule: decision.rule,
            })),
        }
    }
}
