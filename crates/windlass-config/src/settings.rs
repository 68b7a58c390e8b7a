//! The settings file, all sections resolved into one value.
//!
//! Defaults, then the file, then the environment. A file that is not understood
//! completely is refused: nothing starts on half-read settings.

use std::{num::NonZeroU64, path::PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_types::{Problem, code};

use crate::{
    Environment, FileError, Home, LaunchSettings, LimitSettings, ModelSettings, PipelineSettings,
    ServerSettings, StackSettings, StoreSettings, TelemetrySettings, WebhookSettings, env, file,
};

/// Everything a user can set.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(
    title = "Windlass settings",
    description = "The settings file, `config.toml` in the Windlass home."
)]
pub struct Settings {
    /// Where the HTTP surfaces listen and what they accept.
    pub server: ServerSettings,
    /// Where deliveries may go, when they are retried, which secrets sign them.
    pub webhooks: WebhookSettings,
    /// How much the holder of an API key may ask for.
    pub limits: LimitSettings,
    /// What is logged, how, and where spans go.
    pub telemetry: TelemetrySettings,
    /// What is kept, and for how long.
    pub store: StoreSettings,
    /// What site launches may call, read and send.
    pub launch: LaunchSettings,
    /// Where language models may be.
    pub models: ModelSettings,
    /// How product pipelines work.
    pub pipeline: PipelineSettings,
    /// What may be done to AWS stacks, and with which role they are asked.
    pub stack: StackSettings,
}

/// Why the settings cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read; the cause names its path.
    #[error("the settings file cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// The file is not understood.
    #[error(transparent)]
    Invalid(#[from] FileError),
    /// An environment variable is not understood.
    #[error("{0}")]
    Variable(String),
}

impl From<SettingsError> for Problem {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::Invalid(error) => error.into(),
            other => Self::new(&code::CONFIG_INVALID, other.to_string()),
        }
    }
}

impl Settings {
    /// Reads the settings file, if there is one, and lets the environment win.
    pub fn load(home: &Home, environment: &Environment) -> Result<Self, SettingsError> {
        let (path, named) = Self::path(home, environment);
        let read = match file::read_if_there(&path) {
            // A file that was asked for by name must exist.
            Ok(None) if named => fs_err::read_to_string(&path).map(Some),
            read => read,
        };
        let text = read.map_err(SettingsError::Unreadable)?.unwrap_or_default();
        let mut settings = Self::parse(&text, &path.display().to_string())?;
        settings
            .telemetry
            .override_from(environment)
            .map_err(SettingsError::Variable)?;
        settings
            .launch
            .override_from(environment)
            .map_err(SettingsError::Variable)?;
        Ok(settings)
    }

    /// Understands the text of a settings file; the environment has no say.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, FileError> {
        let settings: Self = file::parse(text, file_name)?;
        let limits = &settings.limits;
        if limits.tier(&limits.default_tier).is_none() {
            let offset = text.find("default_tier").unwrap_or(0);
            let error = FileError::at(
                file_name,
                text,
                offset,
                format!("no tier is named `{}`", limits.default_tier),
            );
            let nearest = windlass_text::suggest::nearest(
                &limits.default_tier,
                limits.tiers.keys().map(String::as_str),
            );
            return Err(match nearest {
                Some(name) => error.hint(format!("did you mean `{name}`?")),
                None => error.hint(format!("add [limits.tiers.{}]", limits.default_tier)),
            });
        }
        if let Some(entry) = settings.stack.unclear_function() {
            let offset = text.find("allowed_functions").unwrap_or(0);
            return Err(FileError::at(
                file_name,
                text,
                offset,
                format!("`{entry}` names no function"),
            )
            .hint("write \"schema.function\", \"schema.*\" or, for one of the server itself, \"function\""));
        }
        Ok(settings)
    }

    /// The settings file's path, and whether the environment named it.
    pub fn path(home: &Home, environment: &Environment) -> (PathBuf, bool) {
        match environment.path(&env::WINDLASS_CONFIG) {
            Some(path) => (path, true),
            None => (home.config(), false),
        }
    }

    /// The JSON Schema of the file.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Settings).to_value()
    }
}

/// A default that is not zero.
pub(crate) const fn whole(number: u64) -> NonZeroU64 {
    match NonZeroU64::new(number) {
        Some(number) => number,
        None => NonZeroU64::MIN,
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
