//! Secrets Manager, as much as a deployment asks of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::clock;
use crate::env::Env;
use crate::error::ApiError;

/// (region, name) → secret.
#[derive(Clone, Debug, Default)]
pub struct Secrets(BTreeMap<(String, String), Secret>);

#[derive(Clone, Debug)]
struct Secret {
    arn: String,
    value: Value,
    version: String,
    /// The version before.
    previous: Option<String>,
    created: u64,
    changed: u64,
    /// When it will be gone, once its deletion is scheduled.
    deletion: Option<u64>,
}

impl Secret {
    /// A call that is repeated with its token and its value; `None` for any other.
    fn repeated(&self, input: &Value) -> Option<Result<(), ApiError>> {
        let token = input.get("ClientRequestToken").and_then(Value::as_str);
        let is_known = token == Some(self.version.as_str())
            || token.is_some() && token == self.previous.as_deref();
        match is_known {
            false => None,
            true if value_of(input) == self.value => Some(Ok(())),
            true => Some(Err(ApiError::new(
                "ResourceExistsException",
                400,
                "You tried to create a version with a token that has another value.",
            ))),
        }
    }
}

impl Secrets {
    /// By name or ARN; one that waits for its deletion does not count.
    pub fn exists(&self, region: &str, id: &str) -> bool {
        self.find(region, id)
            .is_some_and(|(_, secret)| secret.deletion.is_none())
    }

    /// How each is: its versions, newest first, and whether it waits for its deletion.
    pub fn dump(&self) -> Value {
        let of_each = self.0.iter().map(|((region, name), secret)| {
            let versions: Vec<&String> = [Some(&secret.version), secret.previous.as_ref()]
                .into_iter()
                .flatten()
                .collect();
            let state = json!({ "versions": versions, "is_deleted": secret.deletion.is_some() });
            (format!("{region}/{name}"), state)
        });
        Value::Object(of_each.collect())
    }

    pub fn names(&self) -> Vec<String> {
        self.0
            .keys()
            .map(|(region, name)| format!("{region}/{name}"))
            .collect()
    }

    /// A secret that is a resource of a stack.
    pub fn put_existing(
        &mut self,
        region: &str,
        name: &str,
        arn: &str,
        value: &str,
        version: &str,
        now: u64,
    ) {
        let secret = Secret {
            arn: arn.to_owned(),
            value: json!({ "SecretString": value }),
            version: version.to_owned(),
            previous: None,
            created: now,
            changed: now,
            deletion: None,
        };
        self.0.insert((region.to_owned(), name.to_owned()), secret);
    }

    pub fn remove(&mut self, region: &str, name: &str) {
        self.0.remove(&(region.to_owned(), name.to_owned()));
    }

    fn find(&self, region: &str, id: &str) -> Option<(&String, &Secret)> {
        self.0
            .iter()
            .find(|((of, name), secret)| of == region && (name == id || secret.arn == id))
            .map(|((_, name), secret)| (name, secret))
    }

    fn find_mut(&mut self, region: &str, id: &str) -> Result<(String, &mut Secret), ApiError> {
        self.0
            .iter_mut()
            .find(|((of, name), secret)| of == region && (name == id || secret.arn == id))
            .map(|((_, name), secret)| (name.clone(), secret))
            .ok_or_else(not_found)
    }
}

fn not_found() -> ApiError {
    ApiError::new(
        "ResourceNotFoundException",
        400,
        "Secrets Manager can't find the specified secret.",
    )
}

fn invalid(message: &str) -> ApiError {
    ApiError::new("InvalidRequestException", 400, message)
}

fn refuse_marked(secret: &Secret) -> Result<(), ApiError> {
    match secret.deletion {
        Some(_) => Err(invalid(
            "You can't perform this operation on the secret because it was marked for deletion.",
        )),
        None => Ok(()),
    }
}

/// The value fields of a request, as they are given back.
fn value_of(input: &Value) -> Value {
    match (input.get("SecretString"), input.get("SecretBinary")) {
        (Some(text), _) => json!({ "SecretString": text }),
        (None, Some(bytes)) => json!({ "SecretBinary": bytes }),
        _ => json!({}),
    }
}

