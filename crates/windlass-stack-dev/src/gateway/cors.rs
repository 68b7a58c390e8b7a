//! CORS of an HTTP API: preflights are answered here, and the headers of other answers are the
//! config's, not the function's.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use windlass_stack_config::model::common::{Cors, CorsMethod};

use super::request::Incoming;

fn method_name(method: CorsMethod) -> &'static str {
    match method {
        CorsMethod::Get => "GET",
        CorsMethod::Head => "HEAD",
        CorsMethod::Post => "POST",
        CorsMethod::Put => "PUT",
        CorsMethod::Patch => "PATCH",
        CorsMethod::Delete => "DELETE",
        CorsMethod::Options => "OPTIONS",
        CorsMethod::Any => "*",
    }
}

/// The answer to a preflight, if this is one.
pub(crate) fn preflight(cors: &Cors, incoming: &Incoming) -> Option<Response<Body>> {
    let is_preflight = incoming.method == Method::OPTIONS
        && incoming.header("origin").is_some()
        && incoming.header("access-control-request-method").is_some();
    if !cors.enabled || !is_preflight {
        return None;
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    if !allow_origin(cors, incoming, headers) {
        return Some(response);
    }
    let methods: Vec<&str> = match &cors.allowed_methods {
        Some(methods) => methods.iter().copied().map(method_name).collect(),
        None => vec!["*"],
    };
    put(
        headers,
        header::ACCESS_CONTROL_ALLOW_METHODS,
        &methods.join(","),
    );
    let allowed = match &cors.allowed_headers {
        Some(names) => names.join(","),
        None => incoming
            .header("access-control-request-headers")
            .unwrap_or_default()
            .to_owned(),
    };
    put(headers, header::ACCESS_CONTROL_ALLOW_HEADERS, &allowed);
    if let Some(seconds) = cors.max_age {
        put(
            headers,
            header::ACCESS_CONTROL_MAX_AGE,
            &seconds.to_string(),
        );
    }
    Some(response)
}

/// Puts the config's headers on an answer.
pub(crate) fn dress(cors: &Cors, incoming: &Incoming, headers: &mut HeaderMap) {
    if !cors.enabled {
        return;
    }
    let own: Vec<_> = headers
        .keys()
        .filter(|name| name.as_str().starts_with("access-control-"))
        .cloned()
        .collect();
    for name in own {
        headers.remove(name);
    }
    if allow_origin(cors, incoming, headers) {
        let exposed = cors
            .exposed_response_headers
            .as_deref()
            .unwrap_or_default()
            .join(",");
        put(headers, header::ACCESS_CONTROL_EXPOSE_HEADERS, &exposed);
    }
}

/// Whether the origin may read the answer; says so in the headers.
fn allow_origin(cors: &Cors, incoming: &Incoming, headers: &mut HeaderMap) -> bool {
    let Some(origin) = incoming.header("origin") else {
        return false;
    };
    let has_credentials = cors.allow_credentials == Some(true);
    let fits = |allowed: &String| {
        allowed == "*"
            || allowed == origin
            || allowed.split_once('*').is_some_and(|(head, tail)| {
                origin.len() >= head.len() + tail.len()
                    && origin.starts_with(head)
                    && origin.ends_with(tail)
            })
    };
    if !cors.allowed_origins.iter().any(fits) {
        return false;
    }
    let is_any = cors.allowed_origins.iter().any(|allowed| allowed == "*") && !has_credentials;
    put(
        headers,
        header::ACCESS_CONTROL_ALLOW_ORIGIN,
        if is_any { "*" } else { origin },
    );
    if has_credentials {
        put(headers, header::ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
    }
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    true
}

fn put(headers: &mut HeaderMap, name: header::HeaderName, value: &str) {
    if let (false, Ok(value)) = (value.is_empty(), HeaderValue::from_str(value)) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn incoming(method: Method, headers: &[(&'static str, &'static str)]) -> Incoming {
        Incoming {
            method,
            path: "/".to_owned(),
            query: String::new(),
            headers: headers
                .iter()
                .map(|(name, value)| {
                    (
                        header::HeaderName::from_static(name),
                        HeaderValue::from_static(value),
                    )
                })
                .collect(),
            body: axum::body::Bytes::new(),
            at: windlass_types::Timestamp::EPOCH,
            id: String::new(),
            source_ip: String::new(),
        }
    }

    fn shown(headers: &HeaderMap) -> String {
        let mut lines: Vec<String> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        lines.sort();
        lines.join("\n")
    }

    #[test]
    fn a_preflight_by_the_config() {
        let cors: Cors = serde_json::from_value(json!({
            "enabled": true, "allowedOrigins": ["https://*.example.com"], "allowedMethods": ["GET", "PUT"],
            "allowCredentials": true, "maxAge": 60,
        })).unwrap();
        let ask = |origin| {
            incoming(
                Method::OPTIONS,
                &[
                    ("origin", origin),
                    ("access-control-request-method", "PUT"),
                    ("access-control-request-headers", "x-a"),
                ],
            )
        };
        let allowed = preflight(&cors, &ask("https://a.example.com")).unwrap();
        insta::assert_snapshot!(shown(allowed.headers()), @r"
        access-control-allow-credentials: true
        access-control-allow-headers: x-a
        access-control-allow-methods: GET,PUT
        access-control-allow-origin: https://a.example.com
        access-control-max-age: 60
        vary: origin
        ");
        let refused = preflight(&cors, &ask("https://example.org")).unwrap();
        assert_eq!(shown(refused.headers()), "");
        assert!(preflight(&cors, &incoming(Method::OPTIONS, &[])).is_none());
    }

    #[test]
    fn the_config_overrides_the_function() {
        let cors: Cors =
            serde_json::from_value(json!({ "enabled": true, "exposedResponseHeaders": ["x-b"] }))
                .unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(
            header::ACCESS_CONTROL_ALLOW_ORIGIN,
            HeaderValue::from_static("https://evil"),
        );
        dress(
            &cors,
            &incoming(Method::GET, &[("origin", "https://a")]),
            &mut headers,
        );
        insta::assert_snapshot!(shown(&headers), @r"
        access-control-allow-origin: *
        access-control-expose-headers: x-b
        vary: origin
        ");
    }
}
