//! What a function returned, as the response that clients get.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use axum::response::IntoResponse as _;
use serde_json::{Value, json};
use windlass_stack_config::model::events::PayloadFormat;

use crate::runtime_api::InvokeFailure;

/// A response with a message, as API Gateway writes them.
pub(crate) fn message(status: StatusCode, text: &str) -> Response<Body> {
    (status, axum::Json(json!({ "message": text }))).into_response()
}

/// What failed, for clients of an HTTP API. Why it failed is in the log.
pub(crate) fn api_failure(failure: &InvokeFailure) -> Response<Body> {
    match failure {
        InvokeFailure::Timeout(_) => {
            message(StatusCode::GATEWAY_TIMEOUT, "Endpoint request timed out")
        }
        InvokeFailure::Exited => message(StatusCode::BAD_GATEWAY, "Internal Server Error"),
        InvokeFailure::Function(_) | InvokeFailure::Unavailable(_) => {
            message(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error")
        }
    }
}

/// The same for clients of a load balancer.
pub(crate) fn balancer_failure(failure: &InvokeFailure) -> Response<Body> {
    let status = match failure {
        InvokeFailure::Timeout(_) => StatusCode::GATEWAY_TIMEOUT,
        InvokeFailure::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        InvokeFailure::Function(_) | InvokeFailure::Exited => StatusCode::BAD_GATEWAY,
    };
    (status, format!("{status}\n")).into_response()
}

/// Which rules a result is read by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// An HTTP API.
    Api(PayloadFormat),
    /// A load balancer.
    Balancer,
}

/// The response, or what is wrong with the result.
pub(crate) fn response(result: &[u8], reading: Reading) -> Result<Response<Body>, String> {
    let value: Value = serde_json::from_slice(result)
        .map_err(|error| format!("its result is not JSON: {error}"))?;
    let status = value.get("statusCode").filter(|status| !status.is_null());
    let Some(status) = status else {
        // Format 2.0 takes any result as the body of a 200.
        if reading == Reading::Api(PayloadFormat::V2) {
            return Ok(axum::Json(value).into_response());
        }
        return Err("its result has no statusCode".to_owned());
    };
    let status = status
        .as_u64()
        .or_else(|| status.as_str()?.parse().ok())
        .and_then(|status| StatusCode::from_u16(u16::try_from(status).ok()?).ok())
        .ok_or_else(|| format!("its statusCode {status} is not an HTTP status"))?;
    let mut response = Response::new(Body::from(body(&value)?));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in value
        .get("headers")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        headers.insert(header_name(name)?, header_value(name, value)?);
    }
    for (name, values) in value
        .get("multiValueHeaders")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let name_of = header_name(name)?;
        headers.remove(&name_of);
        for value in values.as_array().into_iter().flatten() {
            headers.append(name_of.clone(), header_value(name, value)?);
        }
    }
    for cookie in value
        .get("cookies")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        headers.append(
            axum::http::header::SET_COOKIE,
            header_value("cookies", cookie)?,
        );
    }
    // The length is that of the body that is sent, whatever the function thinks.
    headers.remove(axum::http::header::CONTENT_LENGTH);
    headers.remove(axum::http::header::TRANSFER_ENCODING);
    if !headers.contains_key(axum::http::header::CONTENT_TYPE) && matches!(reading, Reading::Api(_))
    {
        let kind = match reading {
            Reading::Api(PayloadFormat::V2) => "application/json",
            _ => "text/plain;charset=UTF-8",
        };
        headers.insert(
            axum::http::header::CONTENT_TYPE,
            HeaderValue::from_static(kind),
        );
    }
    Ok(response)
}

fn body(value: &Value) -> Result<Vec<u8>, String> {
    let text = match value.get("body") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    if value.get("isBase64Encoded").and_then(Value::as_bool) != Some(true) {
        return Ok(text.into_bytes());
    }
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_err(|error| format!("its body is marked as base64 but is not: {error}"))
}

fn header_name(name: &str) -> Result<HeaderName, String> {
    HeaderName::try_from(name).map_err(|_| format!("'{name}' is not the name of a header"))
}

fn header_value(name: &str, value: &Value) -> Result<HeaderValue, String> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    HeaderValue::try_from(text).map_err(|_| format!("the value of {name} cannot be in a header"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(result: &str, reading: Reading) -> String {
        match response(result.as_bytes(), reading) {
            Ok(response) => {
                let mut headers: Vec<String> = response
                    .headers()
                    .iter()
                    .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
                    .collect();
                headers.sort();
                format!("{} {}", response.status().as_u16(), headers.join(" | "))
            }
            Err(why) => format!("! {why}"),
        }
    }

    #[test]
    fn results_by_format() {
        let v1 = Reading::Api(PayloadFormat::V1);
        let v2 = Reading::Api(PayloadFormat::V2);
        for (result, reading, expected) in [
            (r#"{"a":1}"#, v2, "200 content-type: application/json"),
            (r#""text""#, v2, "200 content-type: application/json"),
            (r#"{"a":1}"#, v1, "! its result has no statusCode"),
            (
                r#"{"statusCode":"201"}"#,
                v1,
                "201 content-type: text/plain;charset=UTF-8",
            ),
            (
                r#"{"statusCode":99}"#,
                v1,
                "! its statusCode 99 is not an HTTP status",
            ),
            (
                r#"{"statusCode":200,"cookies":["a=1","b=2"],"headers":{"Content-Type":"text/html"}}"#,
                v2,
                "200 content-type: text/html | set-cookie: a=1 | set-cookie: b=2",
            ),
            (
                r#"{"statusCode":200,"headers":{"x":"1"},"multiValueHeaders":{"X":["2","3"]}}"#,
                Reading::Balancer,
                "200 x: 2 | x: 3",
            ),
            (
                r#"{"statusCode":200,"body":"%%","isBase64Encoded":true}"#,
                v2,
                "! its body is marked as base64 but is not: Invalid symbol 37, offset 0.",
            ),
            (
                r#"{"statusCode":200,"headers":{"a b":"1"}}"#,
                v2,
                "! 'a b' is not the name of a header",
            ),
        ] {
            assert_eq!(shown(result, reading), expected, "{result}");
        }
    }
}