pub fn answer(action: &str, input: &Value, region: &str, env: &mut Env) -> Result<Value, ApiError> {
    let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
    let (id, now) = (text("SecretId"), env.now);
    match action {
        "CreateSecret" => create(text("Name"), input, region, env),
        "ListSecrets" => {
            let list: Vec<Value> = env
                .secrets
                .0
                .iter()
                .filter(|((of, _), _)| of == region)
                .map(|((_, name), secret)| described(name, secret))
                .collect();
            Ok(json!({ "SecretList": list }))
        }
        "DescribeSecret" => {
            let (name, secret) = env.secrets.find(region, id).ok_or_else(not_found)?;
            Ok(described(name, secret))
        }
        "GetSecretValue" => {
            let (name, secret) = env.secrets.find(region, id).ok_or_else(not_found)?;
            refuse_marked(secret)?;
            let mut answer = json!({
                "ARN": secret.arn,
                "Name": name,
                "VersionId": secret.version,
                "VersionStages": ["AWSCURRENT"],
                "CreatedDate": clock::seconds(secret.changed),
            });
            for (key, value) in secret.value.as_object().into_iter().flatten() {
                answer[key] = value.clone();
            }
            Ok(answer)
        }
        "PutSecretValue" | "UpdateSecret" => {
            let version = version_of(input, env);
            let (name, secret) = env.secrets.find_mut(region, id)?;
            refuse_marked(secret)?;
            let value = value_of(input);
            let is_empty = value.as_object().is_none_or(serde_json::Map::is_empty);
            match secret.repeated(input) {
                Some(repeated) => repeated?,
                None if is_empty => {}
                None => {
                    secret.previous = Some(std::mem::replace(&mut secret.version, version));
                    secret.value = value;
                    secret.changed = now;
                }
            }
            Ok(
                json!({ "ARN": secret.arn, "Name": name, "VersionId": secret.version,
                       "VersionStages": ["AWSCURRENT"] }),
            )
        }
        "DeleteSecret" => {
            let (name, secret) = env.secrets.find_mut(region, id)?;
            let is_forced = input.get("ForceDeleteWithoutRecovery") == Some(&Value::Bool(true));
            if !is_forced {
                refuse_marked(secret)?;
            }
            let days = input
                .get("RecoveryWindowInDays")
                .and_then(Value::as_u64)
                .unwrap_or(30);
            let at = if is_forced {
                now
            } else {
                now + days * 86_400_000
            };
            secret.deletion = Some(at);
            let answer =
                json!({ "ARN": secret.arn, "Name": name, "DeletionDate": clock::seconds(at) });
            if is_forced {
                env.secrets.remove(region, &name);
            }
            Ok(answer)
        }
        "RestoreSecret" => {
            let (name, secret) = env.secrets.find_mut(region, id)?;
            secret.deletion = None;
            Ok(json!({ "ARN": secret.arn, "Name": name }))
        }
        other => Err(super::json::unknown(other)),
    }
}

/// The id of a new version: the caller's token, else one of its own.
fn version_of(input: &Value, env: &mut Env) -> String {
    let token = input.get("ClientRequestToken").and_then(Value::as_str);
    token.map_or_else(|| env.ids.uuid(), str::to_owned)
}

fn create(name: &str, input: &Value, region: &str, env: &mut Env) -> Result<Value, ApiError> {
    if let Some((_, secret)) = env.secrets.find(region, name) {
        if let (Some(Ok(())), None) = (secret.repeated(input), secret.deletion) {
            return Ok(json!({ "ARN": secret.arn, "Name": name, "VersionId": secret.version }));
        }
        return Err(match secret.deletion {
            Some(_) => invalid(
                "You can't create this secret because a secret with this name is already \
                 scheduled for deletion.",
            ),
            None => ApiError::new(
                "ResourceExistsException",
                400,
                format!("The operation failed because the secret {name} already exists."),
            ),
        });
    }
    let secret = Secret {
        arn: format!(
            "arn:aws:secretsmanager:{region}:{}:secret:{name}-{}",
            env.account,
            env.ids.code(6)
        ),
        value: value_of(input),
        version: version_of(input, env),
        previous: None,
        created: env.now,
        changed: env.now,
        deletion: None,
    };
    let answer = json!({ "ARN": secret.arn, "Name": name, "VersionId": secret.version });
    env.secrets
        .0
        .insert((region.to_owned(), name.to_owned()), secret);
    Ok(answer)
}

fn described(name: &str, secret: &Secret) -> Value {
    let mut answer = json!({
        "ARN": secret.arn,
        "Name": name,
        "CreatedDate": clock::seconds(secret.created),
        "LastChangedDate": clock::seconds(secret.changed),
        "VersionIdsToStages": { secret.version.clone(): ["AWSCURRENT"] },
    });
    if let Some(previous) = &secret.previous {
        answer["VersionIdsToStages"][previous] = json!(["AWSPREVIOUS"]);
    }
    if let Some(at) = secret.deletion {
        answer["DeletedDate"] = json!(clock::seconds(at));
    }
    answer
}
