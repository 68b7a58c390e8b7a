//! What the three operations on secrets share: names, calls, states.
//!
//! Creating and deleting are steps of runs, which may be repeated after a crash: what is public here
//! tells such a run how an earlier attempt ended.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_ports::aws::{AwsFailure, Target, services};
use windlass_ports::entropy::random;
use windlass_types::{Problem, code};

use crate::answer::Answer;
use crate::arguments::{Arguments, invalid};
use crate::call::Call;
use crate::failure::{aws_problem, not_found};
use crate::operation::Operation;
use crate::outside::Outside;
use crate::shapes::{named, text};
use crate::{secret_create, secret_delete};

/// How long looking at a secret may take.
const LOOK: Duration = Duration::from_secs(60);

/// Whether a secret is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum SecretState {
    /// It is not.
    Absent,
    /// It is.
    There {
        /// Its name in the account.
        arn: Option<String>,
    },
    /// It waits for its deletion.
    Scheduled,
}

/// The region of an operation on secrets: its argument, or what the credentials' settings say.
pub async fn secret_region(outside: &Outside, arguments: &Value) -> Result<String, Problem> {
    let arguments = Arguments::read(Operation::SecretGet, arguments)?;
    looking(outside, &arguments)?.place().await
}

/// Whether a secret is there.
pub async fn secret_state(outside: &Outside, arguments: &Value) -> Result<SecretState, Problem> {
    let arguments = Arguments::read(Operation::SecretDelete, arguments)?;
    let mut call = looking(outside, &arguments)?;
    call.place().await?;
    let asked = json!({ "SecretId": name(&arguments)? });
    let found = match ask(&call, "DescribeSecret", asked).await {
        Ok(found) => found,
        Err(failure) if failure.is_not_found() => return Ok(SecretState::Absent),
        Err(failure) => return Err(aws_problem(&failure)),
    };
    let waits = found.get("DeletedDate").is_some_and(|date| !date.is_null());
    Ok(match waits {
        true => SecretState::Scheduled,
        false => SecretState::There {
            arn: text(&found, "ARN").map(str::to_owned),
        },
    })
}

/// What a deletion at once has come to whose answer was lost.
pub fn secret_deleted(arguments: &Value, arn: Option<&str>) -> Result<Answer, Problem> {
    let arguments = Arguments::read(Operation::SecretDelete, arguments)?;
    let region = arguments.text("region")?.unwrap_or_default();
    let ask = secret_delete::Ask::read(&arguments)?;
    Ok(secret_delete::done(&ask, region, arn, None))
}

/// What an earlier try with the same token has written, if it got so far: for a caller that has
/// the value no more.
pub async fn secret_written(
    outside: &Outside,
    arguments: &Value,
) -> Result<Option<Answer>, Problem> {
    let arguments = Arguments::read(Operation::SecretCreate, arguments)?;
    let mut call = looking(outside, &arguments)?;
    let region = call.place().await?;
    let name = name(&arguments)?;
    let found = match ask(&call, "DescribeSecret", json!({ "SecretId": name })).await {
        Ok(found) => found,
        Err(failure) if failure.is_not_found() => return Ok(None),
        Err(failure) => return Err(aws_problem(&failure)),
    };
    let is_update = arguments.flag("forceUpdate");
    Ok(secret_create::found(
        &call, &name, &region, &found, is_update,
    ))
}

/// Takes a secret back from its deletion.
pub async fn secret_restored(outside: &Outside, arguments: &Value) -> Result<(), Problem> {
    let arguments = Arguments::read(Operation::SecretDelete, arguments)?;
    let mut call = looking(outside, &arguments)?;
    call.place().await?;
    let name = name(&arguments)?;
    ask(&call, "RestoreSecret", json!({ "SecretId": name }))
        .await
        .map_err(|failure| problem(&call, &name, &failure))?;
    Ok(())
}

/// Refuses a deletion that cannot be undone and that nobody said yes to.
pub fn require_secret_consent(arguments: &Value) -> Result<(), Problem> {
    let arguments = Arguments::read(Operation::SecretDelete, arguments)?;
    secret_delete::Ask::read(&arguments)?.require_yes()
}

fn looking<'a>(outside: &'a Outside, arguments: &'a Arguments) -> Result<Call<'a>, Problem> {
    Ok(Call {
        outside,
        arguments,
        target: Target {
            region: arguments.text("region")?.map(str::to_owned),
            profile: arguments.text("profile")?.map(str::to_owned),
            role_arn: outside.settings.role_arn.clone(),
        },
        deadline: outside.clock.now().after(LOOK),
    })
}

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
    if let Some(token) = &call.outside.settings.request_token {
        return token.clone();
    }
    let bytes: [u8; 16] = random(call.outside.entropy.as_ref());
    hex::encode(bytes)
}
