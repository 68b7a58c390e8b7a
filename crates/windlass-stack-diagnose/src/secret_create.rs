//! Makes a secret, or with `forceUpdate` a new version of one, restored first if it must be.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use windlass_types::{Problem, Secret, code};

use crate::answer::Answer;
use crate::arguments::{Arguments, invalid, missing};
use crate::call::Call;
use crate::failure::aws_problem;
use crate::secrets::{ask as call_secrets, described, is_scheduled, name, token};
use crate::shapes::text;

/// What Secrets Manager keeps of one value.
const BYTES: usize = 65_536;

pub(crate) struct Ask {
    name: String,
    value: Option<Secret<String>>,
    file: Option<String>,
    force_update: bool,
}

impl Ask {
    pub(crate) fn read(arguments: &Arguments) -> Result<Self, Problem> {
        // Spaces may be a secret; only nothing at all is refused.
        let value = arguments.value("secretValue").and_then(Value::as_str);
        let file = arguments.text("secretFile")?;
        match (value, file) {
            (None, None) => return Err(missing("secretValue")),
            (Some(_), Some(_)) => {
                return Err(invalid(
                    "secretFile",
                    "give secretValue or secretFile, not both",
                ));
            }
            (Some(""), _) => return Err(invalid("secretValue", "secretValue is empty")),
            (Some(value), _) if value.len() > BYTES => {
                return Err(invalid(
                    "secretValue",
                    format!("secretValue has more than {BYTES} bytes"),
                ));
            }
            _ => {}
        }
        Ok(Self {
            name: name(arguments)?,
            value: value.map(|value| Secret::new(value.to_owned())),
            file: file.map(str::to_owned),
            force_update: arguments.flag("forceUpdate"),
        })
    }
}

pub(crate) async fn answer(call: &mut Call<'_>, ask: &Ask) -> Result<Answer, Problem> {
    let (member, value) = value(call, ask)?;
    call.outside.redactor.register(&value);
    let region = call.place().await?;
    let token = token(call);
    let create = json!({
        "Name": ask.name,
        member: value.expose_secret(),
        "ClientRequestToken": token,
    });
    let failure = match call_secrets(call, "CreateSecret", create).await {
        Ok(made) => {
            let version = text(&made, "VersionId");
            return Ok(done(&ask.name, &region, &made, version, Way::Made));
        }
        Err(failure) => failure,
    };
    if !failure.is_already_exists() && !is_scheduled(&failure) {
        return Err(aws_problem(&failure));
    }
    let found = described(call, &ask.name).await?;
    if let Some(answer) = self::found(call, &ask.name, &region, &found, ask.force_update) {
        return Ok(answer);
    }
    let waits = found.get("DeletedDate").is_some_and(|date| !date.is_null());
    if !ask.force_update {
        return Err(taken(&ask.name, &region, waits));
    }
    if waits {
        call_secrets(call, "RestoreSecret", json!({ "SecretId": ask.name }))
            .await
            .map_err(|failure| aws_problem(&failure))?;
    }
    let put = json!({
        "SecretId": ask.name,
        member: value.expose_secret(),
        "ClientRequestToken": token,
    });
    let written = call_secrets(call, "PutSecretValue", put)
        .await
        .map_err(|failure| aws_problem(&failure))?;
    let version = text(&written, "VersionId");
    let way = Way::Updated { restored: waits };
    Ok(done(&ask.name, &region, &written, version, way))
}

/// How a value got into a secret.
#[derive(Clone, Copy)]
enum Way {
    Made,
    Updated { restored: bool },
}

/// The version that an earlier try of this call wrote, in the description of a secret. Whether
/// that try also restored the secret is for the caller to know.
pub(crate) fn found(
    call: &Call<'_>,
    name: &str,
    region: &str,
    described: &Value,
    is_update: bool,
) -> Option<Answer> {
    let token = call.outside.settings.request_token.as_deref()?;
    described.get("VersionIdsToStages")?.get(token)?;
    let way = match is_update {
        true => Way::Updated { restored: false },
        false => Way::Made,
    };
    Some(done(name, region, described, Some(token), way))
}

fn done(name: &str, region: &str, made: &Value, version: Option<&str>, way: Way) -> Answer {
    let (message, restored) = match way {
        Way::Made => (format!("created the secret {name} in {region}"), false),
        Way::Updated { restored } => (
            format!("wrote a new version of the secret {name} in {region}"),
            restored,
        ),
    };
    Answer::new(
        message,
        json!({
            "name": name,
            "arn": text(made, "ARN"),
            "versionId": version,
            "restored": restored,
        }),
    )
}

fn taken(name: &str, region: &str, waits: bool) -> Problem {
    let (reason, message) = if waits {
        (
            "scheduled_for_deletion",
            format!("the secret {name} in {region} is scheduled for deletion"),
        )
    } else {
        (
            "exists",
            format!("the secret {name} in {region} exists already"),
        )
    };
    Problem::new(&code::ALREADY_EXISTS, message)
        .with("reason", reason)
        .with("kind", "secret")
        .with("name", name)
        .next("repeat with forceUpdate=true to write a new version")
}

/// The value and the member it goes in: text where it is text, otherwise bytes.
fn value(call: &Call<'_>, ask: &Ask) -> Result<(&'static str, Secret<String>), Problem> {
    let Some(file) = &ask.file else {
        let value = ask.value.clone().ok_or_else(|| missing("secretValue"))?;
        return Ok(("SecretString", value));
    };
    let path = call.directory()?.join(file);
    let bytes = fs_err::metadata(&path)
        .and_then(|facts| {
            if facts.len() > BYTES as u64 {
                return Ok(None);
            }
            fs_err::read(&path).map(Some)
        })
        .map_err(|error| invalid("secretFile", format!("secretFile cannot be read: {error}")))?;
    match bytes {
        None => Err(invalid(
            "secretFile",
            format!("{file} has more than {BYTES} bytes"),
        )),
        Some(bytes) if bytes.is_empty() => Err(invalid("secretFile", format!("{file} is empty"))),
        Some(bytes) => Ok(match String::from_utf8(bytes) {
            Ok(text) => ("SecretString", Secret::new(text)),
            Err(error) => (
                "SecretBinary",
                Secret::new(STANDARD.encode(error.as_bytes())),
            ),
        }),
    }
}
