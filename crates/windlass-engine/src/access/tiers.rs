//! Tiers: how much the holder of a key may ask for.

use std::collections::BTreeMap;

use windlass_config::LimitSettings;

/// What a tier allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// Requests in any minute; `u32::MAX` is no limit.
    pub per_minute: u32,
    /// Requests at once.
    pub concurrency: u32,
    /// Jobs that go on at once.
    pub concurrent_jobs: Option<u32>,
    /// Jobs begun in any hour.
    pub jobs_per_hour: Option<u32>,
}

impl From<windlass_config::Tier> for Tier {
    fn from(tier: windlass_config::Tier) -> Self {
        Self {
            per_minute: tier.per_minute.get(),
            concurrency: tier.concurrency.get(),
            concurrent_jobs: tier.concurrent_jobs.map(std::num::NonZeroU32::get),
            jobs_per_hour: tier.jobs_per_hour.map(std::num::NonZeroU32::get),
        }
    }
}

/// Every tier, by name.
#[derive(Clone, Debug)]
pub struct Tiers {
    named: BTreeMap<String, Tier>,
    least: Tier,
}

/// What a key has whose tier is no longer configured.
const LEAST: &str = "free";

impl Tiers {
    /// A tier by name; the least there is for a name that is not known.
    pub fn of(&self, name: &str) -> Tier {
        self.named.get(name).copied().unwrap_or(self.least)
    }

    /// Every tier with its name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Tier)> {
        self.named.iter().map(|(name, tier)| (name.as_str(), *tier))
    }
}

impl From<&LimitSettings> for Tiers {
    fn from(settings: &LimitSettings) -> Self {
        let built_in = LimitSettings::default();
        let least = settings.tier(LEAST).or_else(|| built_in.tier(LEAST));
        Self {
            named: settings
                .tiers
                .iter()
                .map(|(name, tier)| (name.clone(), Tier::from(*tier)))
                .collect(),
            least: least.map_or(
                Tier {
                    per_minute: 1,
                    concurrency: 1,
                    concurrent_jobs: Some(1),
                    jobs_per_hour: Some(1),
                },
                Tier::from,
            ),
        }
    }
}

impl Default for Tiers {
    fn default() -> Self {
        Self::from(&LimitSettings::default())
    }
}
