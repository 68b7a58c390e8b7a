//! Failed answers in every form services and emulators give them.

use windlass_ports::aws::AwsFailureKind::{Auth, Denied, NotFound, Service, Throttled};

use super::*;

fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Answer {
    Answer {
        status,
        headers: headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        body: body.as_bytes().to_vec(),
    }
}

#[test]
fn codes_and_messages_are_found_in_every_form() {
    let cases = [
        // JSON protocols
        (
            answer(
                400,
                &[],
                r#"{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"no table"}"#,
            ),
            NotFound,
            "ResourceNotFoundException",
            "no table",
        ),
        (
            answer(
                400,
                &[],
                r#"{"__type":"ThrottlingException","Message":"Rate exceeded"}"#,
            ),
            Throttled,
            "ThrottlingException",
            "Rate exceeded",
        ),
        (
            answer(
                400,
                &[],
                r#"{"__type":"UnrecognizedClientException","message":"The security token is invalid."}"#,
            ),
            Auth,
            "UnrecognizedClientException",
            "The security token is invalid.",
        ),
        // REST-JSON: the code is a header with an address behind it
        (
            answer(
                404,
                &[(
                    "x-amzn-errortype",
                    "ResourceNotFoundException:http://internal.amazon.com/x/",
                )],
                r#"{"Message":"no function"}"#,
            ),
            NotFound,
            "ResourceNotFoundException",
            "no function",
        ),
        (
            answer(
                429,
                &[],
                r#"{"code":"TooManyRequestsException","message":"slow"}"#,
            ),
            Throttled,
            "TooManyRequestsException",
            "slow",
        ),
        // Query
        (
            answer(
                400,
                &[],
                r#"<ErrorResponse xmlns="http://x/"><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack [a] does not exist</Message></Error><RequestId>r-1</RequestId></ErrorResponse>"#,
            ),
            NotFound,
            "ValidationError",
            "Stack [a] does not exist",
        ),
        (
            answer(
                403,
                &[],
                r#"<ErrorResponse><Error><Code>ExpiredToken</Code><Message>expired</Message></Error></ErrorResponse>"#,
            ),
            Auth,
            "ExpiredToken",
            "expired",
        ),
        // EC2
        (
            answer(
                403,
                &[],
                r#"<?xml version="1.0"?><Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>no</Message></Error></Errors><RequestID>r</RequestID></Response>"#,
            ),
            Denied,
            "UnauthorizedOperation",
            "no",
        ),
        // REST-XML
        (
            answer(
                404,
                &[],
                "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchBucket</Code><Message>no bucket</Message><RequestId>r</RequestId></Error>",
            ),
            NotFound,
            "NoSuchBucket",
            "no bucket",
        ),
        // JSON services of emulators answer like this when access is denied
        (
            answer(
                403,
                &[],
                "\n<ErrorResponse><Errors><Error><Code>AccessDeniedException</Code><Message>User: arn:aws:iam::1:user/u is not authorized</Message></Error></Errors>",
            ),
            Denied,
            "AccessDeniedException",
            "User: arn:aws:iam::1:user/u is not authorized",
        ),
        // Nothing, or something else
        (
            answer(404, &[], ""),
            NotFound,
            "NotFound",
            "AWS answered with status 404",
        ),
        (
            answer(503, &[], "<html><body>busy</body></html>"),
            Service,
            "ServiceUnavailable",
            "AWS answered with status 503",
        ),
        (
            answer(500, &[], "oops"),
            Service,
            "InternalError",
            "AWS answered with status 500",
        ),
    ];
    for (answer, kind, code, message) in cases {
        let failure = failure("s:A", &answer);
        assert_eq!((failure.kind, failure.code.as_str()), (kind, code));
        assert_eq!(failure.message, message);
        assert_eq!(failure.status, Some(answer.status));
    }
}

#[test]
fn the_request_id_is_kept() {
    let cases = [
        answer(400, &[("x-amzn-requestid", "r-1")], "{}"),
        answer(400, &[("x-amz-request-id", "r-1")], ""),
        answer(
            400,
            &[],
            "<E><Error><Code>A</Code></Error><RequestId>r-1</RequestId></E>",
        ),
    ];
    for case in cases {
        assert_eq!(failure("s:A", &case).request_id.as_deref(), Some("r-1"));
    }
}
