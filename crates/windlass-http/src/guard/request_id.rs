//! Request ids: the caller's own where it is fit to be logged, else one of ours.

use http::{HeaderMap, HeaderName, HeaderValue};
use windlass_ports::{Entropy, entropy::random};
use windlass_types::id::base32;

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of this request; afterwards its headers carry it, for whatever is behind.
pub(crate) fn adopt(headers: &mut HeaderMap, entropy: &dyn Entropy) -> HeaderValue {
    if let Some(id) = headers.get(REQUEST_ID)
        && is_sane(id.as_bytes())
    {
        return id.clone();
    }
    let id = HeaderValue::try_from(format!("req_{}", base32(random(entropy))))
        .unwrap_or_else(|_| HeaderValue::from_static("req_unknown"));
    headers.insert(REQUEST_ID, id.clone());
    id
}

/// The id the guard gave a request.
pub(crate) fn request_id(headers: &HeaderMap) -> &str {
    headers
        .get(REQUEST_ID)
        .and_then(|id| id.to_str().ok())
        .unwrap_or_default()
}

fn is_sane(id: &[u8]) -> bool {
    (1..=128).contains(&id.len())
        && id
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._:-".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_ids_are_kept() {
        let long = "a".repeat(129);
        for (id, sane) in [
            ("abc-123._:", true),
            ("", false),
            ("a b", false),
            ("a\"b", false),
            ("<script>", false),
            (long.as_str(), false),
        ] {
            assert_eq!(is_sane(id.as_bytes()), sane, "{id}");
        }
    }
}
