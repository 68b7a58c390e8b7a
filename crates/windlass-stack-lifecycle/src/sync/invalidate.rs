//! Cached contents of a distribution dropped, so that visitors see what was put.

use serde_json::{Value, json};
use windlass_ports::aws::{ActionShape, Place as At, SignedCall, services};
use windlass_types::Problem;

use crate::{Access, Fault};

const CREATE_INVALIDATION: ActionShape = ActionShape::rest(
    &services::CLOUDFRONT,
    "CreateInvalidation",
    "POST",
    "/2020-05-31/distribution/{DistributionId}/invalidation",
    &[("InvalidationBatch", At::Payload)],
)
.with_list_names(&[("Items", "Path")]);

/// Starts to drop everything a distribution caches; returns the invalidation's id. The same
/// reference (a run's id) is the same invalidation, so repeating it does not begin another.
pub async fn invalidate(
    access: &Access,
    distribution: &str,
    reference: &str,
) -> Result<String, Problem> {
    let input = json!({
        "DistributionId": distribution,
        "InvalidationBatch": {
            "Paths": { "Quantity": 1, "Items": ["/*"] },
            "CallerReference": reference,
        },
    });
    let call = SignedCall::new(CREATE_INVALIDATION, input);
    let answer = access.cloud.call(&access.target, call).await;
    let answer = answer.map_err(|failure| {
        let problem = Fault::problem(failure);
        problem.with("distribution", distribution)
    })?;
    let id = answer
        .get("Id")
        .or_else(|| answer.pointer("/Invalidation/Id"));
    Ok(id.and_then(Value::as_str).unwrap_or_default().to_owned())
}
