//! `WWW-Authenticate` and the protected-resource metadata (RFC 9728) it points to.

use std::collections::BTreeSet;

use http::HeaderValue;
use serde_json::{Value, json};

/// Where the metadata is served; each path of the MCP endpoint has its own below it.
pub(crate) const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";
/// Where the MCP endpoint answers: the usual path, the versioned one, and the version itself, for
/// clients that are told nothing more than the base of the API.
pub(crate) const MCP_PATHS: [&str; 3] = ["/mcp", "/v1/mcp", "/v1"];

/// Whether a path is the MCP endpoint's.
pub(crate) fn is_mcp(path: &str) -> bool {
    MCP_PATHS.contains(&path)
}

/// What a refused caller lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// No key was sent.
    Credentials,
    /// The key does not work.
    ValidToken,
    /// The key works but does not reach that far.
    Scope,
}

/// The challenge for a request to `path`.
pub(crate) fn challenge(base: &str, path: &str, lack: Lack, scopes: &str) -> Option<HeaderValue> {
    let error = match lack {
        Lack::Credentials => "",
        Lack::ValidToken => "error=\"invalid_token\", ",
        Lack::Scope => "error=\"insufficient_scope\", ",
    };
    let suffix = if is_mcp(path) { path } else { "" };
    let text = format!(
        "Bearer {error}resource_metadata=\"{base}{METADATA_PATH}{suffix}\", scope=\"{scopes}\""
    );
    HeaderValue::try_from(text).ok()
}

/// Scopes that no operation needs by itself: answering approvals, reading metrics.
const OTHER_SCOPES: [&str; 2] = ["approve", "metrics"];

/// The metadata of the API, or of the endpoint at `suffix`.
pub(crate) fn metadata(base: &str, suffix: &str, scopes: &str) -> Value {
    let of_operations = scopes.split(' ').filter(|scope| !scope.is_empty());
    let scopes: BTreeSet<&str> = of_operations.chain(OTHER_SCOPES).collect();
    json!({
        "resource": format!("{base}{suffix}"),
        "resource_name": "Windlass",
        "scopes_supported": scopes,
        "bearer_methods_supported": ["header"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_metadata_and_the_scopes() {
        let shown = [
            ("/v1/runs", Lack::Credentials),
            ("/mcp", Lack::ValidToken),
            ("/v1/keys", Lack::Scope),
        ]
        .map(|(path, lack)| {
            challenge("https://w.example", path, lack, "admin runs")
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .join("\n");
        insta::assert_snapshot!(shown, @r#"
        Bearer resource_metadata="https://w.example/.well-known/oauth-protected-resource", scope="admin runs"
        Bearer error="invalid_token", resource_metadata="https://w.example/.well-known/oauth-protected-resource/mcp", scope="admin runs"
        Bearer error="insufficient_scope", resource_metadata="https://w.example/.well-known/oauth-protected-resource", scope="admin runs"
        "#);
    }
}
