//! Who is calling: STS, and what the chain resolved to.

use aws_credential_types::Credentials;
use windlass_ports::aws::{
    AssumeRole, AwsFailure, AwsFailureKind, AwsFuture, Caller, Identity, SessionCredentials, Target,
};
use windlass_types::{Secret, Timestamp};

use crate::client::Aws;
use crate::credentials;

const CALLER: &str = "sts:GetCallerIdentity";
const ASSUME: &str = "sts:AssumeRole";

impl Identity for Aws {
    fn region<'a>(&'a self, target: &'a Target) -> AwsFuture<'a, Option<String>> {
        Box::pin(async move { Ok(self.session(target).await.region.clone()) })
    }

    fn caller<'a>(&'a self, target: &'a Target) -> AwsFuture<'a, Caller> {
        Box::pin(async move {
            let session = self.ready(target, CALLER).await?;
            let found = self.credentials(&session, target, CALLER).await?;
            let answer = session.sts.get_caller_identity().send().await;
            let answer = self.settled(target, "sts", CALLER, answer)?;
            Ok(Caller {
                account: answer.account.unwrap_or_default(),
                arn: answer.arn.unwrap_or_default(),
                user_id: answer.user_id.unwrap_or_default(),
                region: session.require_region(CALLER)?.to_owned(),
                credential_source: credentials::source(&found, target, &session.profile),
                expires_at: credentials::expiry(&found),
            })
        })
    }

    fn credentials<'a>(&'a self, target: &'a Target) -> AwsFuture<'a, SessionCredentials> {
        Box::pin(async move {
            let session = self.session(target).await;
            let found = self.credentials(&session, target, CALLER).await?;
            Ok(session_credentials(&found))
        })
    }

    fn assume_role<'a>(
        &'a self,
        target: &'a Target,
        request: AssumeRole,
    ) -> AwsFuture<'a, SessionCredentials> {
        Box::pin(async move {
            let session = self.ready(target, ASSUME).await?;
            let duration = request
                .duration_seconds
                .and_then(|seconds| i32::try_from(seconds).ok());
            let answer = session
                .sts
                .assume_role()
                .role_arn(request.role_arn)
                .role_session_name(request.session_name)
                .set_external_id(request.external_id)
                .set_policy(request.policy)
                .set_duration_seconds(duration)
                .send()
                .await;
            let answer = self.settled(target, "sts", ASSUME, answer)?;
            let given = answer.credentials.ok_or_else(|| {
                let message = "AWS answered without credentials";
                AwsFailure::local(AwsFailureKind::Service, ASSUME, message)
            })?;
            Ok(SessionCredentials {
                access_key_id: Secret::new(given.access_key_id),
                secret_access_key: Secret::new(given.secret_access_key),
                session_token: Some(Secret::new(given.session_token)),
                expires_at: given
                    .expiration
                    .to_millis()
                    .ok()
                    .map(Timestamp::from_millis),
            })
        })
    }
}

fn session_credentials(found: &Credentials) -> SessionCredentials {
    SessionCredentials {
        access_key_id: Secret::new(found.access_key_id().to_owned()),
        secret_access_key: Secret::new(found.secret_access_key().to_owned()),
        session_token: found
            .session_token()
            .map(|token| Secret::new(token.to_owned())),
        expires_at: credentials::expiry(found),
    }
}
