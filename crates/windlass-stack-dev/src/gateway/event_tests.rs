//! Events, whole.

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, Method};
use windlass_stack_config::model::events::{PayloadFormat, RouteMethod};

use super::*;
use crate::routes::{HttpRoute, Target};

fn incoming() -> Incoming {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("host", "127.0.0.1:4000"),
        ("cookie", "a=1; b=2"),
        ("x-many", "one"),
        ("content-type", "application/octet-stream"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.append("x-many", HeaderValue::from_static("two"));
    Incoming {
        method: Method::POST,
        path: "/notes/7".to_owned(),
        query: "tag=a&tag=b%20c&q=".to_owned(),
        headers,
        body: Bytes::from_static(&[0xff, 0]),
        at: "2026-01-02T10:00:01Z".parse().unwrap(),
        id: "id-1".to_owned(),
        source_ip: "127.0.0.1".to_owned(),
    }
}

fn route() -> HttpRoute {
    HttpRoute {
        gateway: "api".to_owned(),
        method: RouteMethod::Any,
        path: "/notes/{id}".to_owned(),
        payload: PayloadFormat::V2,
        authorizer: None,
        target: Target::Function("f".to_owned()),
    }
}

#[test]
fn format_2() {
    let route = route();
    let matched = Matched {
        route: &route,
        parameters: vec![("id".to_owned(), "7".to_owned())],
    };
    let event = version_2(&incoming(), &matched, "api");
    assert_eq!(
        event,
        json!({
            "version": "2.0",
            "routeKey": "ANY /notes/{id}",
            "rawPath": "/notes/7",
            "rawQueryString": "tag=a&tag=b%20c&q=",
            "cookies": ["a=1", "b=2"],
            "headers": { "host": "127.0.0.1:4000", "x-many": "one,two", "content-type": "application/octet-stream" },
            "queryStringParameters": { "tag": "a,b c", "q": "" },
            "pathParameters": { "id": "7" },
            "requestContext": {
                "accountId": "000000000000", "apiId": "api", "domainName": "127.0.0.1:4000", "domainPrefix": "api",
                "http": { "method": "POST", "path": "/notes/7", "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1", "userAgent": "" },
                "requestId": "id-1", "routeKey": "ANY /notes/{id}", "stage": "$default",
                "time": "02/Jan/2026:10:00:01 +0000", "timeEpoch": 1_767_348_001_000_u64,
            },
            "body": "/wA=",
            "isBase64Encoded": true,
        })
    );
}

#[test]
fn format_1_has_last_and_all_values() {
    let route = route();
    let matched = Matched {
        route: &route,
        parameters: Vec::new(),
    };
    let event = version_1(&incoming(), &matched, "api");
    assert_eq!(event["resource"], "/notes/{id}");
    assert_eq!(event["headers"]["x-many"], "two");
    assert_eq!(event["multiValueHeaders"]["x-many"], json!(["one", "two"]));
    assert_eq!(
        event["queryStringParameters"],
        json!({ "tag": "b c", "q": "" })
    );
    assert_eq!(
        event["multiValueQueryStringParameters"]["tag"],
        json!(["a", "b c"])
    );
    assert_eq!(event["pathParameters"], Value::Null);
    assert_eq!(
        (event["body"].clone(), event["isBase64Encoded"].clone()),
        (json!("/wA="), json!(true))
    );
}

#[test]
fn a_balancer_sends_parameters_as_they_are_written() {
    let event = balancer(&incoming(), "lb");
    assert_eq!(
        event["queryStringParameters"],
        json!({ "tag": "b%20c", "q": "" })
    );
    assert!(event["requestContext"]["elb"]["targetGroupArn"].is_string());
}
