//! Reading of whole, cut and hostile answers.

use super::*;

fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Answer {
    Answer {
        adapter: "github",
        stage: Stage::Commit,
        asked: "GET /x".to_owned(),
        response: OutboundResponse {
            status,
            headers: headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            body: body.as_bytes().to_owned(),
            address: None,
        },
        token: Some("s3cret".to_owned().into()),
    }
}

#[test]
fn fields_are_those_of_an_object_or_of_the_first_in_a_list() {
    for (body, number) in [
        (r#"{"number":7}"#, Some(7)),
        (r#"[{"number":7},{"number":8}]"#, Some(7)),
        ("[]", None),
        ("", None),
        ("<html>", None),
        ("[[1]]", None),
        (r#"{"number":7"#, None),
    ] {
        let fields = answer(200, &[], body).fields();
        assert_eq!(
            fields.get("number").and_then(Value::as_u64),
            number,
            "{body}"
        );
    }
}

#[test]
fn failures_name_cause_and_next_step_and_never_the_token() {
    let table = [
        answer(401, &[], r#"{"message":"Bad credentials s3cret"}"#),
        answer(404, &[], r#"{"message":"404 Project Not Found"}"#),
        answer(
            422,
            &[],
            r#"{"message":"Validation Failed","errors":[{"resource":"PullRequest","code":"custom","message":"A pull request already exists"}]}"#,
        ),
        answer(
            400,
            &[],
            r#"{"message":{"base":["is too short"]},"error":null}"#,
        ),
        answer(
            403,
            &[],
            r#"{"code":"AG001_APPROVAL_REQUIRED","message":"ask Ann\nfirst","details":null}"#,
        ),
        answer(301, &[("location", "https://elsewhere")], ""),
        answer(502, &[], "<html>bad gateway</html>"),
    ];
    let shown: Vec<String> = table
        .iter()
        .map(|answer| {
            let fault = answer.fault();
            format!(
                "{:?} {} {}",
                fault.service_code, fault.retryable, fault.message
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    None false GET /x was answered with 401: Bad credentials *** (the token is missing, wrong or expired)
    None false GET /x was answered with 404: 404 Project Not Found (there is no such thing, or the token may not see it)
    Some("custom") false GET /x was answered with 422: Validation Failed; A pull request already exists
    None false GET /x was answered with 400: is too short
    Some("AG001_APPROVAL_REQUIRED") false GET /x was answered with 403: ask Ann first (the token may not do this)
    None false GET /x was answered with 301 (it has moved; update the repository's or the endpoint's address)
    None true GET /x was answered with 502
    "#);
}

#[test]
fn a_refused_path_is_named() {
    for (body, path) in [
        (
            r#"{"code":"PATH_NOT_ALLOWED","details":{"path":"a/b"}}"#,
            "a/b",
        ),
        (
            r#"{"code":"PATH_NOT_ALLOWED","details":{"paths":["c"]}}"#,
            "c",
        ),
        (
            r#"{"code":"PATH_NOT_ALLOWED","details":null}"#,
            "(the service does not name it)",
        ),
    ] {
        let fault = answer(403, &[], body).fault();
        assert_eq!(fault.path_not_allowed.as_deref(), Some(path));
    }
    let other = answer(409, &[], r#"{"code":"PATH_NOT_ALLOWED"}"#).fault();
    assert_eq!(other.path_not_allowed, None);
}

#[test]
fn a_pause_is_seconds_or_a_date() {
    let now = Timestamp::from_millis(784_111_770_000);
    for (status, headers, transient, seconds) in [
        (429, &[("retry-after", "7")][..], true, Some(7)),
        (
            503,
            &[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")],
            true,
            Some(7),
        ),
        (503, &[("retry-after", "soon")], true, None),
        (503, &[], true, None),
        (
            403,
            &[
                ("x-ratelimit-remaining", "0"),
                ("x-ratelimit-reset", "784111780"),
            ],
            true,
            Some(10),
        ),
        (
            403,
            &[
                ("x-ratelimit-remaining", "9"),
                ("x-ratelimit-reset", "784111780"),
            ],
            false,
            None,
        ),
        (403, &[], false, None),
    ] {
        let answer = answer(status, headers, "");
        assert_eq!(answer.is_transient(), transient, "{headers:?}");
        let expected = seconds.map(Duration::from_secs);
        assert_eq!(answer.retry_after(now), expected, "{headers:?}");
    }
}
