//! From the parameters of a call to what a stack should become.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::Context;
use crate::env::Env;
use crate::error::ApiError;
use crate::params::Params;
use crate::stack::{Parameter, Target};
use crate::template::{INLINE_LIMIT, ParameterRule, STORED_LIMIT, Template};

/// Reads template, parameters, tags and the rest; what is not given stays as it was.
pub fn target(context: &Context<'_>, previous: Option<&Target>) -> Result<Target, ApiError> {
    let params = context.params;
    let template = template(params, previous, context.env)?;
    let capabilities = params.list("Capabilities");
    check_capabilities(&template, &capabilities)?;
    let parameters = parameters(params, &template, previous, context.region, context.env)?;
    let tags = match previous {
        Some(previous) if !params.has("Tags") => previous.tags.clone(),
        _ => tags(params)?,
    };
    let notifications = match previous {
        Some(previous) if !params.has("NotificationARNs") => previous.notifications.clone(),
        _ => params.list("NotificationARNs"),
    };
    let role = params.get("RoleARN").map(str::to_owned);
    Ok(Target {
        template,
        parameters,
        tags,
        capabilities,
        notifications,
        role: role.or_else(|| previous.and_then(|previous| previous.role.clone())),
    })
}

/// The template of a call, checked.
pub fn template(
    params: &Params,
    previous: Option<&Target>,
    env: &Env,
) -> Result<Arc<Template>, ApiError> {
    if params.flag("UsePreviousTemplate") {
        return previous
            .map(|target| target.template.clone())
            .ok_or_else(|| {
                ApiError::validation("UsePreviousTemplate needs a stack that has a template")
            });
    }
    let body = match (params.get("TemplateBody"), params.get("TemplateURL")) {
        (Some(body), None) => {
            if body.len() > INLINE_LIMIT {
                return Err(ApiError::validation(format!(
                    "1 validation error detected: Value at 'templateBody' failed to satisfy \
                     constraint: Member must have length less than or equal to {INLINE_LIMIT}"
                )));
            }
            body.to_owned()
        }
        (None, Some(url)) => stored_template(url, env)?,
        _ => {
            return Err(ApiError::validation(
                "Either Template URL or Template Body must be specified.",
            ));
        }
    };
    Ok(Arc::new(Template::parse(&body)?))
}

fn stored_template(address: &str, env: &Env) -> Result<String, ApiError> {
    let unreadable = || {
        ApiError::validation(
            "S3 error: The specified key does not exist.\nFor more information check http://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html",
        )
    };
    let (bucket, key) = bucket_and_key(address)
        .ok_or_else(|| ApiError::validation("TemplateURL must be a supported URL."))?;
    let version = env.buckets.object(&bucket, &key).ok_or_else(unreadable)?;
    if version.body.len() > STORED_LIMIT {
        return Err(ApiError::validation(format!(
            "Template may not exceed {STORED_LIMIT} bytes in size."
        )));
    }
    String::from_utf8(version.body.clone())
        .map_err(|_| ApiError::template("the template is not UTF-8 text"))
}

/// Path style (`s3…/bucket/key`, or any plain host) and virtual-host style (`bucket.s3…/key`).
fn bucket_and_key(address: &str) -> Option<(String, String)> {
    let address = url::Url::parse(address).ok()?;
    let host = address.host_str()?;
    let decoded: Vec<String> = address
        .path_segments()?
        .map(|part| {
            let pair = format!("k={}", part.replace('+', "%2B"));
            url::form_urlencoded::parse(pair.as_bytes())
                .next()
                .map(|(_, value)| value.into_owned())
                .unwrap_or_default()
        })
        .collect();
    let (bucket, key) = match host.split_once(".s3") {
        Some((bucket, _)) => (bucket.to_owned(), decoded.join("/")),
        None => {
            let (first, rest) = decoded.split_first()?;
            (first.clone(), rest.join("/"))
        }
    };
    (!bucket.is_empty() && !key.is_empty()).then_some((bucket, key))
}

fn check_capabilities(template: &Template, given: &[String]) -> Result<(), ApiError> {
    let has = |name: &str| given.iter().any(|given| given == name);
    let (needed, _) = template.capabilities();
    let missing: Vec<&str> = needed
        .into_iter()
        .filter(|name| {
            let covered = *name == "CAPABILITY_IAM" && has("CAPABILITY_NAMED_IAM");
            !has(name) && !covered
        })
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(ApiError::new(
        "InsufficientCapabilitiesException",
        400,
        format!("Requires capabilities : [{}]", missing.join(", ")),
    ))
}

