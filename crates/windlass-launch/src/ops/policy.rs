//! Whether somebody must approve a pull request before it is opened.

use windlass_launch_model::Profile;
use windlass_policy::{Request, Verdict, may_approve};
use windlass_types::{EffectClass, Principal, Problem, code};

use super::Desk;
use crate::view::LaunchView;

const NAME: &str = "launch.open_pr";

/// As a rule says; without a rule, in profile prod.
pub(super) fn needs_approval(
    desk: &Desk,
    principal: &Principal,
    view: &LaunchView,
) -> Result<bool, Problem> {
    let decision = desk.engine.policy.decide(&Request {
        operation: NAME,
        principal,
        target: &view.product_slug,
        effect: EffectClass::Write,
        confirmed: view.profile != Profile::Prod,
    });
    match decision.verdict {
        Verdict::Allow => Ok(false),
        // Whoever could give the approval gives it with the call, but for prod without a rule.
        Verdict::Ask { approvers } => {
            let by_rule = !decision.rule.starts_with("built-in");
            Ok(!(by_rule && may_approve(principal, &approvers)))
        }
        Verdict::Deny => Err(Problem::new(
            &code::POLICY_DENIED,
            format!("policy forbids {NAME} for {principal}"),
        )
        .with("rule", decision.rule)),
    }
}
