//! What the three operations on secrets share: names, calls, states.

use serde_json::{Value, json};
use windlass_ports::aws::{AwsFailure, services};
use windlass_ports::entropy::random;
use windlass_types::{Problem, code};

use crate::arguments::{Arguments, invalid};
use crate::call::Call;
use crate::failure::{aws_problem, not_found};
use crate::shapes::named;

/// A name Secrets Manager takes.
pub(crate) fn name(arguments: &Arguments) -> Result<String, Problem> {
    let name = arguments.needed("secretName")?;
    let is_allowed = name
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || "/_+=.@-:".contains(letter));
    if name.len() > 512 || !is_allowed {
        return Err(invalid(
            "secretName",
            "secretName has at most 512 letters, digits and /_+=.@-",
        ));
    }
    Ok(name.to_owned())
}

/// Calls an action of Secrets Manager.
pub(crate) async fn ask(
    call: &Call<'_>,
    action: &'static str,
    input: Value,
) -> Result<Value, AwsFailure> {
    call.aws(named(&services::SECRETSMANAGER, action), input)
        .await
}

/// A secret's description, or the problem that there is none.
pub(crate) async fn described(call: &Call<'_>, name: &str) -> Result<Value, Problem> {
    ask(call, "DescribeSecret", json!({ "SecretId": name }))
        .await
        .map_err(|failure| problem(call, name, &failure))
}

/// A failure about a secret.
pub(crate) fn problem(call: &Call<'_>, name: &str, failure: &AwsFailure) -> Problem {
    let region = call.target.region.as_deref().unwrap_or_default();
    if failure.is_not_found() {
        return not_found(
            "secret",
            name,
            format!("there is no secret {name} in {region}"),
            [],
        );
    }
    if is_scheduled(failure) {
        return Problem::new(
            &code::NOT_FOUND,
            format!("the secret {name} in {region} is scheduled for deletion"),
        )
        .with("reason", "scheduled_for_deletion")
        .with("kind", "secret")
        .with("name", name)
        .next("restore it with secret_create and forceUpdate=true");
    }
    aws_problem(failure)
}

/// Whether AWS refused because the secret waits for its deletion.
pub(crate) fn is_scheduled(failure: &AwsFailure) -> bool {
    failure.code == "InvalidRequestException" && failure.message.contains("deletion")
}

/// A token that makes a repeated call the same call.
pub(crate) fn token(call: &Call<'_>) -> String {
    let bytes: [u8; 16] = random(call.outside.entropy.as_ref());
    hex::encode(bytes)
}