fn tags(params: &Params) -> Result<BTreeMap<String, String>, ApiError> {
    let records = params.records("Tags");
    if records.len() > 50 {
        return Err(ApiError::validation(
            "1 validation error detected: Value at 'tags' failed to satisfy constraint: Member \
             must have length less than or equal to 50",
        ));
    }
    records
        .iter()
        .map(|tag| {
            let value = tag.get("Value").unwrap_or_default();
            Ok((tag.required("Key")?.to_owned(), value.to_owned()))
        })
        .collect()
}

fn parameters(
    params: &Params,
    template: &Template,
    previous: Option<&Target>,
    region: &str,
    env: &Env,
) -> Result<BTreeMap<String, Parameter>, ApiError> {
    let mut given: BTreeMap<String, Option<String>> = BTreeMap::new();
    for record in params.records("Parameters") {
        let key = record.required("ParameterKey")?.to_owned();
        let value = if record.flag("UsePreviousValue") {
            let before = previous.and_then(|target| target.parameters.get(&key));
            before.map(|parameter| parameter.text.clone())
        } else {
            Some(record.get("ParameterValue").unwrap_or_default().to_owned())
        };
        given.insert(key, value);
    }
    let unknown: Vec<&str> = given
        .keys()
        .filter(|key| !template.parameters.contains_key(*key))
        .map(String::as_str)
        .collect();
    if !unknown.is_empty() {
        return Err(ApiError::validation(format!(
            "Parameters: [{}] do not exist in the template",
            unknown.join(", ")
        )));
    }
    let mut found = BTreeMap::new();
    let mut missing: Vec<&str> = Vec::new();
    for (name, rule) in &template.parameters {
        let text = given
            .remove(name)
            .flatten()
            .or_else(|| rule.default.clone());
        match text {
            Some(text) => {
                found.insert(name.clone(), parameter(name, rule, text, region, env)?);
            }
            None => missing.push(name),
        }
    }
    if missing.is_empty() {
        return Ok(found);
    }
    Err(ApiError::validation(format!(
        "Parameters: [{}] must have values",
        missing.join(", ")
    )))
}

fn parameter(
    name: &str,
    rule: &ParameterRule,
    text: String,
    region: &str,
    env: &Env,
) -> Result<Parameter, ApiError> {
    if !rule.allowed.is_empty() && !rule.allowed.contains(&text) {
        return Err(ApiError::validation(format!(
            "Parameter '{name}' must be one of AllowedValues"
        )));
    }
    if rule.kind == "Number" && text.parse::<f64>().is_err() {
        return Err(ApiError::validation(format!(
            "Parameter '{name}' must be a number."
        )));
    }
    let is_stored = rule.kind.starts_with("AWS::SSM::Parameter::Value<");
    let resolved = if is_stored {
        let value = env.parameters.value(region, &text).ok_or_else(|| {
            ApiError::validation(format!(
                "Parameters [{text}] referenced by template have not been found."
            ))
        })?;
        Some(value.to_owned())
    } else {
        None
    };
    let plain = resolved.as_ref().unwrap_or(&text);
    let is_list = rule.kind == "CommaDelimitedList" || rule.kind.contains("List<");
    let value = if is_list {
        plain
            .split(',')
            .map(|part| Value::from(part.trim()))
            .collect()
    } else {
        Value::from(plain.as_str())
    };
    Ok(Parameter {
        text,
        value,
        resolved,
        no_echo: rule.no_echo,
    })
}

#[cfg(test)]
mod tests {
    use super::bucket_and_key;

    #[test]
    fn template_addresses_in_every_style() {
        let expected = Some(("assets".to_owned(), "a/b c.json".to_owned()));
        for address in [
            "http://127.0.0.1:4566/assets/a/b%20c.json",
            "https://s3.eu-west-1.amazonaws.com/assets/a/b%20c.json",
            "https://assets.s3.eu-west-1.amazonaws.com/a/b%20c.json",
            "https://assets.s3.amazonaws.com/a/b%20c.json?versionId=1",
        ] {
            assert_eq!(bucket_and_key(address), expected, "{address}");
        }
        for address in [
            "nonsense",
            "https://s3.amazonaws.com/assets",
            "https://x.s3.amazonaws.com/",
        ] {
            assert_eq!(bucket_and_key(address), None, "{address}");
        }
    }
}
