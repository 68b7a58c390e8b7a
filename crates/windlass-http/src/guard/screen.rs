//! The first look at a request: its size, and whether it carries a key where none belongs.

use http::{HeaderMap, Method, StatusCode, Uri, header::CONTENT_LENGTH};
use windlass_types::{Problem, code};

use crate::{failure::Failure, input::pairs};

const MAX_URI: usize = 8 * 1024;
const MAX_HEADERS: usize = 32 * 1024;

/// Refuses what is too large to be a request to this server.
pub(crate) fn sizes(
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    body_limit: usize,
) -> Result<(), Failure> {
    let uri_length = uri.path().len() + uri.query().map_or(0, str::len);
    if uri_length > MAX_URI {
        let message = format!("the address has {uri_length} bytes; at most {MAX_URI} are taken");
        return Err(Failure::request(
            StatusCode::URI_TOO_LONG,
            "uri",
            "maxLength",
            message,
        ));
    }
    let header_length: usize = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum();
    if header_length > MAX_HEADERS {
        let message =
            format!("the headers have {header_length} bytes; at most {MAX_HEADERS} are taken");
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return Err(Failure::request(status, "headers", "maxLength", message));
    }
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > body_limit as u64) && method != Method::GET {
        return Err(too_large(body_limit));
    }
    Ok(())
}

pub(crate) fn too_large(body_limit: usize) -> Failure {
    Problem::new(
        &code::PAYLOAD_TOO_LARGE,
        format!("the request body is larger than {body_limit} bytes"),
    )
    .with("field", "body")
    .with("constraint", "maxLength")
    .with("limit_bytes", body_limit as u64)
    .into()
}

/// Whether there is a key in the address, where proxies and logs keep it. It opens nothing there,
/// whether it is a good one or not.
pub(crate) fn has_key_in_address(uri: &Uri) -> bool {
    const NAMES: [&str; 7] = [
        "access_token",
        "api_key",
        "api-key",
        "apikey",
        "key",
        "token",
        "authorization",
    ];
    let Some(query) = uri.query() else {
        return false;
    };
    // What is not well-formed may hide one, and nothing is served for it anyway.
    let pairs = pairs(query).unwrap_or_default();
    pairs.iter().any(|(name, value)| {
        value
            .split_whitespace()
            .any(|word| word.starts_with("wlk_") || word.starts_with("wk_"))
            || NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_the_address_are_refused() {
        for (address, refused) in [
            ("/v1/runs", false),
            ("/v1/runs?limit=3", false),
            ("/v1/runs?confirm_token=x", false),
            ("/v1/runs?access_token=x", true),
            ("/v1/runs?limit=3&API_KEY=x", true),
            ("/v1/runs?q=wk_1_2", true),
            ("/v1/runs?q=wlk_1_2", true),
            ("/v1/runs?q=Bearer%20%77lk_1_2", true),
            ("/v1/runs?%61pi_key=1", true),
            ("/artifacts/job_1/code?exp=1&sig=2", false),
        ] {
            assert_eq!(
                has_key_in_address(&address.parse().unwrap()),
                refused,
                "{address}"
            );
        }
    }
}
