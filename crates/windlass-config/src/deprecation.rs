//! `[server.deprecations]`: versions of the API that are on their way out.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};
use windlass_types::Timestamp;

/// A deprecated version stays at least this long: the shortest six months there are.
const LEAST_NOTICE: Duration = Duration::from_secs(181 * 24 * 3600);
/// What is announced when nothing is said: the longest.
const NOTICE: Duration = Duration::from_secs(184 * 24 * 3600);

/// When a version of the API was deprecated, and when it ends.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
pub struct Deprecation {
    /// Since when it is deprecated, as RFC 3339 has it.
    #[schemars(with = "String")]
    pub since: Timestamp,
    /// When it ends; six months later unless given.
    #[schemars(with = "Option<String>")]
    pub sunset: Timestamp,
    /// Where to read about it.
    pub link: Option<String>,
}

impl<'de> Deserialize<'de> for Deprecation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            since: Timestamp,
            sunset: Option<Timestamp>,
            link: Option<String>,
        }
        let written = Written::deserialize(deserializer)?;
        let sunset = written
            .sunset
            .unwrap_or_else(|| written.since.after(NOTICE));
        if sunset < written.since.after(LEAST_NOTICE) {
            return Err(de::Error::custom(format!(
                "a deprecated version must stay for six months: `sunset` must be {} or later",
                written.since.after(LEAST_NOTICE)
            )));
        }
        Ok(Self {
            since: written.since,
            sunset,
            link: written.link,
        })
    }
}
