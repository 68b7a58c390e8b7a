//! Credentials: fetched once, kept until they end, explained when there are none.
//!
//! What they are made of never leaves this process but in signatures.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{
    ProvideCredentials, Result as Provided, SharedCredentialsProvider, future,
};
use tokio::sync::Mutex;
use windlass_ports::Clock;
use windlass_ports::aws::{AwsFailure, AwsFailureKind, Target};
use windlass_types::Timestamp;

/// Sign-in services and instance metadata answer well within it, or not at all.
const FETCH_TIMEOUT: Duration = Duration::from_secs(15);
/// Credentials this close to their end are renewed.
const RENEW_BEFORE: Duration = Duration::from_secs(300);

/// Credentials of one target.
#[derive(Clone)]
pub(crate) struct KeptCredentials(Arc<Kept>);

struct Kept {
    source: SharedCredentialsProvider,
    clock: Arc<dyn Clock>,
    latest: Mutex<Option<Credentials>>,
}

impl fmt::Debug for KeptCredentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("KeptCredentials")
    }
}

impl KeptCredentials {
    pub(crate) fn new(source: SharedCredentialsProvider, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Kept {
            source,
            clock,
            latest: Mutex::new(None),
        }))
    }

    /// The credentials, renewed when their end is near.
    pub(crate) async fn get(&self) -> Provided {
        let mut latest = self.0.latest.lock().await;
        let now = self.0.clock.now();
        if let Some(kept) = latest.as_ref()
            && expiry(kept).is_none_or(|end| end.since(now) > RENEW_BEFORE)
        {
            return Ok(kept.clone());
        }
        let fetched =
            match tokio::time::timeout(FETCH_TIMEOUT, self.0.source.provide_credentials()).await {
                Ok(fetched) => fetched,
                Err(_) => Err(CredentialsError::provider_timed_out(FETCH_TIMEOUT)),
            };
        match fetched {
            Ok(credentials) => {
                *latest = Some(credentials.clone());
                Ok(credentials)
            }
            // A renewal that fails does not end what is still good.
            Err(error) => match latest.as_ref() {
                Some(kept) if expiry(kept).is_some_and(|end| end > now) => Ok(kept.clone()),
                _ => Err(error),
            },
        }
    }
}

impl ProvideCredentials for KeptCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(self.get())
    }
}

/// When credentials end.
pub(crate) fn expiry(credentials: &Credentials) -> Option<Timestamp> {
    let since_epoch = credentials.expiry()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since_epoch.as_millis())
        .ok()
        .map(Timestamp::from_millis)
}

/// Whether credentials come from the machine itself, not from anything the user named.
pub(crate) fn is_ambient(credentials: &Credentials) -> bool {
    matches!(provider(credentials), "IMDSv2" | "EcsContainer")
}

/// Where credentials come from, in words.
pub(crate) fn source(credentials: &Credentials, target: &Target, profile: &str) -> String {
    if let Some(role) = &target.role_arn {
        return format!("role {role}");
    }
    match provider(credentials) {
        "EnvironmentVariable" => "environment variables".to_owned(),
        "ProfileFile" => format!("profile {profile}"),
        "SSO" => format!("single sign-on of profile {profile}"),
        "AssumeRoleProvider" => format!("role of profile {profile}"),
        "CredentialProcess" => format!("credential process of profile {profile}"),
        "WebIdentityToken" => "web identity token".to_owned(),
        "EcsContainer" => "container role".to_owned(),
        "IMDSv2" => "instance role".to_owned(),
        other => other.to_owned(),
    }
}

/// The SDK offers the name in the debug form only.
fn provider(credentials: &Credentials) -> &'static str {
    const KNOWN: &[&str] = &[
        "EnvironmentVariable",
        "ProfileFile",
        "SSO",
        "AssumeRoleProvider",
        "CredentialProcess",
        "WebIdentityToken",
        "EcsContainer",
        "IMDSv2",
    ];
    let shown = format!("{credentials:?}");
    KNOWN
        .iter()
        .find(|name| shown.contains(&format!("provider_name: \"{name}\"")))
        .copied()
        .unwrap_or("credential provider")
}

/// Why there are no credentials, what was tried and what to do.
pub(crate) fn failure(
    action: &str,
    target: &Target,
    profile: &str,
    error: &CredentialsError,
) -> AwsFailure {
    if let Some(role) = &target.role_arn {
        let cause = cause(error);
        return auth(
            action,
            "AssumeRoleFailed",
            format!(
                "the role {role} could not be assumed: {cause}; allow the caller in the role's \
                 trust policy, or use another role"
            ),
        );
    }
    if let Some(profile) = &target.profile {
        return auth(
            action,
            "NoCredentials",
            format!(
                "profile `{profile}` has no credentials: {}; run `aws configure --profile \
                 {profile}` or `aws sso login --profile {profile}`",
                cause(error)
            ),
        );
    }
    match error {
        CredentialsError::CredentialsNotLoaded(_) => auth(
            action,
            "NoCredentials",
            format!(
                "no AWS credentials: tried the environment variables AWS_ACCESS_KEY_ID and \
                 AWS_SECRET_ACCESS_KEY, profile `{profile}` of the shared configuration, a web \
                 identity token, the container's and the instance's role; set the variables, or \
                 name a profile and run `aws configure` or `aws sso login`"
            ),
        ),
        other => auth(
            action,
            "CredentialsFailed",
            format!(
                "AWS credentials could not be loaded: {}; run `aws sso login` or renew the \
                 credentials of profile `{profile}`",
                cause(other)
            ),
        ),
    }
}

/// A profile that was named must be what gives the credentials.
pub(crate) fn ambient_failure(action: &str, profile: &str) -> AwsFailure {
    auth(
        action,
        "NoCredentials",
        format!(
            "profile `{profile}` has no credentials, and the machine's own role is not used in \
             its place; run `aws configure --profile {profile}` or `aws sso login --profile \
             {profile}`"
        ),
    )
}

fn auth(action: &str, code: &str, message: String) -> AwsFailure {
    AwsFailure {
        code: code.to_owned(),
        ..AwsFailure::local(AwsFailureKind::Auth, action, message)
    }
}

/// The innermost cause: the SDK's outer ones only say that something failed.
fn cause(error: &CredentialsError) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(provider: &'static str) -> Credentials {
        Credentials::new("AKIDEXAMPLE", "key", None, None, provider)
    }

    #[test]
    fn sources_are_described() {
        let plain = Target::default();
        let cases = [
            ("EnvironmentVariable", "environment variables"),
            ("ProfileFile", "profile dev"),
            ("SSO", "single sign-on of profile dev"),
            ("IMDSv2", "instance role"),
            ("SomethingNew", "credential provider"),
        ];
        for (provider, words) in cases {
            assert_eq!(source(&credentials(provider), &plain, "dev"), words);
        }
        let role = Target {
            role_arn: Some("arn:aws:iam::1:role/r".to_owned()),
            ..Target::default()
        };
        assert_eq!(
            source(&credentials("AssumeRoleProvider"), &role, "dev"),
            "role arn:aws:iam::1:role/r"
        );
    }
}
