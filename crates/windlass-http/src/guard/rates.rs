//! Tiers by name, and the headers that tell a caller where it stands.
//!
//! Both spellings: `X-RateLimit-*`, which contract 001 prescribes, and the IETF fields
//! `RateLimit` and `RateLimit-Policy`.

use std::{collections::BTreeMap, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, header::RETRY_AFTER};
use windlass_engine::access::{RateStatus, Tier};
use windlass_types::Timestamp;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const IETF: HeaderName = HeaderName::from_static("ratelimit");
const IETF_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// The tier of requests without a valid key, counted by address.
const ANONYMOUS: (&str, Tier) = (
    "anonymous",
    Tier {
        per_minute: 120,
        concurrency: 16,
    },
);
/// The tier of open mode. The local user is trusted; this only ends a loop gone wild.
const LOCAL: (&str, Tier) = (
    "local",
    Tier {
        per_minute: 10_000_000,
        concurrency: 1024,
    },
);

/// A tier with what its headers have in common.
#[derive(Clone, Debug)]
pub(crate) struct NamedTier {
    name: String,
    pub(crate) tier: Tier,
    limit: HeaderValue,
    policy: HeaderValue,
}

impl NamedTier {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn new(name: &str, tier: Tier) -> Self {
        // A name that no header can hold is left out of it.
        let policy = HeaderValue::try_from(format!("\"{name}\";q={};w=60", tier.per_minute));
        let policy = policy.unwrap_or_else(|_| HeaderValue::from_static("\"tier\";w=60"));
        Self {
            name: name.to_owned(),
            tier,
            limit: HeaderValue::from(tier.per_minute),
            policy,
        }
    }
}

/// Every tier.
#[derive(Debug)]
pub(crate) struct Tiers {
    named: BTreeMap<String, NamedTier>,
    anonymous: NamedTier,
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
            anonymous: built_in(ANONYMOUS),
            local: built_in(LOCAL),
        }
    }

    pub(crate) const fn anonymous(&self) -> &NamedTier {
        &self.anonymous
    }

    pub(crate) const fn local(&self) -> &NamedTier {
        &self.local
    }

    /// A key's tier; one that is no longer configured gets what strangers get.
    pub(crate) fn of_key(&self, name: &str) -> &NamedTier {
        self.named.get(name).unwrap_or(&self.anonymous)
    }
}

/// Says where a caller stands.
pub(crate) fn write_headers(
    headers: &mut HeaderMap,
    tier: &NamedTier,
    status: RateStatus,
    now: Timestamp,
    retry_after: Option<Duration>,
) {
    let millis = status.reset_at.as_millis();
    // Rounded up, so that a caller who waits until then is not early.
    let reset = millis.div_euclid(1000) + i64::from(millis.rem_euclid(1000) > 0);
    let wait = status.reset_at.since(now).as_millis().div_ceil(1000);
    headers.insert(LIMIT, tier.limit.clone());
    headers.insert(REMAINING, HeaderValue::from(status.remaining));
    headers.insert(RESET, HeaderValue::from(reset));
    headers.insert(IETF_POLICY, tier.policy.clone());
    if let Ok(value) =
        HeaderValue::try_from(format!("\"{}\";r={};t={wait}", tier.name, status.remaining))
    {
        headers.insert(IETF, value);
    }
    if let Some(retry_after) = retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from(retry_after.as_secs().max(1)));
    }
}
