//! `[limits]`: how much the holder of an API key may ask for, by tier.

use std::{collections::BTreeMap, num::NonZeroU32};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

/// One tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// Requests in any minute.
    pub per_minute: NonZeroU32,
    /// Requests at the same time.
    pub concurrency: NonZeroU32,
    /// Jobs that run at the same time; no limit when absent.
    pub concurrent_jobs: Option<NonZeroU32>,
    /// Jobs begun in any hour (`pipelines_per_hour` in the file); no limit when absent.
    pub jobs_per_hour: Option<NonZeroU32>,
}

/// A tier as it is written: what is left out is as in the built-in tier of that name, or as in
/// `pro`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenTier {
    /// Requests in any minute.
    per_minute: Option<NonZeroU32>,
    /// Requests at the same time.
    concurrency: Option<NonZeroU32>,
    /// Jobs that run at the same time; 0 is no limit.
    concurrent_jobs: Option<u32>,
    /// Pipelines started in any hour; 0 is no limit.
    pipelines_per_hour: Option<u32>,
}

impl WrittenTier {
    fn over(self, base: Tier) -> Tier {
        let bounded = |written: Option<u32>, base: Option<NonZeroU32>| match written {
            Some(limit) => NonZeroU32::new(limit),
            None => base,
        };
        Tier {
            per_minute: self.per_minute.unwrap_or(base.per_minute),
            concurrency: self.concurrency.unwrap_or(base.concurrency),
            concurrent_jobs: bounded(self.concurrent_jobs, base.concurrent_jobs),
            jobs_per_hour: bounded(self.pipelines_per_hour, base.jobs_per_hour),
        }
    }
}

/// The tiers. The local user is not limited.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a [limits] table")]
pub struct LimitSettings {
    /// Tiers by name; `free`, `pro` and `enterprise` exist unless they are changed here.
    #[serde(deserialize_with = "tiers")]
    #[schemars(with = "BTreeMap<String, WrittenTier>")]
    pub tiers: BTreeMap<String, Tier>,
    /// The tier of a key that was created without one.
    pub default_tier: String,
}

impl LimitSettings {
    /// A tier by name.
    pub fn tier(&self, name: &str) -> Option<Tier> {
        self.tiers.get(name).copied()
    }
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            tiers: built_in(),
            default_tier: "pro".to_owned(),
        }
    }
}

const FREE: Tier = tier(10, 10, 1, 5);
const PRO: Tier = tier(60, 60, 5, 30);
const ENTERPRISE: Tier = tier(300, 300, 20, 0);

fn built_in() -> BTreeMap<String, Tier> {
    [("free", FREE), ("pro", PRO), ("enterprise", ENTERPRISE)]
        .map(|(name, tier)| (name.to_owned(), tier))
        .into()
}

const fn tier(per_minute: u32, concurrency: u32, concurrent_jobs: u32, jobs_per_hour: u32) -> Tier {
    let (Some(per_minute), Some(concurrency)) =
        (NonZeroU32::new(per_minute), NonZeroU32::new(concurrency))
    else {
        return Tier {
            per_minute: NonZeroU32::MIN,
            concurrency: NonZeroU32::MIN,
            concurrent_jobs: None,
            jobs_per_hour: None,
        };
    };
    Tier {
        per_minute,
        concurrency,
        concurrent_jobs: NonZeroU32::new(concurrent_jobs),
        jobs_per_hour: NonZeroU32::new(jobs_per_hour),
    }
}

fn tiers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Tier>, D::Error> {
    let mut tiers = built_in();
    for (name, written) in BTreeMap::<String, WrittenTier>::deserialize(deserializer)? {
        if name.is_empty()
            || !name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        {
            return Err(de::Error::custom(format!(
                "`{name}` is not a tier name: use letters, digits, '_' and '-'"
            )));
        }
        let base = tiers.get(&name).copied().unwrap_or(PRO);
        tiers.insert(name, written.over(base));
    }
    Ok(tiers)
}
