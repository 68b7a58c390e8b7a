//! Who is calling, in which region, with credentials from where.

use serde::Serialize;
use windlass_types::{Secret, Timestamp};

use super::{AwsFuture, Target};

/// The caller's AWS identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Caller {
    /// The account.
    pub account: String,
    /// The principal.
    pub arn: String,
    /// Its unique id.
    pub user_id: String,
    /// The region calls go to.
    pub region: String,
    /// Where the credentials come from: `environment`, `profile dev`, `role arn:…`.
    pub credential_source: String,
    /// When they end, where that is known.
    pub expires_at: Option<Timestamp>,
}

/// A role that is to be assumed.
#[derive(Clone, Debug)]
pub struct AssumeRole {
    /// The role.
    pub role_arn: String,
    /// The name of the session, as it shows in CloudTrail.
    pub session_name: String,
    /// What the role's trust policy may ask for.
    pub external_id: Option<String>,
    /// A policy, as JSON, that narrows what the session may do.
    pub policy: Option<String>,
    /// How long it lasts; absent: an hour.
    pub duration_seconds: Option<u32>,
}

/// Credentials for a program Windlass starts. Printing them is safe.
#[derive(Clone, Debug)]
pub struct SessionCredentials {
    /// The key id.
    pub access_key_id: Secret<String>,
    /// The key.
    pub secret_access_key: Secret<String>,
    /// The token of a session.
    pub session_token: Option<Secret<String>>,
    /// When they end.
    pub expires_at: Option<Timestamp>,
}

/// Questions about the caller.
pub trait Identity: Send + Sync {
    /// The region calls for this target go to, from the target, the environment or the profile.
    fn region<'a>(&'a self, target: &'a Target) -> AwsFuture<'a, Option<String>>;

    /// Who the caller is (STS GetCallerIdentity).
    fn caller<'a>(&'a self, target: &'a Target) -> AwsFuture<'a, Caller>;

    /// The credentials calls for this target are made with.
    fn credentials<'a>(&'a self, target: &'a Target) -> AwsFuture<'a, SessionCredentials>;

    /// Credentials of a role (STS AssumeRole).
    fn assume_role<'a>(
        &'a self,
        target: &'a Target,
        request: AssumeRole,
    ) -> AwsFuture<'a, SessionCredentials>;
}
