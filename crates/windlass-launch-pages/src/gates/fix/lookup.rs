//! The claim a sentence says, if one does.

use windlass_launch_model::{Claim, claim::normalise};

use crate::{
    gates::{
        checks::{truth_lock, universality},
        input::GateInput,
        prose,
    },
    support,
};

/// How alike two texts must be to count as one.
const ALIKE: f64 = 0.8;

/// The claim with equal text, else the likest one with the same numbers. Only claims that may be
/// shown, and that the sentence adds nothing to.
pub(super) fn claim_for<'a>(input: &'a GateInput, text: &str) -> Option<&'a Claim> {
    let normal = |text: &str| normalise(text, &input.facts.product_name);
    let wanted = normal(text);
    let fits = |claim: &&Claim| {
        support::check(
            text,
            &[claim.claim_text.as_str()],
            &input.facts.product_name,
        )
        .is_ok()
            && universality::extra(input, text, &claim.claim_text).is_none()
            && truth_lock::stands(input, &claim.claim_id)
    };
    let claims = || input.facts.claims.iter();
    let equal = claims()
        .filter(|claim| normal(&claim.claim_text) == wanted)
        .find(fits);
    equal.or_else(|| {
        let mut alike: Vec<(f64, &Claim)> = claims()
            .filter(|claim| prose::numbers(&claim.claim_text) == prose::numbers(text))
            .map(|claim| (prose::jaccard(&claim.claim_text, text), claim))
            .filter(|(share, _)| *share >= ALIKE)
            .collect();
        alike.sort_by(|a, b| {
            b.0.total_cmp(&a.0)
                .then_with(|| a.1.claim_id.cmp(&b.1.claim_id))
        });
        alike.into_iter().map(|(_, claim)| claim).find(fits)
    })
}
