//! `[telemetry]`: what is logged, how, and where spans go.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_types::Secret;

use crate::env::{self, Environment};

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Human,
    /// One JSON object per line.
    Json,
}

impl std::str::FromStr for LogFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "human" => Ok(Self::Human),
            "json" => Ok(Self::Json),
            other => Err(format!(
                "`{other}` is not a log format; use `human` or `json`"
            )),
        }
    }
}

/// Settings of logs and spans.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a [telemetry] table")]
pub struct TelemetrySettings {
    /// What is logged: a level, or levels per module such as `info,windlass_engine=debug`.
    pub log: Option<String>,
    /// How log lines are written.
    pub log_format: LogFormat,
    /// The OTLP/HTTP collector spans are exported to, such as `http://127.0.0.1:4318`.
    pub otlp_endpoint: Option<String>,
    /// Headers sent with every export; only from the environment, because they are secret.
    #[serde(skip)]
    pub otlp_headers: Vec<(String, Secret<String>)>,
    /// The service name on exported spans; `windlass` when absent.
    pub service_name: Option<String>,
}

impl TelemetrySettings {
    /// Lets the environment win; returns the complaint about a value that makes no sense.
    pub(crate) fn override_from(&mut self, environment: &Environment) -> Result<(), String> {
        let text = |variable| environment.get(variable).map(str::to_owned);
        self.log = text(&env::WINDLASS_LOG).or_else(|| self.log.take());
        self.otlp_endpoint =
            text(&env::OTEL_EXPORTER_OTLP_ENDPOINT).or_else(|| self.otlp_endpoint.take());
        self.service_name = text(&env::OTEL_SERVICE_NAME).or_else(|| self.service_name.take());
        if let Some(format) = environment.get(&env::WINDLASS_LOG_FORMAT) {
            self.log_format = format
                .parse()
                .map_err(|error| format!("WINDLASS_LOG_FORMAT: {error}"))?;
        }
        if let Some(headers) = environment.secret(&env::OTEL_EXPORTER_OTLP_HEADERS) {
            self.otlp_headers = headers_of(headers.expose_secret()).ok_or(
                "OTEL_EXPORTER_OTLP_HEADERS: write `name=value` pairs separated by commas",
            )?;
        }
        Ok(())
    }
}

/// `name=value` pairs separated by commas; the value may hold `=`.
fn headers_of(text: &str) -> Option<Vec<(String, Secret<String>)>> {
    text.split(',')
        .map(|pair| {
            let (name, value) = pair.split_once('=')?;
            let name = name.trim();
            (!name.is_empty()).then(|| (name.to_owned(), Secret::new(value.trim().to_owned())))
        })
        .collect()
}
