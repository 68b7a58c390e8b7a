//! Why AWS did not do what was asked, in seven kinds, from the codes of every service.
//!
//! The classification is here and not in the adapter, so that doubles and domains agree on it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of failure; decides what a caller says and whether it tries again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AwsFailureKind {
    /// No credentials, credentials AWS does not know, or expired ones.
    Auth,
    /// The principal is known and may not do this.
    Denied,
    /// What was asked about does not exist.
    NotFound,
    /// Too many calls, and retries did not help.
    Throttled,
    /// No answer in time.
    Timeout,
    /// Name, connection or TLS failure.
    Unreachable,
    /// Every other answer: bad input, conflicts, limits, faults of the service.
    Service,
}

/// A failed call. Never holds a credential or a value from the input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub struct AwsFailure {
    /// What kind.
    pub kind: AwsFailureKind,
    /// The code AWS gave, without namespace; empty where there was no answer.
    pub code: String,
    /// What AWS said, or what happened.
    pub message: String,
    /// The call as a permission names it: `cloudformation:CreateChangeSet`.
    pub action: String,
    /// The ARN of who called, where AWS said it.
    pub principal: Option<String>,
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// The id AWS gave the request.
    pub request_id: Option<Box<str>>,
}

impl fmt::Display for AwsFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", self.action)?;
        if !self.code.is_empty() {
            write!(formatter, "{}: ", self.code)?;
        }
        formatter.write_str(&self.message)
    }
}

/// Credentials that AWS does not accept. `UnrecognizedClientException` and similar codes say that
/// the key id is unknown, the signature codes that the secret key does not belong to it.
const AUTH: &[&str] = &[
    "AuthFailure",
    "ExpiredToken",
    "ExpiredTokenException",
    "IncompleteSignature",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "InvalidIdentityToken",
    "InvalidSignatureException",
    "InvalidToken",
    "MissingAuthenticationToken",
    "MissingAuthenticationTokenException",
    "OptInRequired",
    "RequestExpired",
    "SignatureDoesNotMatch",
    "TokenRefreshRequired",
    "UnrecognizedClientException",
];

const EXPIRED: &[&str] = &[
    "ExpiredToken",
    "ExpiredTokenException",
    "RequestExpired",
    "TokenRefreshRequired",
];

const DENIED: &[&str] = &[
    "AccessDenied",
    "AccessDeniedException",
    "AuthorizationError",
    "AuthorizationErrorException",
    "Forbidden",
    "NotAuthorized",
    "UnauthorizedOperation",
];

const THROTTLED: &[&str] = &[
    "BandwidthLimitExceeded",
    "EC2ThrottledException",
    "PriorRequestNotComplete",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "SlowDown",
    "ThrottledException",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
    "TransactionInProgressException",
];

const NOT_FOUND: &[&str] = &[
    "ChangeSetNotFound",
    "NoSuchBucket",
    "NoSuchEntity",
    "NoSuchKey",
    "NoSuchVersion",
    "NotFound",
    "ParameterNotFound",
    "QueueDoesNotExist",
    "StateMachineDoesNotExist",
    "ExecutionDoesNotExist",
];

const ALREADY_EXISTS: &[&str] = &[
    "AlreadyExistsException",
    "BucketAlreadyExists",
    "BucketAlreadyOwnedByYou",
    "EntityAlreadyExists",
    "ParameterAlreadyExists",
    "RepositoryAlreadyExistsException",
    "ResourceAlreadyExistsException",
    "ResourceConflictException",
    "ResourceExistsException",
];

impl AwsFailure {
    /// A failure that AWS answered with.
    pub fn answered(action: &str, code: &str, message: &str, status: u16) -> Self {
        Self {
            kind: classify(code, message, status),
            code: code.to_owned(),
            message: message.to_owned(),
            action: action.to_owned(),
            principal: principal_in(message),
            status: Some(status),
            request_id: None,
        }
    }

    /// A failure without an answer.
    pub fn local(kind: AwsFailureKind, action: &str, message: impl Into<String>) -> Self {
        Self {
            kind,
            code: String::new(),
            message: message.into(),
            action: action.to_owned(),
            principal: None,
            status: None,
            request_id: None,
        }
    }

    /// Whether what was asked about does not exist.
    pub fn is_not_found(&self) -> bool {
        self.kind == AwsFailureKind::NotFound
    }

    /// Whether there were too many calls.
    pub fn is_throttled(&self) -> bool {
        self.kind == AwsFailureKind::Throttled
    }

    /// Whether the caller lacks credentials or a permission.
    pub fn is_access(&self) -> bool {
        matches!(self.kind, AwsFailureKind::Auth | AwsFailureKind::Denied)
    }

    /// Whether the credentials were valid once: a run waits for new ones and continues.
    pub fn is_expired(&self) -> bool {
        EXPIRED.contains(&self.code.as_str())
    }

    /// Whether what was to be made is there already.
    pub fn is_already_exists(&self) -> bool {
        ALREADY_EXISTS.contains(&self.code.as_str())
    }

    /// Whether CloudFormation found nothing to change, said as an error.
    pub fn is_no_updates(&self) -> bool {
        self.code == "ValidationError" && says_no_changes(&self.message)
    }

    /// Whether a server broke down without a word of why. AWS says why; an emulator that cannot do
    /// what it was asked answers like this every time.
    pub fn is_unexplained(&self) -> bool {
        matches!(self.status, Some(500 | 501)) && self.message.starts_with(UNEXPLAINED)
    }

