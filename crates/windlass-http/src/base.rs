//! The address clients reach this server at, as far as a request tells.

use http::{HeaderMap, Uri, header::HOST};

/// `public_url` when one is set, else `http://` and the host the request names. The guard has
/// checked that host before anything is built on it.
pub(crate) fn base_url(public_url: Option<&str>, headers: &HeaderMap, uri: &Uri) -> String {
    if let Some(url) = public_url {
        return url.trim_end_matches('/').to_owned();
    }
    let named = uri.authority().map(http::uri::Authority::as_str);
    let host = named.or_else(|| headers.get(HOST)?.to_str().ok()).unwrap_or("localhost");
    format!("http://{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefers_what_is_configured() {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, "127.0.0.1:7717".parse().unwrap());
        let plain = Uri::from_static("/mcp");
        let absolute = Uri::from_static("http://localhost:1/mcp");
        for (public, headers, uri, expected) in [
            (Some("https://w.example/"), &headers, &plain, "https://w.example"),
            (None, &headers, &plain, "http://127.0.0.1:7717"),
            (None, &headers, &absolute, "http://localhost:1"),
            (None, &HeaderMap::new(), &plain, "http://localhost"),
        ] {
            assert_eq!(base_url(public, headers, uri), expected);
        }
    }
}
