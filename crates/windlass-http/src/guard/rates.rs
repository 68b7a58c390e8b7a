//! Tiers by name, and the headers that tell a caller where it stands.
//!
//! Both spellings: `X-RateLimit-*`, which older clients read, and the IETF fields
//! `RateLimit` and `RateLimit-Policy`. The former count in seconds since 1970, the latter in
//! seconds from now; both mean the same instant.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue, header::RETRY_AFTER};
use windlass_engine::access::{RateStatus, Tier, Tiers as Configured};
use windlass_types::Timestamp;

use super::Standing;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const IETF: HeaderName = HeaderName::from_static("ratelimit");
const IETF_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

const fn requests(per_minute: u32, concurrency: u32) -> Tier {
    Tier {
        per_minute,
        concurrency,
        concurrent_jobs: None,
        jobs_per_hour: None,
    }
}

/// The tier of what needs no key, counted by address.
const ANONYMOUS: (&str, Tier) = ("anonymous", requests(120, 16));
/// The tier of requests whose key is missing or does not work, counted by address.
const UNAUTHORIZED: (&str, Tier) = ("unauthorized", requests(20, 16));
/// The tier of open mode: the local user is not limited.
const LOCAL: (&str, Tier) = ("local", requests(u32::MAX, 1024));

/// A tier with what its headers have in common.
#[derive(Clone, Debug)]
pub(crate) struct NamedTier {
    name: String,
    pub(crate) tier: Tier,
    policy: HeaderValue,
}

impl NamedTier {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn new(name: &str, tier: Tier) -> Self {
        let policy = HeaderValue::try_from(format!("\"requests\";q={};w=60", tier.per_minute));
        Self {
            name: name.to_owned(),
            tier,
            policy: policy.unwrap_or_else(|_| HeaderValue::from_static("\"requests\";w=60")),
        }
    }
}

/// Every tier.
#[derive(Debug)]
pub(crate) struct Tiers {
    named: BTreeMap<String, NamedTier>,
    least: NamedTier,
    anonymous: NamedTier,
    unauthorized: NamedTier,
    local: NamedTier,
}

impl Tiers {
    pub(crate) fn new(tiers: &BTreeMap<String, Tier>) -> Self {
        let built_in = |(name, tier): (&str, Tier)| {
            NamedTier::new(name, tiers.get(name).copied().unwrap_or(tier))
        };
        Self {
            named: tiers
                .iter()
                .map(|(name, tier)| (name.clone(), NamedTier::new(name, *tier)))
                .collect(),
            least: built_in(("free", Configured::default().of("free"))),
            anonymous: built_in(ANONYMOUS),
            unauthorized: built_in(UNAUTHORIZED),
            local: built_in(LOCAL),
        }
    }

    pub(crate) const fn anonymous(&self) -> &NamedTier {
        &self.anonymous
    }

    pub(crate) const fn unauthorized(&self) -> &NamedTier {
        &self.unauthorized
    }

    pub(crate) const fn local(&self) -> &NamedTier {
        &self.local
    }

    /// A key's tier; one that is no longer configured gets the least there is.
    pub(crate) fn of_key(&self, name: &str) -> &NamedTier {
        self.named.get(name).unwrap_or(&self.least)
    }
}

/// Says where a caller stands.
pub(super) fn write_headers(headers: &mut HeaderMap, standing: &Standing<'_>) {
    let Standing {
        tier, status, now, ..
    } = standing;
    headers.insert(LIMIT, HeaderValue::from(status.limit));
    headers.insert(REMAINING, HeaderValue::from(status.remaining));
    headers.insert(RESET, HeaderValue::from(status.reset_seconds()));
    headers.insert(IETF_POLICY, tier.policy.clone());
    if let Ok(value) = HeaderValue::try_from(ietf(*status, *now)) {
        headers.insert(IETF, value);
    }
    if let Some(retry_after) = standing.retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from(retry_after.as_secs().max(1)));
    }
}

fn ietf(status: RateStatus, now: Timestamp) -> String {
    format!(
        "\"requests\";r={};t={}",
        status.remaining,
        status.wait_seconds(now)
    )
}
