//! The policy file: any text is understood wholly or refused with a place in the file.

use windlass_policy::{Policy, Request, Targets, Verdict, WithoutRule};
use windlass_types::{EffectClass, Principal};

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match Policy::parse(text, "policy.toml") {
        Ok(policy) => {
            let principal = Principal::local_agent("ada", "mcp");
            let decision = policy.decide(&Request {
                operation: "demo.apply",
                principal: &principal,
                targets: Targets::Known(&["/srv/app".to_owned()]),
                effect: EffectClass::Destructive,
                without_rule: WithoutRule::ByEffect,
            });
            // Only a written rule may allow destruction.
            assert!(decision.verdict != Verdict::Allow || decision.rule.starts_with("policy.toml"));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
