//! Signature Version 4 over a finished request.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings,
    UriPathNormalizationMode, sign,
};
use aws_sigv4::sign::v4;
use windlass_types::Timestamp;

/// What is signed.
pub(crate) struct Signable<'a> {
    pub method: &'a str,
    pub url: &'a str,
    pub headers: &'a [(String, String)],
    pub body: &'a [u8],
}

/// For whom and when.
pub(crate) struct Scope<'a> {
    pub signing_name: &'a str,
    pub region: &'a str,
    pub time: Timestamp,
}

/// The headers that make a request signed.
pub(crate) fn headers(
    request: &Signable<'_>,
    scope: &Scope<'_>,
    credentials: &Credentials,
) -> Result<Vec<(String, String)>, String> {
    let identity = credentials.clone().into();
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(scope.region)
        .name(scope.signing_name)
        .time(system_time(scope.time))
        .settings(settings(scope.signing_name))
        .build()
        .map_err(|error| error.to_string())?
        .into();
    let signable = SignableRequest::new(
        request.method,
        request.url,
        request
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
        SignableBody::Bytes(request.body),
    )
    .map_err(|error| error.to_string())?;
    let (instructions, _) = sign(signable, &params)
        .map_err(|error| error.to_string())?
        .into_parts();
    Ok(instructions
        .headers()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect())
}

/// S3 signs paths as they are sent and wants the body's digest in a header; so does a domain
/// of OpenSearch Serverless.
fn settings(signing_name: &str) -> SigningSettings {
    let mut settings = SigningSettings::default();
    if signing_name == "s3" {
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
    }
    if matches!(signing_name, "s3" | "aoss") {
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    }
    settings
}

fn system_time(time: Timestamp) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(time.as_millis()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The credentials AWS uses in its own examples.
    fn example() -> Credentials {
        Credentials::new(
            "AKIDEXAMPLE",
            "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            None,
            None,
            "test",
        )
    }

    #[test]
    fn the_published_example_has_the_published_signature() {
        let headers = headers(
            &Signable {
                method: "GET",
                url: "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
                headers: &[(
                    "content-type".to_owned(),
                    "application/x-www-form-urlencoded; charset=utf-8".to_owned(),
                )],
                body: b"",
            },
            &Scope {
                signing_name: "iam",
                region: "us-east-1",
                time: "2015-08-30T12:36:00Z".parse().expect("a time"),
            },
            &example(),
        )
        .expect("signs");
        let authorization = headers
            .iter()
            .find(|(name, _)| name == "authorization")
            .map(|(_, value)| value.as_str());
        assert_eq!(
            authorization,
            Some(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, \
                 SignedHeaders=content-type;host;x-amz-date, \
                 Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
            )
        );
    }

    #[test]
    fn s3_carries_the_digest_of_the_body() {
        let headers = headers(
            &Signable {
                method: "GET",
                url: "https://s3.us-east-1.amazonaws.com/bucket/a%20b",
                headers: &[],
                body: b"",
            },
            &Scope {
                signing_name: "s3",
                region: "us-east-1",
                time: Timestamp::EPOCH,
            },
            &example(),
        )
        .expect("signs");
        assert!(headers.iter().any(|(name, value)| {
            name == "x-amz-content-sha256" && value.starts_with("e3b0c44298fc1c14")
        }));
    }
}
