//! The AWS identity of the caller, and who they are here.

use serde_json::json;
use windlass_ports::aws::Target;
use windlass_types::Problem;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::aws_problem;

/// Where the identity is asked for when no region is set.
const ANY_REGION: &str = "us-east-1";

pub(crate) async fn answer(call: &mut Call<'_>) -> Result<Answer, Problem> {
    // An identity has no region; STS has to be asked somewhere.
    let region = match &call.target.region {
        Some(region) => Some(region.clone()),
        None => {
            let region = call.outside.cloud.region(&call.target).await;
            region.map_err(|failure| aws_problem(&failure))?
        }
    };
    let target = Target {
        region: Some(region.clone().unwrap_or_else(|| ANY_REGION.to_owned())),
        ..call.target.clone()
    };
    let caller = call.outside.cloud.caller(&target).await;
    let caller = caller.map_err(|failure| aws_problem(&failure))?;
    let settings = &call.outside.settings;
    Ok(Answer::new(
        match &region {
            Some(region) => format!("{} in {region}", caller.arn),
            None => format!("{}; no region is set", caller.arn),
        },
        json!({
            "account": caller.account,
            "arn": caller.arn,
            "userId": caller.user_id,
            "region": region,
            "profile": call.target.profile,
            "credentialSource": caller.credential_source,
            "expiresAt": caller.expires_at,
            "policy": settings.policy,
            "localPrincipal": settings.principal,
            "readOnly": settings.read_only,
        }),
    ))
}
