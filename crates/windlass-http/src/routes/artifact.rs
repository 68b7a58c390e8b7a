//! `GET /v1/runs/{run_id}/artifacts/{name}`: an artifact's bytes.
//!
//! Always a download, never a page: what a run left behind may be HTML, and this origin's
//! pages would be trusted. One range of the bytes can be asked for, so that a download that was
//! cut off goes on.

use std::{fmt::Write as _, ops::Range};

use axum::{
    body::{Body, Bytes},
    response::Response,
};
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
    header::{
        ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_RANGE, CONTENT_SECURITY_POLICY,
        CONTENT_TYPE, ETAG, IF_NONE_MATCH, IF_RANGE, RANGE,
    },
    request::Parts,
};
use serde_json::Value;
use windlass_engine::operation::{CallContext, CallRequest};
use windlass_types::{ArtifactRef, Problem, RunId, code};

use crate::{failure::Failure, state::Shared};

const SHA256: HeaderName = HeaderName::from_static("x-content-sha256");

pub(super) async fn fetch(
    shared: &Shared,
    parts: &Parts,
    input: Value,
    context: CallContext,
) -> Result<Response, Failure> {
    let headers = &parts.headers;
    let catalogue = &shared.state.catalogue;
    let engine = catalogue.engine();
    let request = CallRequest {
        operation: "runs.artifact".to_owned(),
        input,
        context,
    };
    catalogue.authorize(&request).await?;
    let run_id: RunId = text(&request.input, "run_id")
        .parse()
        .map_err(|error| Problem::invalid("run_id", "format", format!("{error}")))?;
    let name = text(&request.input, "name");
    let principal = &request.context.principal;
    let show = |problem: Problem| Failure::from(engine.redactor.redact_problem(problem));
    let listed = engine.artifacts(principal, &run_id).await.map_err(show)?;
    let known = listed.into_iter().find(|artifact| artifact.name == name);
    let Some(artifact) = known else {
        return Err(Problem::new(
            &code::ARTIFACT_NOT_FOUND,
            format!("run {run_id} has no artifact {name:?}"),
        )
        .with("run_id", run_id.as_str())
        .next(format!("GET /v1/runs/{run_id}/artifacts"))
        .into());
    };
    let tag = format!("\"{}\"", artifact.sha256);
    if is_known(headers, &tag) {
        return Ok(described(
            StatusCode::NOT_MODIFIED,
            Body::empty(),
            &artifact,
            &tag,
        ));
    }
    let content = engine
        .artifact(principal, &run_id, name)
        .await
        .map_err(show)?;
    // A newer artifact of the same name may have arrived in between; say what is sent.
    let tag = format!("\"{}\"", content.artifact.sha256);
    let bytes = Bytes::from(content.bytes);
    let asked = match parts.method == Method::GET {
        true => asked(headers, bytes.len(), &tag),
        false => Asked::Whole,
    };
    let (status, body, range) = match asked {
        Asked::Whole => (StatusCode::OK, Body::from(bytes), None),
        Asked::Part(part) => {
            let range = format!("bytes {}-{}/{}", part.start, part.end - 1, bytes.len());
            let body = Body::from(bytes.slice(part));
            (StatusCode::PARTIAL_CONTENT, body, Some(range))
        }
        Asked::Beyond => {
            let range = format!("bytes */{}", bytes.len());
            (
                StatusCode::RANGE_NOT_SATISFIABLE,
                Body::empty(),
                Some(range),
            )
        }
    };
    let mut response = described(status, body, &content.artifact, &tag);
    if let Some(Ok(range)) = range.map(HeaderValue::try_from) {
        response.headers_mut().insert(CONTENT_RANGE, range);
    }
    Ok(response)
}

/// How much of the content the caller wants.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    Whole,
    Part(Range<usize>),
    /// A range that the content does not have.
    Beyond,
}

/// One range of bytes is served. Several, another unit, or a range of content that has changed
/// since are answered with everything, as the protocol allows.
fn asked(headers: &HeaderMap, length: usize, tag: &str) -> Asked {
    if headers.get(IF_RANGE).is_some_and(|known| known != tag) {
        return Asked::Whole;
    }
    let mut sent = headers.get_all(RANGE).iter();
    let (Some(range), None) = (sent.next(), sent.next()) else {
        return Asked::Whole;
    };
    let written = range.to_str().ok().and_then(|text| {
        let (first, last) = text.strip_prefix("bytes=")?.trim().split_once('-')?;
        let number = |text: &str| match text.is_empty() {
            true => Some(None),
            false => text
                .bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| Some(text.parse().unwrap_or(usize::MAX))),
        };
        Some((number(first)?, number(last)?))
    });
    let part = match written {
        Some((Some(first), None)) => first..length,
        Some((Some(first), Some(last))) if first <= last => {
            first..last.saturating_add(1).min(length)
        }
        Some((None, Some(last))) => length.saturating_sub(last)..length,
        _ => return Asked::Whole,
    };
    match part.is_empty() {
        true => Asked::Beyond,
        false => Asked::Part(part),
    }
}

