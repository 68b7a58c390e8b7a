//! From which web pages requests are taken, and what those pages may read (CORS).

use axum::response::Response;
use http::{
    HeaderMap, HeaderValue, Method, StatusCode, Uri,
    header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
        ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
    },
};
use windlass_types::{Problem, code};

use super::hosts::{is_loopback, split};
use crate::failure::Failure;

const EXPOSED: &str = "x-request-id, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, ratelimit, \
                       ratelimit-policy, retry-after, www-authenticate, location, etag, deprecation, sunset, mcp-session-id";

/// The origins taken.
#[derive(Debug)]
pub(crate) struct Origins {
    exact: Vec<String>,
}

impl Origins {
    pub(crate) fn new(allowed: &[String], public_url: Option<&str>) -> Self {
        let mut exact: Vec<_> = allowed
            .iter()
            .map(|origin| origin.to_ascii_lowercase())
            .collect();
        let public: Option<Uri> = public_url.and_then(|url| url.parse().ok());
        if let Some((scheme, authority)) = public
            .as_ref()
            .and_then(|url| Some((url.scheme_str()?, url.authority()?)))
        {
            exact.push(format!("{scheme}://{authority}").to_ascii_lowercase());
        }
        Self { exact }
    }

    fn takes(&self, origin: &str) -> bool {
        let host = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"));
        let local = host
            .and_then(split)
            .is_some_and(|(host, _)| is_loopback(host));
        local || self.exact.iter().any(|allowed| allowed == origin)
    }

    /// Refuses a request from a page of somewhere else. Without `Origin` no page sent it.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let mut named = headers.get_all(ORIGIN).iter();
        let Some(origin) = named.next() else {
            return Ok(());
        };
        let origin = origin.to_str().unwrap_or_default();
        if named.next().is_none() && self.takes(origin) {
            return Ok(());
        }
        let shown: String = origin.chars().take(100).collect();
        Err(Problem::new(
            &code::FORBIDDEN,
            format!("requests from the origin {shown:?} are not taken"),
        )
        .with("origin", shown)
        .next("add the origin to server.allowed_origins")
        .into())
    }
}

/// The answer to a preflight request, if this is one.
pub(crate) fn preflight(method: &Method, headers: &HeaderMap) -> Option<Response> {
    if method != Method::OPTIONS || !headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return None;
    }
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    let out = response.headers_mut();
    out.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, PATCH, DELETE"),
    );
    out.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    if let Some(wanted) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        out.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    Some(response)
}

/// Lets the page of an allowed origin read the answer.
pub(crate) fn allow(origin: HeaderValue, out: &mut HeaderMap) {
    out.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    out.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(EXPOSED),
    );
    out.append(VARY, HeaderValue::from_static("origin"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_loopback_and_listed_pages() {
        let origins = Origins::new(
            &["https://app.example".to_owned()],
            Some("https://w.example:8443/api"),
        );
        for (origin, expected) in [
            ("http://localhost:5173", true),
            ("https://127.0.0.1", true),
            ("http://[::1]:80", true),
            ("https://app.example", true),
            ("https://w.example:8443", true),
            ("http://app.example", false),
            ("https://app.example:444", false),
            ("https://w.example", false),
            ("https://app.example.evil", false),
            ("http://localhost.evil", false),
            ("http://localhost@evil", false),
            ("null", false),
            ("file://", false),
            ("", false),
        ] {
            assert_eq!(origins.takes(origin), expected, "{origin}");
        }
    }
}
