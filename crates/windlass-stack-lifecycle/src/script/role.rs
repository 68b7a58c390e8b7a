//! Credentials of a resource's role, for a script that acts as that resource.

use windlass_ports::aws::{AssumeRole, SessionCredentials};
use windlass_stack_compile::role_id;
use windlass_types::{Problem, code};

use crate::fault::Fault;
use crate::script::failure::not_found;
use crate::script::run::{ScriptCall, Surroundings};
use crate::script::values::Values;

/// The shortest and the longest time AWS gives, in seconds.
const SHORTEST: u64 = 900;
const LONGEST: u64 = 3_600;

/// Takes on the role, or fails: the caller's own, wider credentials are never used instead.
pub(crate) async fn credentials(
    call: &ScriptCall<'_>,
    resource: &str,
    around: &Surroundings<'_>,
    values: &mut Values<'_>,
) -> Result<SessionCredentials, Problem> {
    if !call.config.resources.contains_key(resource) {
        let known = call.config.resources.keys().map(String::as_str);
        let message = format!("there is no resource \"{resource}\" to take the role of");
        return Err(not_found("resource", resource, message, known));
    }
    let id = role_id(resource);
    let Some(name) = values.physical(&id).await? else {
        let stack = call.facts.stack_name();
        let message = format!("the resource \"{resource}\" has no role in the stack {stack}");
        return Err(not_found("role", &id, message, [])
            .next("name a function, a service, a batch job or a state machine that is deployed"));
    };
    let (partition, account) = values.owner().await?;
    let role_arn = format!("arn:{partition}:iam::{account}:role/{name}");
    let access = around.access;
    let left = around.deadline.since(access.clock.now()).as_secs();
    let seconds = left.clamp(SHORTEST, LONGEST);
    let request = AssumeRole {
        role_arn: role_arn.clone(),
        session_name: session_name(call.script),
        external_id: None,
        policy: None,
        duration_seconds: u32::try_from(seconds).ok(),
    };
    let assumed = access.cloud.assume_role(&access.target, request).await;
    assumed.map_err(|failure| {
        if !failure.is_access() || failure.is_expired() {
            return Fault::problem(failure);
        }
        let who = failure.principal.as_deref().unwrap_or("the caller");
        Problem::new(
            &code::UNAUTHORIZED,
            format!("{who} may not assume the role of \"{resource}\" ({role_arn})"),
        )
        .with("reason", "role_not_assumable")
        .with("resource", resource)
        .with("script", call.script)
        .with("roleArn", role_arn)
        .next(format!(
            "let {who} assume it: set AssumeRolePolicyDocument of {id} in the overrides of \"{resource}\", and allow sts:AssumeRole"
        ))
    })
}

/// Letters AWS takes in the name of a session, at most 64.
fn session_name(script: &str) -> String {
    let plain = script.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() || "=,.@_-".contains(letter) => letter,
        _ => '-',
    });
    "windlass-".chars().chain(plain).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_have_names_aws_accepts() {
        assert_eq!(session_name("seed data/é"), "windlass-seed-data--");
        assert_eq!(session_name(&"x".repeat(90)).len(), 64);
    }
}
