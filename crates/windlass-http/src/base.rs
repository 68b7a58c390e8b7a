//! The address clients reach this server at, as far as a request tells.

use http::{HeaderValue, Uri};

/// `public_url` when one is set, else `http://` and the host the request names. The guard has
/// checked that host before anything is built on it.
pub(crate) fn base_url(public_url: Option<&str>, host: Option<&HeaderValue>, uri: &Uri) -> String {
    if let Some(url) = public_url {
        return url.trim_end_matches('/').to_owned();
    }
    let named = uri.authority().map(http::uri::Authority::as_str);
    let host = named.or_else(|| host?.to_str().ok()).unwrap_or("localhost");
    format!("http://{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefers_what_is_configured() {
        let host = HeaderValue::from_static("127.0.0.1:7717");
        let plain = Uri::from_static("/mcp");
        let absolute = Uri::from_static("http://localhost:1/mcp");
        for (public, host, uri, expected) in [
            (
                Some("https://w.example/"),
                Some(&host),
                &plain,
                "https://w.example",
            ),
            (None, Some(&host), &plain, "http://127.0.0.1:7717"),
            (None, Some(&host), &absolute, "http://localhost:1"),
            (None, None, &plain, "http://localhost"),
        ] {
            assert_eq!(base_url(public, host, uri), expected);
        }
    }
}
