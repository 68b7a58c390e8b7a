//! `admin.policy_check`: what policy would say, and which rule says it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    Engine,
    operation::{Operation, operation as define},
};
use windlass_policy::{Request, Targets};
use windlass_types::{EffectClass, Principal, PrincipalKind, Problem, Scope};

use crate::TOOLSET;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The operation's name, e.g. `demo.apply`.
    operation: String,
    /// Who would call, e.g. `local:ada` or `key:key_…`; the caller when absent.
    #[serde(default)]
    principal: Option<String>,
    /// What it would act on.
    #[serde(default)]
    target: String,
    /// What it would do.
    effect: EffectClass,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// `allow`, `ask` or `deny`.
    verdict: String,
    /// The rule that decides.
    rule: String,
    /// Why.
    reason: String,
    /// Who could be asked.
    approvers: Vec<String>,
    /// How many different approvers have to say yes.
    quorum: u64,
    /// Whether the caller's own approval counts for nothing.
    distinct_approver: bool,
}

pub(crate) fn operation(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "policy_check")
        .describe(
            "Check policy",
            "Says what policy would decide for an operation, and which rule decides.",
        )
        .example(
            "Can anyone delete?",
            json!({ "operation": "demo.apply", "effect": "destructive" }),
        )
        .handle(move |context, input: Input| {
            let engine = engine.clone();
            async move {
                let principal = match &input.principal {
                    Some(text) => parse_principal(text)?,
                    None => context.principal,
                };
                let without_rule = engine
                    .defaults_of(&input.operation)
                    .map(|(_, without_rule)| without_rule)
                    .unwrap_or_default();
                let targets = [input.target];
                let view = engine.policy_view(&Request {
                    operation: &input.operation,
                    principal: &principal,
                    targets: Targets::Known(&targets),
                    effect: input.effect,
                    without_rule,
                });
                Ok(Output {
                    verdict: view.verdict,
                    rule: view.rule,
                    reason: view.reason,
                    quorum: u64::from(view.terms.quorum),
                    distinct_approver: view.terms.except.is_some(),
                    approvers: view.terms.approvers,
                })
            }
        })
}

fn parse_principal(text: &str) -> Result<Principal, Problem> {
    let (kind, name) = text.split_once(':').unwrap_or(("", text));
    let kind = match kind {
        "local" => PrincipalKind::Local,
        "key" => PrincipalKind::Key,
        "system" => PrincipalKind::System,
        _ => {
            return Err(Problem::invalid(
                "principal",
                "format",
                "write a principal as local:NAME, key:ID or system:engine",
            ));
        }
    };
    Ok(Principal {
        kind,
        name: name.to_owned(),
        scopes: vec![Scope::all()],
    })
}