    /// Whether the same call may succeed later without a change.
    pub fn is_transient(&self) -> bool {
        match self.kind {
            AwsFailureKind::Throttled | AwsFailureKind::Timeout | AwsFailureKind::Unreachable => {
                true
            }
            AwsFailureKind::Service => {
                self.status.is_some_and(|status| status >= 500)
                    || matches!(
                        self.code.as_str(),
                        "RequestTimeout" | "RequestTimeoutException" | "InternalError"
                    )
            }
            AwsFailureKind::Auth | AwsFailureKind::Denied | AwsFailureKind::NotFound => false,
        }
    }
}

/// How the message of an answer without one begins; its status follows.
pub const UNEXPLAINED: &str = "AWS answered with status ";

/// The two wordings with which CloudFormation says that a change set or update is empty.
pub(super) fn says_no_changes(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    reason.contains("no updates are to be performed")
        || reason.contains("didn't contain changes")
        || reason.contains("did not contain changes")
}

fn classify(code: &str, message: &str, status: u16) -> AwsFailureKind {
    if AUTH.contains(&code) {
        return AwsFailureKind::Auth;
    }
    if DENIED.contains(&code) {
        return AwsFailureKind::Denied;
    }
    if THROTTLED.contains(&code) || status == 429 {
        return AwsFailureKind::Throttled;
    }
    if NOT_FOUND.contains(&code) || names_absence(code) {
        return AwsFailureKind::NotFound;
    }
    // CloudFormation has no code of its own for a stack that is not there.
    if code == "ValidationError" && message.contains("does not exist") {
        return AwsFailureKind::NotFound;
    }
    match status {
        401 => AwsFailureKind::Auth,
        403 => AwsFailureKind::Denied,
        404 => AwsFailureKind::NotFound,
        _ => AwsFailureKind::Service,
    }
}

/// `DBInstanceNotFound`, `ResourceNotFoundException`, `ClusterNotFoundFault`,
/// `InvalidVpcID.NotFound`, `AWS.SimpleQueueService.NonExistentQueue`.
fn names_absence(code: &str) -> bool {
    let stem = code
        .strip_suffix("Exception")
        .or_else(|| code.strip_suffix("Fault"))
        .unwrap_or(code);
    stem.ends_with("NotFound") || stem.ends_with(".NonExistentQueue")
}

/// "User: arn:… is not authorized to perform: …" names who called.
fn principal_in(message: &str) -> Option<String> {
    let rest = &message[message.find("arn:aws")?..];
    let end = rest
        .find(|letter: char| letter.is_whitespace() || matches!(letter, ',' | ';' | ')' | '"'))
        .unwrap_or(rest.len());
    let arn = &rest[..end];
    let is_principal = arn.contains(":iam::") || arn.contains(":sts::");
    is_principal.then(|| arn.trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_kinds() {
        use AwsFailureKind::{Auth, Denied, NotFound, Service, Throttled};
        let cases = [
            ("InvalidClientTokenId", "", 403, Auth),
            ("ExpiredToken", "", 400, Auth),
            ("SignatureDoesNotMatch", "", 403, Auth),
            ("AccessDenied", "", 403, Denied),
            ("AccessDeniedException", "", 400, Denied),
            ("UnauthorizedOperation", "", 403, Denied),
            ("", "", 403, Denied),
            ("Throttling", "Rate exceeded", 400, Throttled),
            ("SlowDown", "", 503, Throttled),
            ("Whatever", "", 429, Throttled),
            (
                "ValidationError",
                "Stack with id a does not exist",
                400,
                NotFound,
            ),
            ("ValidationError", "Template format error", 400, Service),
            ("ResourceNotFoundException", "", 400, NotFound),
            ("DBInstanceNotFound", "", 404, NotFound),
            ("ClusterNotFoundFault", "", 404, NotFound),
            ("InvalidVpcID.NotFound", "", 400, NotFound),
            ("InternalFailure", "", 500, Service),
        ];
        for (code, message, status, kind) in cases {
            let failure = AwsFailure::answered("s:A", code, message, status);
            assert_eq!(failure.kind, kind, "{code} {message} {status}");
        }
    }

    #[test]
    fn the_principal_comes_from_the_message() {
        let failure = AwsFailure::answered(
            "iam:GetRole",
            "AccessDenied",
            "User: arn:aws:iam::123456789012:user/ada is not authorized to perform: iam:GetRole on resource: role x",
            403,
        );
        assert_eq!(
            failure.principal.as_deref(),
            Some("arn:aws:iam::123456789012:user/ada")
        );
        let other = AwsFailure::answered(
            "s3:GetObject",
            "AccessDenied",
            "no access to arn:aws:s3:::bucket/key",
            403,
        );
        assert_eq!(other.principal, None);
    }

    #[test]
    fn questions_about_a_failure() {
        let expired = AwsFailure::answered("s:A", "ExpiredTokenException", "", 400);
        assert!(expired.is_expired() && expired.is_access() && !expired.is_transient());
        let empty = AwsFailure::answered(
            "cloudformation:UpdateStack",
            "ValidationError",
            "No updates are to be performed.",
            400,
        );
        assert!(empty.is_no_updates());
        assert!(AwsFailure::answered("s:A", "ServiceUnavailable", "", 503).is_transient());
        assert!(
            AwsFailure::answered("s:A", "ResourceExistsException", "", 400).is_already_exists()
        );
        assert_eq!(
            AwsFailure::answered("sts:GetCallerIdentity", "ExpiredToken", "expired", 403)
                .to_string(),
            "sts:GetCallerIdentity: ExpiredToken: expired"
        );
    }
}
