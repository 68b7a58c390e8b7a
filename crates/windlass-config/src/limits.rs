//! `[limits]`: how much the holder of an API key may ask for, by tier.

use std::{collections::BTreeMap, num::NonZeroU32};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

/// One tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Calls in any minute.
    pub per_minute: NonZeroU32,
    /// Calls at the same time.
    pub concurrency: NonZeroU32,
}

/// The tiers. The local user is not limited.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a [limits] table")]
pub struct LimitSettings {
    /// Tiers by name; `free` and `standard` exist unless they are changed here.
    #[serde(deserialize_with = "tiers")]
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
            default_tier: "standard".to_owned(),
        }
    }
}

fn built_in() -> BTreeMap<String, Tier> {
    const FREE: Tier = tier(60, 4);
    const STANDARD: Tier = tier(300, 16);
    [("free".to_owned(), FREE), ("standard".to_owned(), STANDARD)].into()
}

const fn tier(per_minute: u32, concurrency: u32) -> Tier {
    match (NonZeroU32::new(per_minute), NonZeroU32::new(concurrency)) {
        (Some(per_minute), Some(concurrency)) => Tier {
            per_minute,
            concurrency,
        },
        _ => Tier {
            per_minute: NonZeroU32::MIN,
            concurrency: NonZeroU32::MIN,
        },
    }
}

fn tiers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Tier>, D::Error> {
    let mut tiers = built_in();
    for (name, tier) in BTreeMap::<String, Tier>::deserialize(deserializer)? {
        if name.is_empty()
            || !name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        {
            return Err(de::Error::custom(format!(
                "`{name}` is not a tier name: use letters, digits, '_' and '-'"
            )));
        }
        tiers.insert(name, tier);
    }
    Ok(tiers)
}
