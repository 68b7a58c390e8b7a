//! Requests as the events that functions get: payload formats 1.0 and 2.0 of HTTP APIs, and the
//! one of load balancers.

use serde_json::{Map, Value, json};

use super::matching::{Matched, route_key};
use super::request::Incoming;

/// The account that nothing belongs to.
pub(crate) const ACCOUNT: &str = "000000000000";

fn texts(pairs: impl IntoIterator<Item = (String, String)>) -> Value {
    Value::Object(
        pairs
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect::<Map<_, _>>(),
    )
}

/// An empty collection is left out as null.
fn or_null(value: Value) -> Value {
    let is_empty = value.as_object().is_some_and(Map::is_empty);
    if is_empty { Value::Null } else { value }
}

fn joined(pairs: Vec<(String, Vec<String>)>) -> Value {
    texts(
        pairs
            .into_iter()
            .map(|(name, values)| (name, values.join(","))),
    )
}

fn last(pairs: &[(String, Vec<String>)]) -> Value {
    texts(
        pairs
            .iter()
            .map(|(name, values)| (name.clone(), values.last().cloned().unwrap_or_default())),
    )
}

/// `15/Nov/2026:10:00:01 +0000`.
fn common_log_time(incoming: &Incoming) -> String {
    jiff::Timestamp::from_millisecond(incoming.at.as_millis())
        .map(|at| at.strftime("%d/%b/%Y:%H:%M:%S +0000").to_string())
        .unwrap_or_default()
}

/// Payload format 2.0.
pub(crate) fn version_2(incoming: &Incoming, matched: &Matched<'_>, api: &str) -> Value {
    let key = route_key(matched.route);
    let (body, is_base64) = incoming.body_text();
    let host = incoming.header("host").unwrap_or("localhost").to_owned();
    let cookies: Vec<&str> = incoming
        .header("cookie")
        .map(|cookies| {
            cookies
                .split(';')
                .map(str::trim)
                .filter(|it| !it.is_empty())
                .collect()
        })
        .unwrap_or_default();
    let mut headers = incoming.header_values();
    headers.retain(|(name, _)| name != "cookie");
    let mut event = json!({
        "version": "2.0",
        "routeKey": key,
        "rawPath": incoming.path,
        "rawQueryString": incoming.query,
        "headers": joined(headers),
        "requestContext": {
            "accountId": ACCOUNT,
            "apiId": api,
            "domainName": host,
            "domainPrefix": api,
            "http": {
                "method": incoming.method.as_str(),
                "path": incoming.path,
                "protocol": "HTTP/1.1",
                "sourceIp": incoming.source_ip,
                "userAgent": incoming.header("user-agent").unwrap_or_default(),
            },
            "requestId": incoming.id,
            "routeKey": key,
            "stage": "$default",
            "time": common_log_time(incoming),
            "timeEpoch": incoming.at.as_millis(),
        },
        "isBase64Encoded": is_base64,
    });
    // Absent rather than empty, as functions expect of this format.
    for (name, value) in [
        ("cookies", json!(cookies)),
        ("queryStringParameters", joined(incoming.query_values())),
        ("pathParameters", texts(matched.parameters.clone())),
        ("body", json!(body)),
    ] {
        let is_absent = value.is_null()
            || value.as_object().is_some_and(Map::is_empty)
            || value.as_array().is_some_and(Vec::is_empty);
        if !is_absent {
            event[name] = value;
        }
    }
    event
}

/// Payload format 1.0.
pub(crate) fn version_1(incoming: &Incoming, matched: &Matched<'_>, api: &str) -> Value {
    let headers = incoming.header_values();
    let query = incoming.query_values();
    let (body, is_base64) = incoming.body_text();
    let resource = match route_key(matched.route).split_once(' ') {
        Some((_, path)) => path.to_owned(),
        None => "$default".to_owned(),
    };
    json!({
        "version": "1.0",
        "resource": resource,
        "path": incoming.path,
        "httpMethod": incoming.method.as_str(),
        "headers": last(&headers),
        "multiValueHeaders": headers.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        "queryStringParameters": or_null(last(&query)),
        "multiValueQueryStringParameters": or_null(json!(query.into_iter().collect::<std::collections::BTreeMap<_, _>>())),
        "requestContext": {
            "accountId": ACCOUNT,
            "apiId": api,
            "domainName": incoming.header("host").unwrap_or("localhost"),
            "domainPrefix": api,
            "extendedRequestId": incoming.id,
            "httpMethod": incoming.method.as_str(),
            "identity": {
                "sourceIp": incoming.source_ip,
                "userAgent": incoming.header("user-agent").unwrap_or_default(),
            },
            "path": incoming.path,
            "protocol": "HTTP/1.1",
            "requestId": incoming.id,
            "requestTime": common_log_time(incoming),
            "requestTimeEpoch": incoming.at.as_millis(),
            "resourceId": route_key(matched.route),
            "resourcePath": resource,
            "stage": "$default",
        },
        "pathParameters": or_null(texts(matched.parameters.clone())),
        "stageVariables": null,
        "body": body,
        "isBase64Encoded": is_base64,
    })
}

/// What a load balancer sends. Parameters are left as they are written, as it does.
pub(crate) fn balancer(incoming: &Incoming, name: &str) -> Value {
    let (body, is_base64) = incoming.body_text();
    let query = incoming
        .query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), value.to_owned())
        });
    json!({
        "requestContext": { "elb": {
            "targetGroupArn": format!("arn:aws:elasticloadbalancing:local:{ACCOUNT}:targetgroup/{name}/0"),
        } },
        "httpMethod": incoming.method.as_str(),
        "path": incoming.path,
        "queryStringParameters": texts(query),
        "headers": last(&incoming.header_values()),
        "body": body.unwrap_or_default(),
        "isBase64Encoded": is_base64,
    })
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
