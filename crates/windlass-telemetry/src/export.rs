//! The OTLP exporter, behind the redaction function: spans leave the process too.

use std::{borrow::Cow, collections::HashMap, fmt, time::Duration};

use opentelemetry::{Array, KeyValue, Value, trace::Status};
use opentelemetry_otlp::{Protocol, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{SdkTracerProvider, SpanData, SpanExporter},
};

use crate::{
    ids::JournalIds,
    init::{InitError, Otlp, Redact},
};

/// Longer than a healthy collector takes, shorter than anyone waits at exit.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A provider that exports in the background; nothing is sent before the first span ends.
pub(crate) fn provider(
    otlp: &Otlp,
    service_name: &str,
    redact: Redact,
) -> Result<SdkTracerProvider, InitError> {
    let headers: HashMap<String, String> = otlp
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), value.expose_secret().clone()))
        .collect();
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(traces_endpoint(&otlp.endpoint))
        .with_timeout(TIMEOUT)
        .with_headers(headers)
        .build()
        .map_err(|error| InitError::Collector {
            endpoint: otlp.endpoint.clone(),
            cause: error.to_string(),
        })?;
    let resource = Resource::builder_empty()
        .with_service_name(service_name.to_owned())
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    Ok(SdkTracerProvider::builder()
        .with_batch_exporter(RedactingExporter {
            inner: exporter,
            redact,
        })
        .with_id_generator(JournalIds::default())
        .with_resource(resource)
        .build())
}

/// The standard variable names the collector; its traces path is fixed.
fn traces_endpoint(endpoint: &str) -> String {
    let base = endpoint.trim_end_matches('/');
    if base.ends_with("/v1/traces") {
        base.to_owned()
    } else {
        format!("{base}/v1/traces")
    }
}

struct RedactingExporter<E> {
    inner: E,
    redact: Redact,
}

impl<E: fmt::Debug> fmt::Debug for RedactingExporter<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RedactingExporter")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

impl<E: SpanExporter> SpanExporter for RedactingExporter<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let batch = batch
            .into_iter()
            .map(|span| redact_span(span, &self.redact))
            .collect();
        self.inner.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

fn redact_span(mut span: SpanData, redact: &Redact) -> SpanData {
    redact_text(&mut span.name, redact);
    redact_attributes(&mut span.attributes, redact);
    for event in &mut span.events.events {
        redact_text(&mut event.name, redact);
        redact_attributes(&mut event.attributes, redact);
    }
    if let Status::Error { description } = &mut span.status {
        redact_text(description, redact);
    }
    span
}

fn redact_text(text: &mut Cow<'static, str>, redact: &Redact) {
    if let Cow::Owned(changed) = redact(text) {
        *text = Cow::Owned(changed);
    }
}

fn redact_attributes(attributes: &mut [KeyValue], redact: &Redact) {
    for attribute in attributes {
        match &mut attribute.value {
            Value::String(text) => {
                if let Cow::Owned(changed) = redact(text.as_str()) {
                    *text = changed.into();
                }
            }
            Value::Array(Array::String(items)) => {
                for item in items {
                    if let Cow::Owned(changed) = redact(item.as_str()) {
                        *item = changed.into();
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_traces_path_is_added_once() {
        for (given, expected) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
            (
                "https://c.example.org/otlp",
                "https://c.example.org/otlp/v1/traces",
            ),
            (
                "https://c.example.org/v1/traces",
                "https://c.example.org/v1/traces",
            ),
        ] {
            assert_eq!(traces_endpoint(given), expected);
        }
    }
}
