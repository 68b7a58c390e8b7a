//! `[webhooks]`: where deliveries may go, when they are retried, which secrets sign them.

use std::{collections::BTreeMap, num::NonZeroU64, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};
use windlass_types::Secret;

use crate::{Environment, settings::whole};

/// Settings of webhook deliveries.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a [webhooks] table")]
pub struct WebhookSettings {
    /// Whether private, loopback and link-local addresses may be called.
    pub allow_private_targets: bool,
    /// Whether plain `http://` may be called.
    pub allow_http: bool,
    /// The only hosts that may be called; absent means any.
    pub allowed_hosts: Option<Vec<String>>,
    /// Seconds to wait before each retry, give or take a tenth; a delivery is given up after the
    /// last.
    #[serde(deserialize_with = "schedule")]
    pub retry_seconds: Vec<u64>,
    /// How long one attempt may take, in seconds.
    pub timeout_seconds: NonZeroU64,
    /// How long the old secret still signs along with the new one after a rotation, in seconds.
    pub rotation_overlap_seconds: u64,
    /// Signing secrets by name; a webhook refers to the name.
    pub secrets: BTreeMap<String, SecretSource>,
}

impl Default for WebhookSettings {
    fn default() -> Self {
        Self {
            allow_private_targets: false,
            allow_http: false,
            allowed_hosts: None,
            retry_seconds: vec![
                0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
            ],
            timeout_seconds: whole(15),
            rotation_overlap_seconds: 86_400,
            secrets: BTreeMap::new(),
        }
    }
}

/// Where a secret is kept; the settings file never holds one itself.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub enum SecretSource {
    /// In the environment variable of this name.
    Env(String),
    /// In the file at this path; one trailing newline is dropped.
    File(PathBuf),
}

/// A secret is not where the settings say.
#[derive(Debug, thiserror::Error)]
pub enum SecretSourceError {
    /// The variable is unset or empty.
    #[error("environment variable {0} is not set; the settings file refers to it for a secret")]
    Unset(String),
    /// The file cannot be read.
    #[error("a secret's file cannot be read")]
    Unreadable(#[source] std::io::Error),
    /// The file is empty.
    #[error("{} is empty; the settings file refers to it for a secret", .0.display())]
    Empty(PathBuf),
}

impl SecretSource {
    /// Reads the secret.
    pub fn read(&self, environment: &Environment) -> Result<Secret<String>, SecretSourceError> {
        match self {
            Self::Env(name) => environment
                .secret_named(name)
                .ok_or_else(|| SecretSourceError::Unset(name.clone())),
            Self::File(path) => {
                let text = Secret::new(
                    fs_err::read_to_string(path).map_err(SecretSourceError::Unreadable)?,
                );
                let value = text.expose_secret();
                let value = value.strip_suffix('\n').unwrap_or(value);
                let value = value.strip_suffix('\r').unwrap_or(value);
                if value.is_empty() {
                    return Err(SecretSourceError::Empty(path.clone()));
                }
                Ok(Secret::new(value.to_owned()))
            }
        }
    }
}

impl<'de> Deserialize<'de> for SecretSource {
    /// Written by hand so that a secret put here by mistake is not repeated in the error.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Place {
            env: Option<String>,
            file: Option<PathBuf>,
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Place(Place),
            Other(de::IgnoredAny),
        }
        match Written::deserialize(deserializer)? {
            Written::Place(Place {
                env: Some(name),
                file: None,
            }) => Ok(Self::Env(name)),
            Written::Place(Place {
                env: None,
                file: Some(path),
            }) => Ok(Self::File(path)),
            Written::Place(_) | Written::Other(_) => Err(de::Error::custom(
                "a secret does not belong in this file: write where it is stored, { env = \"NAME\" } or { file = \"/path\" }",
            )),
        }
    }
}

fn schedule<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    let schedule = Vec::<u64>::deserialize(deserializer)?;
    if schedule.len() > 30 || schedule.iter().any(|wait| *wait > 604_800) {
        return Err(de::Error::custom(
            "retry_seconds takes at most 30 waits of 0 to 604800 seconds (a week)",
        ));
    }
    Ok(schedule)
}
