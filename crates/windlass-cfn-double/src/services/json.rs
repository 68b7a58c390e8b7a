//! The JSON 1.1 protocol: a target header, an object in, an object out.

use serde_json::{Value, json};

use super::{parameters, secrets};
use crate::env::Env;
use crate::error::ApiError;
use crate::wire::{Reply, Request};

const CONTENT_TYPE: &str = "application/x-amz-json-1.1";

/// (service, action) of a request that names a target.
pub fn target(request: &Request) -> Option<(&'static str, String)> {
    let (prefix, action) = request.header("x-amz-target")?.split_once('.')?;
    let service = match prefix {
        "secretsmanager" => "secretsmanager",
        "AmazonSSM" => "ssm",
        _ => "unknown",
    };
    Some((service, action.to_owned()))
}

pub fn answer(
    service: &str,
    action: &str,
    request: &Request,
    region: &str,
    env: &mut Env,
) -> Result<Reply, ApiError> {
    let input: Value = serde_json::from_slice(&request.body)
        .map_err(|_| ApiError::new("SerializationException", 400, "The body is not JSON"))?;
    let answer = match service {
        "secretsmanager" => secrets::answer(action, &input, region, env)?,
        "ssm" => parameters::answer(action, &input, region, env)?,
        _ => return Err(unknown(action)),
    };
    Ok(Reply::new(200, CONTENT_TYPE, answer.to_string()))
}

pub fn unknown(action: &str) -> ApiError {
    ApiError::new(
        "UnknownOperationException",
        400,
        format!("The double has no action {action}"),
    )
}

pub fn refusal(error: &ApiError) -> Reply {
    // The JSON protocols spell two of the common codes their own way.
    let code = match error.code.as_str() {
        "Throttling" => "ThrottlingException",
        "AccessDenied" => "AccessDeniedException",
        "ExpiredToken" => "ExpiredTokenException",
        other => other,
    };
    let body = json!({ "__type": code, "message": error.message });
    Reply::new(error.status, CONTENT_TYPE, body.to_string()).header("x-amzn-errortype", code)
}
