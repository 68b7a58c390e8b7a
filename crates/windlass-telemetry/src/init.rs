//! Sets up logging and export, once per process.

use std::{
    borrow::Cow,
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Dispatch, Level, Metadata};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    filter::filter_fn,
    fmt::{self, MakeWriter},
    layer::SubscriberExt,
};
use windlass_config::LogFormat;
use windlass_types::Secret;

use crate::export;

/// Takes secrets out of a text; borrowed when there are none. The binary hands in
/// `Redactor::redact` of windlass-secrets.
pub type Redact = Arc<dyn for<'a> Fn(&'a str) -> Cow<'a, str> + Send + Sync>;

/// How to log and where to export.
pub struct Options {
    /// How log lines are written.
    pub format: LogFormat,
    /// What is logged, as `WINDLASS_LOG` says it; wins over `verbosity`.
    pub filter: Option<String>,
    /// How often `-v` was given.
    pub verbosity: u8,
    /// Whether human log lines are coloured.
    pub colour: bool,
    /// Where spans go.
    pub otlp: Option<Otlp>,
    /// The service name on exported spans.
    pub service_name: String,
    /// Takes secrets out of everything written.
    pub redact: Redact,
}

/// A collector.
#[derive(Clone, Debug)]
pub struct Otlp {
    /// Its address, with or without `/v1/traces`.
    pub endpoint: String,
    /// Headers sent with every export.
    pub headers: Vec<(String, Secret<String>)>,
}

/// Why telemetry cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// The filter is not understood.
    #[error(
        "the log filter `{filter}` is not understood: {cause}; write a level such as `info`, or `info,windlass_engine=debug`"
    )]
    Filter {
        /// The filter as it was given.
        filter: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The collector's address or a header cannot be used.
    #[error("spans cannot be exported to `{endpoint}`: {cause}")]
    Collector {
        /// The address.
        endpoint: String,
        /// What is wrong with it.
        cause: String,
    },
    /// Telemetry was set up before in this process.
    #[error("telemetry was set up before in this process")]
    Twice,
}

/// Keeps the exporter; dropping it sends what is left, for at most a few seconds.
#[must_use = "dropping the guard ends the export of spans"]
#[derive(Debug, Default)]
pub struct Guard {
    provider: Option<SdkTracerProvider>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(provider) = self.provider.take() {
            // A collector that is away must not keep a command from ending well.
            let _ = provider.shutdown_with_timeout(Duration::from_secs(5));
        }
    }
}

/// Sets up logging to standard error and, if asked for, export.
pub fn init(options: Options) -> Result<Guard, InitError> {
    let (dispatch, guard) = build(options, Arc::new(Mutex::new(io::stderr())))?;
    tracing::dispatcher::set_global_default(dispatch).map_err(|_| InitError::Twice)?;
    Ok(guard)
}

type Sink = Arc<Mutex<dyn Write + Send>>;

pub(crate) fn build(options: Options, sink: Sink) -> Result<(Dispatch, Guard), InitError> {
    let filter = filter(options.filter.as_deref(), options.verbosity)?;
    let lines = fmt::layer()
        .with_writer(RedactedLines {
            sink,
            redact: Arc::clone(&options.redact),
        })
        .with_ansi(options.colour && options.format == LogFormat::Human)
        .log_internal_errors(false);
    let lines = match options.format {
        LogFormat::Human => lines.with_target(options.verbosity > 1).boxed(),
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_span_list(false)
            .boxed(),
    };
    let provider = options
        .otlp
        .as_ref()
        .map(|otlp| export::provider(otlp, &options.service_name, Arc::clone(&options.redact)))
        .transpose()?;
    let spans = provider.as_ref().map(|provider| {
        tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("windlass"))
            .with_location(false)
            .with_threads(false)
            .with_filter(filter_fn(is_exported))
    });
    let subscriber = Registry::default()
        .with(spans)
        .with(lines.with_filter(filter));
    Ok((Dispatch::new(subscriber), Guard { provider }))
}

/// Only our own spans are exported: those of the HTTP client would report their own export.
fn is_exported(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("windlass") && *metadata.level() <= Level::INFO
}

fn filter(given: Option<&str>, verbosity: u8) -> Result<EnvFilter, InitError> {
    let text = given.unwrap_or(match verbosity {
        // A chain of credentials that ends empty is an answer, not a warning.
        // What a server says of requests, starts and stops is wanted without asking.
        0 => "warn,aws_config=error,windlass_http=info",
        1 => "warn,aws_config=error,windlass=info",
        2 => "info,windlass=debug",
        _ => "debug,windlass=trace",
    });
    EnvFilter::try_new(text).map_err(|error| InitError::Filter {
        filter: text.to_owned(),
        cause: error.to_string(),
    })
}

struct RedactedLines {
    sink: Sink,
    redact: Redact,
}

impl<'a> MakeWriter<'a> for RedactedLines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        Line(self)
    }
}

/// Receives one formatted line in one call, so a secret is never cut in two.
struct Line<'a>(&'a RedactedLines);

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let clean = (self.0.redact)(&text);
        let mut sink = self.0.sink.lock().unwrap_or_else(PoisonError::into_inner);
        sink.write_all(clean.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0
            .sink
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .flush()
    }
}

#[cfg(test)]
#[path = "init_tests.rs"]
mod tests;
