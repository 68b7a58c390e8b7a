//! The password of a database of a stack: where its template says it is kept.
//!
//! Passwords are made known to the redactor as soon as they are read, and live in [`Secret`]s.

use futures::future::BoxFuture;
use serde_json::{Value, json};
use windlass_ports::aws::{Stack, TemplateStage, services};
use windlass_types::{Problem, Secret, code};

use crate::call::Call;
use crate::failure::aws_problem;
use crate::shapes::{named, text};

const OPENING: &str = "{{resolve:";
const CLOSING: &str = "}}";

/// A property of a resource, as the stack's template has it.
pub(crate) async fn property(
    call: &Call<'_>,
    stack: &Stack,
    logical_id: &str,
    name: &str,
) -> Result<Option<Value>, Problem> {
    let template = call
        .outside
        .cloud
        .get_template(&call.target, &stack.stack_name, TemplateStage::Processed)
        .await
        .map_err(|failure| aws_problem(&failure))?;
    let Ok(template) = serde_json::from_str::<Value>(&template) else {
        return Err(unreadable(logical_id, "the stack's template is not JSON"));
    };
    let property = template
        .get("Resources")
        .and_then(|resources| resources.get(logical_id)?.get("Properties")?.get(name));
    Ok(property.cloned())
}

/// The text a property stands for, its references followed.
pub(crate) fn resolve<'a>(
    call: &'a Call<'_>,
    stack: &'a Stack,
    owner: &'a str,
    value: &'a Value,
) -> BoxFuture<'a, Result<Secret<String>, Problem>> {
    Box::pin(async move {
        let resolved = match value {
            Value::String(text) => expand(call, owner, text).await?,
            Value::Object(function) => match function.iter().next() {
                Some((name, Value::String(parameter))) if name == "Ref" => {
                    parameter_value(stack, owner, parameter)?
                }
                Some((name, Value::String(text))) if name == "Fn::Sub" && !text.contains("${") => {
                    expand(call, owner, text).await?
                }
                Some((name, Value::Array(parts))) if name == "Fn::Join" => {
                    let separator = parts.first().and_then(Value::as_str).unwrap_or_default();
                    let mut joined = Vec::new();
                    for part in parts.get(1).and_then(Value::as_array).into_iter().flatten() {
                        let part = resolve(call, stack, owner, part).await?;
                        joined.push(part.expose_secret().clone());
                    }
                    joined.join(separator)
                }
                _ => return Err(unreadable(owner, "the template computes it")),
            },
            _ => return Err(unreadable(owner, "the template does not hold it as text")),
        };
        let secret = Secret::new(resolved);
        call.outside.redactor.register(&secret);
        Ok(secret)
    })
}

/// The value of a secret, whole or one key of it.
pub(crate) async fn secret(
    call: &Call<'_>,
    owner: &str,
    id: &str,
    key: Option<&str>,
) -> Result<Secret<String>, Problem> {
    let shape = named(&services::SECRETSMANAGER, "GetSecretValue");
    let found = call
        .aws(shape, json!({ "SecretId": id }))
        .await
        .map_err(|failure| aws_problem(&failure))?;
    let whole = text(&found, "SecretString").unwrap_or_default();
    let value = match key {
        None => whole.to_owned(),
        Some(key) => serde_json::from_str::<Value>(whole)
            .ok()
            .and_then(|secret| secret.get(key)?.as_str().map(str::to_owned))
            .ok_or_else(|| unreadable(owner, &format!("the secret {id} has no key {key}")))?,
    };
    let secret = Secret::new(value);
    call.outside.redactor.register(&secret);
    Ok(secret)
}

fn parameter_value(stack: &Stack, owner: &str, name: &str) -> Result<String, Problem> {
    let parameter = stack
        .parameters
        .iter()
        .find(|parameter| parameter.parameter_key == name)
        .and_then(|parameter| parameter.parameter_value.as_deref());
    match parameter {
        Some(value) if !value.chars().all(|letter| letter == '*') => Ok(value.to_owned()),
        _ => Err(unreadable(
            owner,
            &format!("it was a parameter ({name}) that CloudFormation does not show"),
        )),
    }
}

