//! What one target resolves to: region, credentials, endpoints and the typed clients.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::sts::AssumeRoleProvider;
use aws_config::timeout::TimeoutConfig;
use aws_config::{AppName, BehaviorVersion, Region, SdkConfig};
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_types::os_shim_internal::Env;
use aws_types::service_config::ServiceConfigKey;
use windlass_ports::aws::{AwsFailure, AwsFailureKind, ServiceShape, Target, services};
use windlass_types::Timestamp;

use crate::client::Aws;
use crate::credentials::KeptCredentials;
use crate::endpoint::{self, Endpoint, Variant};

pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// One try of a call, from connecting to the last byte.
pub(crate) const TRY_TIMEOUT: Duration = Duration::from_secs(30);
/// A call with all its tries.
const CALL_TIMEOUT: Duration = Duration::from_secs(120);
/// Objects may be large; a transfer that stands still is ended by the SDK much earlier.
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(3600);

/// With a profile named by the caller these must not decide instead of it.
const STATIC_CREDENTIALS: &[&str] = &[
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ROLE_ARN",
];

/// What a target resolves to.
pub(crate) struct Session {
    pub region: Option<String>,
    /// The profile that is in effect.
    pub profile: String,
    pub credentials: KeptCredentials,
    pub cloudformation: aws_sdk_cloudformation::Client,
    pub s3: aws_sdk_s3::Client,
    pub sts: aws_sdk_sts::Client,
    config: SdkConfig,
    /// How many milliseconds AWS's clock is ahead of ours.
    skew: AtomicI64,
}

impl Session {
    /// Reads configuration files and the environment; asks for no credentials yet.
    pub(crate) async fn open(aws: &Aws, target: &Target) -> Self {
        let mut environment = aws.environment.clone();
        if target.profile.is_some() {
            for name in STATIC_CREDENTIALS {
                environment.remove(*name);
            }
        }
        let profile = target
            .profile
            .clone()
            .or_else(|| environment.get("AWS_PROFILE").cloned())
            .unwrap_or_else(|| "default".to_owned());
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .operation_attempt_timeout(TRY_TIMEOUT)
            .operation_timeout(CALL_TIMEOUT);
        // Not the SDK's adaptive mode: it makes a client that calls seldom wait for many seconds
        // after a single throttled answer. Services that keep throttling are slowed down for by
        // their pace (pace.rs).
        let mut loader = aws_config::defaults(BehaviorVersion::latest())
            .env(Env::from(environment))
            .retry_config(RetryConfig::standard().with_max_attempts(aws.max_attempts))
            .timeout_config(timeouts.build());
        if let Ok(name) = AppName::new("windlass") {
            loader = loader.app_name(name);
        }
        if let Some(region) = &target.region {
            loader = loader.region(Region::new(region.clone()));
        }
        if let Some(profile) = &target.profile {
            loader = loader.profile_name(profile);
        }
        let config = loader.load().await;
        let credentials = KeptCredentials::new(
            credential_source(&config, target).await,
            std::sync::Arc::clone(&aws.clock),
        );
        let config = config
            .into_builder()
            .credentials_provider(SharedCredentialsProvider::new(credentials.clone()))
            .build();
        let has_endpoint = configured_endpoint(&config, &services::S3).is_some();
        let s3 = aws_sdk_s3::config::Builder::from(&config)
            .force_path_style(has_endpoint)
            .timeout_config(
                TimeoutConfig::builder()
                    .connect_timeout(CONNECT_TIMEOUT)
                    .operation_timeout(TRANSFER_TIMEOUT)
                    .build(),
            )
            .build();
        Self {
            region: config.region().map(ToString::to_string),
            profile,
            credentials,
            cloudformation: aws_sdk_cloudformation::Client::new(&config),
            s3: aws_sdk_s3::Client::from_conf(s3),
            sts: aws_sdk_sts::Client::new(&config),
            config,
            skew: AtomicI64::new(0),
        }
    }

    /// The region, or what to do about not having one.
    pub(crate) fn require_region(&self, action: &str) -> Result<&str, AwsFailure> {
        self.region.as_deref().ok_or_else(|| AwsFailure {
            code: "MissingRegion".to_owned(),
            ..AwsFailure::local(
                AwsFailureKind::Service,
                action,
                format!(
                    "no region: give one, set AWS_REGION, or set `region` of profile `{}`",
                    self.profile
                ),
            )
        })
    }

    /// Where a service answers.
    pub(crate) fn endpoint(&self, service: &ServiceShape, region: &str) -> Endpoint {
        if let Some(url) = configured_endpoint(&self.config, service) {
            return Endpoint {
                url: url.trim_end_matches('/').to_owned(),
                region: endpoint::signing_region(service, region),
            };
        }
        let variant = Variant {
            fips: self.config.use_fips().unwrap_or(false),
            dual_stack: self.config.use_dual_stack().unwrap_or(false),
        };
        endpoint::public(service, region, variant)
    }

    /// The time signatures carry: ours, corrected by what AWS last said.
    pub(crate) fn signing_time(&self, now: Timestamp) -> Timestamp {
        Timestamp::from_millis(now.as_millis() + self.skew.load(Ordering::Relaxed))
    }

    /// Learns AWS's time; says whether ours was too far off for a signature.
    pub(crate) fn learn_time(&self, now: Timestamp, theirs: Timestamp) -> bool {
        const TOLERATED_MILLIS: i64 = 240_000;
        let skew = theirs.as_millis() - now.as_millis();
        let before = self.skew.swap(skew, Ordering::Relaxed);
        (skew - before).abs() > TOLERATED_MILLIS
    }
}

/// The chain's credentials, or those of the role the target names.
async fn credential_source(config: &SdkConfig, target: &Target) -> SharedCredentialsProvider {
    let chain = config
        .credentials_provider()
        .unwrap_or_else(|| SharedCredentialsProvider::new(NoChain));
    match &target.role_arn {
        None => chain,
        Some(role) => {
            let provider = AssumeRoleProvider::builder(role)
                .session_name("windlass")
                .configure(config)
                .build_from_provider(chain)
                .await;
            SharedCredentialsProvider::new(provider)
        }
    }
}

/// What stands where the SDK gives no chain.
#[derive(Debug)]
struct NoChain;

impl aws_credential_types::provider::ProvideCredentials for NoChain {
    fn provide_credentials<'a>(
        &'a self,
    ) -> aws_credential_types::provider::future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        use aws_credential_types::provider::error::CredentialsError;
        use aws_credential_types::provider::future::ProvideCredentials;
        ProvideCredentials::ready(Err(CredentialsError::not_loaded("there is no chain")))
    }
}

/// The address the user set: for the service, or for all.
fn configured_endpoint(config: &SdkConfig, service: &ServiceShape) -> Option<String> {
    let specific = config.service_config().and_then(|settings| {
        let key = ServiceConfigKey::builder()
            .service_id(service.env_suffix)
            .env("AWS_ENDPOINT_URL")
            .profile("endpoint_url")
            .build()
            .ok()?;
        settings.load_config(key)
    });
    specific.or_else(|| config.endpoint_url().map(str::to_owned))
}
