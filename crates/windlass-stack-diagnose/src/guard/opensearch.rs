//! OpenSearch requests that read, by method and path.
//!
//! The path is decoded once, checked, and returned encoded again: what was checked is what is
//! sent. Not here: the body, which no allowed request can write with.

use crate::guard::{Refusal, Rule};

/// A request that may be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method, in upper case.
    pub method: &'static str,
    /// Path and query string, encoded.
    pub target: String,
}

/// What a path may look like after its index.
const OF_INDEX: &[(&str, bool, &[&str])] = &[
    // End of the path, whether an id follows, methods.
    ("_search", false, &["GET", "POST"]),
    ("_count", false, &["GET", "POST"]),
    ("_analyze", false, &["GET", "POST"]),
    ("_mapping", false, &["GET"]),
    ("_settings", false, &["GET"]),
    ("_doc", true, &["GET"]),
    ("_explain", true, &["GET"]),
];

/// What `_cat` lists.
const LISTS: &[&str] = &[
    "aliases",
    "allocation",
    "cluster_manager",
    "count",
    "fielddata",
    "health",
    "indices",
    "master",
    "nodeattrs",
    "nodes",
    "pending_tasks",
    "plugins",
    "recovery",
    "repositories",
    "segments",
    "shards",
    "snapshots",
    "tasks",
    "templates",
    "thread_pool",
];

/// Parameters that choose what is read and how it is shown.
const PARAMETERS: &[&str] = &[
    "_source",
    "_source_excludes",
    "_source_includes",
    "active_only",
    "allow_no_indices",
    "allow_partial_search_results",
    "analyze_wildcard",
    "analyzer",
    "bytes",
    "default_operator",
    "detailed",
    "df",
    "docvalue_fields",
    "error_trace",
    "expand_wildcards",
    "explain",
    "fields",
    "filter_path",
    "flat_settings",
    "format",
    "from",
    "full_id",
    "h",
    "health",
    "help",
    "human",
    "ignore_unavailable",
    "include_defaults",
    "lenient",
    "level",
    "local",
    "min_score",
    "preference",
    "pretty",
    "pri",
    "q",
    "realtime",
    "request_cache",
    "rest_total_hits_as_int",
    "routing",
    "s",
    "search_type",
    "seq_no_primary_term",
    "size",
    "sort",
    "stored_fields",
    "terminate_after",
    "time",
    "timeout",
    "track_scores",
    "track_total_hits",
    "ts",
    "typed_keys",
    "v",
    "version",
];

/// Parameters that keep a cursor open on the server, or a task running: refused with a way out.
const KEEPING: &[&str] = &["scroll", "scroll_id", "keep_alive", "wait_for_completion"];

/// Lets a request through that only reads; `target` is a path, with or without a query string.
pub fn check(method: &str, target: &str) -> Result<Request, Refusal> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let segments = segments(path)?;
    let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
    let wanted = method.to_ascii_uppercase();
    let methods: &[&'static str] = match parts.as_slice() {
        ["_cat"] | ["_cluster", "health" | "stats"] => &["GET"],
        ["_cat", list] | ["_cat", list, _] if LISTS.contains(list) => &["GET"],
        [index] if is_index(index) => &["HEAD"],
        [index, end] if is_index(index) => methods(end, false),
        [index, end, id] if is_index(index) && !id.is_empty() => methods(end, true),
        _ => &[],
    };
    let Some(method) = methods.iter().copied().find(|method| *method == wanted) else {
        return Err(Refusal::new(
            Rule::OpenSearchRequest,
            format!(
                "{wanted} /{} is not among the requests that only read: GET or POST \
                 INDEX/_search, _count, _analyze; GET INDEX/_mapping, INDEX/_settings, \
                 INDEX/_doc/ID, INDEX/_explain/ID, _cat/…, _cluster/health, _cluster/stats; \
                 HEAD INDEX",
                parts.join("/")
            ),
        ));
    };
    let query = check_query(query)?;
    let path: Vec<String> = parts.iter().map(|part| encode(part)).collect();
    let separator = if query.is_empty() { "" } else { "?" };
    Ok(Request {
        method,
        target: format!("/{}{separator}{query}", path.join("/")),
    })
}

fn methods(end: &str, with_id: bool) -> &'static [&'static str] {
    OF_INDEX
        .iter()
        .find(|(name, id, _)| *name == end && *id == with_id)
        .map_or(&[], |(_, _, methods)| methods)
}

/// An index, several, a pattern, or `_all`; other names with an underscore are endpoints.
fn is_index(segment: &str) -> bool {
    !segment.is_empty()
        && segment
            .split(',')
            .all(|name| name == "_all" || !name.starts_with('_') && !name.is_empty())
}

fn segments(path: &str) -> Result<Vec<String>, Refusal> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    path.split('/')
        .map(|segment| {
            let decoded = decode(segment)?;
            let hides = decoded == "."
                || decoded == ".."
                || decoded.is_empty()
                || decoded.contains(['/', '\\', '?', '#', '%', ';'])
                || decoded.chars().any(char::is_control);
            if hides {
                return Err(Refusal::new(
                    Rule::OpenSearchPath,
                    format!(
                        "the path segment {segment:?} hides where it leads; write plain segments, \
                         each encoded once at most"
                    ),
                ));
            }
            Ok(decoded)
        })
        .collect()
}

fn check_query(query: &str) -> Result<String, Refusal> {
    let mut pairs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decode(name)?, decode(value)?);
        if KEEPING.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(Refusal::new(
                Rule::OpenSearchScroll,
                format!(
                    "the parameter {name} keeps something open on the server; page with size and search_after"
                ),
            ));
        }
        if !PARAMETERS.contains(&name.as_str()) {
            return Err(Refusal::new(
                Rule::OpenSearchParameter,
                format!(
                    "the parameter {name} is not among those that choose what is read and how it \
                     is shown; leave it out"
                ),
            ));
        }
        pairs.push(if pair.contains('=') {
            format!("{}={}", encode(&name), encode(&value))
        } else {
            encode(&name)
        });
    }
    Ok(pairs.join("&"))
}

fn decode(text: &str) -> Result<String, Refusal> {
    let wrong = || {
        Refusal::new(
            Rule::OpenSearchPath,
            format!("{text:?} is not encoded correctly"),
        )
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let (high, low) = (digit(rest.next()), digit(rest.next()));
        let value = high
            .zip(low)
            .and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        bytes.push(value.ok_or_else(wrong)?);
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

fn encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'-'
            | b'_'
            | b'.'
            | b'~'
            | b','
            | b'*'
            | b':' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

#[cfg(test)]
#[path = "opensearch_tests.rs"]
mod tests;