/// A text with its dynamic references followed.
async fn expand(call: &Call<'_>, owner: &str, text: &str) -> Result<String, Problem> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPENING) {
        let Some((reference, behind)) = after.split_once(CLOSING) else {
            break;
        };
        expanded.push_str(before);
        let value = follow(call, owner, reference).await?;
        expanded.push_str(value.expose_secret());
        rest = behind;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

async fn follow(call: &Call<'_>, owner: &str, reference: &str) -> Result<Secret<String>, Problem> {
    match Reference::read(reference) {
        Some(Reference::Secret { id, key }) => secret(call, owner, &id, key.as_deref()).await,
        Some(Reference::Parameter { name }) => {
            let shape = named(&services::SSM, "GetParameter");
            let found = call
                .aws(shape, json!({ "Name": name, "WithDecryption": true }))
                .await
                .map_err(|failure| aws_problem(&failure))?;
            let value = found.pointer("/Parameter/Value").and_then(Value::as_str);
            let secret = Secret::new(value.unwrap_or_default().to_owned());
            call.outside.redactor.register(&secret);
            Ok(secret)
        }
        None => Err(unreadable(
            owner,
            "the template refers to it in an unknown way",
        )),
    }
}

/// A dynamic reference of a template.
#[derive(Debug, PartialEq, Eq)]
enum Reference {
    Secret { id: String, key: Option<String> },
    Parameter { name: String },
}

impl Reference {
    /// Reads `secretsmanager:NAME:SecretString:KEY:…` and `ssm-secure:NAME:VERSION`.
    fn read(text: &str) -> Option<Self> {
        let (service, rest) = text.split_once(':')?;
        match service {
            "secretsmanager" => {
                let parts: Vec<&str> = rest.split(':').collect();
                // An ARN has colons of its own.
                let in_id = if rest.starts_with("arn:") { 7 } else { 1 };
                let id = parts.get(..in_id)?.join(":");
                let key = parts.get(in_id + 1).filter(|key| !key.is_empty());
                Some(Self::Secret {
                    id,
                    key: key.map(|key| (*key).to_owned()),
                })
            }
            "ssm" | "ssm-secure" => Some(Self::Parameter {
                // A version is part of the name as SSM takes it: `name:3`.
                name: rest.to_owned(),
            }),
            _ => None,
        }
    }
}

fn unreadable(owner: &str, cause: &str) -> Problem {
    Problem::new(
        &code::UNAUTHORIZED,
        format!("the password of {owner} cannot be read: {cause}"),
    )
    .with("reason", "credentials_unknown")
    .with("resource", owner)
    .next("keep the password in Secrets Manager and refer to it with $Secret in the config")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references() {
        let secret = |id: &str, key: Option<&str>| {
            Some(Reference::Secret {
                id: id.to_owned(),
                key: key.map(str::to_owned),
            })
        };
        for (text, expected) in [
            ("secretsmanager:db", secret("db", None)),
            (
                "secretsmanager:db:SecretString:password",
                secret("db", Some("password")),
            ),
            (
                "secretsmanager:db:SecretString::AWSCURRENT",
                secret("db", None),
            ),
            (
                "secretsmanager:arn:aws:secretsmanager:eu-west-1:1:secret:db-x:SecretString:p::",
                secret("arn:aws:secretsmanager:eu-west-1:1:secret:db-x", Some("p")),
            ),
            (
                "ssm-secure:/shop/db:3",
                Some(Reference::Parameter {
                    name: "/shop/db:3".to_owned(),
                }),
            ),
            ("kms:x", None),
            ("secretsmanager", None),
            ("secretsmanager:arn:aws", None),
        ] {
            assert_eq!(Reference::read(text), expected, "{text}");
        }
    }
}