fn text<'a>(input: &'a Value, field: &str) -> &'a str {
    input[field].as_str().unwrap_or_default()
}

/// Whether the caller says that it has the content of this tag.
pub(super) fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|sent| sent == "*" || sent.strip_prefix("W/").unwrap_or(sent) == tag)
}

fn described(status: StatusCode, body: Body, artifact: &ArtifactRef, tag: &str) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let unnamed = HeaderValue::from_static("application/octet-stream");
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::try_from(&artifact.content_type).unwrap_or(unnamed),
    );
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    headers.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; sandbox"),
    );
    let written = [
        (ETAG, tag.to_owned()),
        (SHA256, artifact.sha256.to_string()),
        (CONTENT_DISPOSITION, disposition(&artifact.name)),
    ];
    for (name, value) in written {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
    response
}

/// The file name in plain ASCII, and in full for clients that read RFC 8187.
fn disposition(name: &str) -> String {
    let file = name.rsplit('/').next().unwrap_or(name);
    let plain: String = file
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || " ._-+()".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    let mut text = format!("attachment; filename=\"{plain}\"");
    if plain != file {
        text.push_str("; filename*=UTF-8''");
        for byte in file.bytes() {
            if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) {
                text.push(char::from(byte));
            } else {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_breaks_out_of_its_quotes() {
        let shown = [
            "report.json",
            "logs/build.txt",
            "a\"b\r\nX: y.txt",
            "résumé.pdf",
            "",
        ]
        .map(disposition)
        .join("\n");
        insta::assert_snapshot!(shown, @r#"
        attachment; filename="report.json"
        attachment; filename="build.txt"
        attachment; filename="a_b__X_ y.txt"; filename*=UTF-8''a%22b%0D%0AX%3A%20y.txt
        attachment; filename="r_sum_.pdf"; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf
        attachment; filename=""
        "#);
    }

    #[test]
    fn one_range_is_served_and_others_are_ignored() {
        let part = |range: Range<usize>| Asked::Part(range);
        for (range, expected) in [
            ("bytes=0-3", part(0..4)),
            ("bytes=4-", part(4..10)),
            ("bytes=-3", part(7..10)),
            ("bytes=-99", part(0..10)),
            ("bytes=9-99999999999999999999999", part(9..10)),
            ("bytes=10-", Asked::Beyond),
            ("bytes=-0", Asked::Beyond),
            ("bytes=99999999999999999999999-", Asked::Beyond),
            ("bytes=3-2", Asked::Whole),
            ("bytes=0-1,4-5", Asked::Whole),
            ("bytes=+1-2", Asked::Whole),
            ("bytes=-", Asked::Whole),
            ("lines=1-2", Asked::Whole),
            ("0-3", Asked::Whole),
        ] {
            let headers = HeaderMap::from_iter([(RANGE, range.parse().unwrap())]);
            assert_eq!(asked(&headers, 10, "\"a\""), expected, "{range}");
        }
        assert_eq!(asked(&HeaderMap::new(), 10, ""), Asked::Whole);
        for (tag, expected) in [("\"a\"", part(1..2)), ("\"b\"", Asked::Whole)] {
            let pairs = [(RANGE, "bytes=1-1"), (IF_RANGE, tag)];
            let headers = pairs.map(|(name, value)| (name, value.parse().unwrap()));
            assert_eq!(
                asked(&headers.into_iter().collect(), 10, "\"a\""),
                expected,
                "{tag}"
            );
        }
    }

    #[test]
    fn tags_are_compared_weakly() {
        for (sent, expected) in [
            ("\"a\"", true),
            ("W/\"a\"", true),
            ("\"b\", \"a\"", true),
            ("*", true),
            ("\"b\"", false),
            ("a", false),
        ] {
            let headers = HeaderMap::from_iter([(IF_NONE_MATCH, sent.parse().unwrap())]);
            assert_eq!(is_known(&headers, "\"a\""), expected, "{sent}");
        }
    }
}
