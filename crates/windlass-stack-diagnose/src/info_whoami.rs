//! Who AWS takes the caller for, and who they are here.

use serde_json::json;
use windlass_types::Problem;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::aws_problem;

pub(crate) async fn answer(call: &mut Call<'_>) -> Result<Answer, Problem> {
    call.place().await?;
    let caller = call.outside.cloud.caller(&call.target).await;
    let caller = caller.map_err(|failure| aws_problem(&failure))?;
    let settings = &call.outside.settings;
    Ok(Answer::new(
        format!("{} in {}", caller.arn, caller.region),
        json!({
            "account": caller.account,
            "arn": caller.arn,
            "userId": caller.user_id,
            "region": caller.region,
            "profile": call.target.profile,
            "credentialSource": caller.credential_source,
            "expiresAt": caller.expires_at,
            "policy": settings.policy,
            "localPrincipal": settings.principal,
            "readOnly": settings.read_only,
        }),
    ))
}
