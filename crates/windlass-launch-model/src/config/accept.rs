//! Takes a configuration in: schema, static defaults, further rules, hash.

use std::{path::PathBuf, sync::LazyLock};

use serde_json::Value;
use windlass_types::Digest;

use super::{RunConfig, check};
use crate::{
    AllowedPaths, Profile, ids,
    schema::{Schema, SchemaError, SchemaErrors, whole_numbers},
};

static SCHEMA: LazyLock<Schema> = LazyLock::new(Schema::of_input::<RunConfig>);

/// The JSON Schema of a configuration.
pub fn schema() -> &'static Value {
    SCHEMA.json()
}

/// Who brings a configuration, as far as that decides what it may say.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The profile of a configuration that names none.
    pub default_profile: Profile,
    /// Which repositories of this machine may be read.
    pub local_repos: LocalRepos,
}

/// Which repositories of this machine a caller may name.
#[derive(Clone, Debug)]
pub enum LocalRepos {
    /// Any: the caller is a person or program on this machine.
    Any,
    /// Those below these folders, by absolute path; none when there are no folders.
    Below(Vec<PathBuf>),
}

impl Caller {
    /// A person or program on this machine, in profile local.
    pub fn local() -> Self {
        Self {
            default_profile: Profile::Local,
            local_repos: LocalRepos::Any,
        }
    }

    /// A caller over the network.
    pub fn remote(roots: Vec<PathBuf>) -> Self {
        Self {
            default_profile: Profile::Local,
            local_repos: LocalRepos::Below(roots),
        }
    }

    /// The same caller with another profile for configurations that name none.
    #[must_use]
    pub fn with_profile(mut self, profile: Profile) -> Self {
        self.default_profile = profile;
        self
    }
}

/// A configuration that may be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    config: RunConfig,
    json: Value,
    hash: Digest,
    allowed: AllowedPaths,
}

impl Accepted {
    /// Accepts a configuration as a user wrote it.
    pub fn new(given: Value, caller: &Caller) -> Result<Self, SchemaErrors> {
        SCHEMA.check(&given)?;
        let mut given = whole_numbers(given);
        if let Value::Object(map) = &mut given {
            map.entry("validation_profile")
                .or_insert_with(|| Value::from(caller.default_profile.as_str()));
        }
        let mut config = read(given)?;
        // Before defaults, which would hide that `locale` and `locales` disagree.
        SchemaErrors::check(check::locales(&config))?;
        apply_defaults(&mut config);
        let mut errors = check::all(&config, caller);
        errors.extend(check::allowed(&config).err().into_iter().flatten());
        SchemaErrors::check(errors)?;
        Self::of(config)
    }

    /// Reads a configuration that was accepted before; permissions are not checked again.
    /// Nor is the schema, so that a later version still reads the runs of an earlier one.
    pub fn restore(stored: Value) -> Result<Self, SchemaErrors> {
        Self::of(read(whole_numbers(stored))?)
    }

    fn of(config: RunConfig) -> Result<Self, SchemaErrors> {
        let json = serde_json::to_value(&config).map_err(|error| disagreement(&error))?;
        let hash = Digest::of_json(&json);
        let allowed = check::allowed(&config).map_err(SchemaErrors::new)?;
        Ok(Self {
            config,
            json,
            hash,
            allowed,
        })
    }

    /// The configuration with static defaults.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The same as JSON: `run_config.json`.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// SHA-256 over the canonical JSON: equal for configurations that mean the same.
    pub fn hash(&self) -> Digest {
        self.hash
    }

    /// The rule of what may be written.
    pub fn allowed(&self) -> &AllowedPaths {
        &self.allowed
    }
}

fn read(json: Value) -> Result<RunConfig, SchemaErrors> {
    serde_json::from_value(json).map_err(|error| disagreement(&error))
}

/// The schema took what the type does not; the tests make sure there is nothing like that.
fn disagreement(error: &serde_json::Error) -> SchemaErrors {
    SchemaErrors::new(vec![SchemaError::new("", "type", error.to_string())])
}

/// The defaults that need no repository.
fn apply_defaults(config: &mut RunConfig) {
    if config.product_slug.is_empty() {
        config.product_slug = ids::product_slug(&config.product_name);
    }
    if config.family.is_empty() {
        config.family.clone_from(&config.product_slug);
    }
    // One form for one meaning, so that both spellings have one hash.
    if let Some(locale) = config.locale.take() {
        config.locales = vec![locale];
    }
    if config.locales.is_empty() {
        config.locales = vec!["en".to_owned()];
    }
    config.commit_service.adapter = Some(config.commit_service.adapter());
}
