//! What passes through this server, counted, and the Prometheus text it is shown as.
//!
//! Not calls by operation: those are counted where operations are called. Counting is a few relaxed atomic additions per request; nothing is allocated until
//! it is asked for.

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

/// Upper bounds of the duration buckets, in microseconds.
const BUCKETS: [u64; 11] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000, 10_000_000,
];

/// Which part of the surface a request went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Api,
    Mcp,
}

#[derive(Debug, Default)]
struct PartCounts {
    by_status_class: [AtomicU64; 5],
    buckets: [AtomicU64; BUCKETS.len() + 1],
    micros: AtomicU64,
}

/// The counts of one server.
#[derive(Debug, Default)]
pub struct Traffic {
    api: PartCounts,
    mcp: PartCounts,
    unauthorized: AtomicU64,
    panics: AtomicU64,
    in_flight: AtomicI64,
    streams: AtomicI64,
    connections: AtomicI64,
    connections_total: AtomicU64,
}

/// A gauge that is one higher while this lives.
#[derive(Debug)]
pub(crate) struct Raised {
    traffic: Arc<Traffic>,
    gauge: fn(&Traffic) -> &AtomicI64,
}

impl Drop for Raised {
    fn drop(&mut self) {
        (self.gauge)(&self.traffic).fetch_sub(1, Relaxed);
    }
}

impl Traffic {
    fn part(&self, part: Part) -> &PartCounts {
        match part {
            Part::Api => &self.api,
            Part::Mcp => &self.mcp,
        }
    }

    /// Counts an answer.
    pub(crate) fn answered(&self, part: Part, status: u16, took: Duration) {
        let counters = self.part(part);
        let class = usize::from(status / 100).clamp(1, 5) - 1;
        counters.by_status_class[class].fetch_add(1, Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS
            .iter()
            .position(|bound| micros <= *bound)
            .unwrap_or(BUCKETS.len());
        counters.buckets[bucket].fetch_add(1, Relaxed);
        counters.micros.fetch_add(micros, Relaxed);
        if status == 401 {
            self.unauthorized.fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn panicked(&self) {
        self.panics.fetch_add(1, Relaxed);
    }

    pub(crate) fn request_begins(self: &Arc<Self>) -> Raised {
        self.raise(|traffic| &traffic.in_flight)
    }

    pub(crate) fn stream_begins(self: &Arc<Self>) -> Raised {
        self.raise(|traffic| &traffic.streams)
    }

    pub(crate) fn connection_begins(self: &Arc<Self>) -> Raised {
        self.connections_total.fetch_add(1, Relaxed);
        self.raise(|traffic| &traffic.connections)
    }

    fn raise(self: &Arc<Self>, gauge: fn(&Self) -> &AtomicI64) -> Raised {
        gauge(self).fetch_add(1, Relaxed);
        Raised {
            traffic: Arc::clone(self),
            gauge,
        }
    }

    /// The counts in Prometheus text format.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(4096);
        header(
            &mut text,
            "windlass_http_requests_total",
            "counter",
            "Answers by part and status class.",
        );
        for (name, part) in self.parts() {
            for (class, count) in part.by_status_class.iter().enumerate() {
                let count = count.load(Relaxed);
                let _ = writeln!(
                    text,
                    "windlass_http_requests_total{{part=\"{name}\",status=\"{}xx\"}} {count}",
                    class + 1
                );
            }
        }
        let duration = "windlass_http_request_duration_seconds";
        header(
            &mut text,
            duration,
            "histogram",
            "Time to the head of the answer.",
        );
        for (name, part) in self.parts() {
            let mut sum = 0;
            for (index, count) in part.buckets.iter().enumerate() {
                sum += count.load(Relaxed);
                let bound = BUCKETS
                    .get(index)
                    .map_or_else(|| "+Inf".to_owned(), |micros| seconds(*micros));
                let _ = writeln!(
                    text,
                    "{duration}_bucket{{part=\"{name}\",le=\"{bound}\"}} {sum}"
                );
            }
            let total = seconds(part.micros.load(Relaxed));
            let _ = writeln!(text, "{duration}_sum{{part=\"{name}\"}} {total}");
            let _ = writeln!(text, "{duration}_count{{part=\"{name}\"}} {sum}");
        }
        for (name, help, counter) in [
            (
                "windlass_http_unauthorized_total",
                "Requests without a working key.",
                &self.unauthorized,
            ),
            (
                "windlass_http_panics_total",
                "Requests whose handling panicked.",
                &self.panics,
            ),
            (
                "windlass_http_connections_total",
                "Connections accepted.",
                &self.connections_total,
            ),
        ] {
            figure(&mut text, name, "counter", help, counter.load(Relaxed));
        }
        for (name, help, gauge) in [
            (
                "windlass_http_in_flight",
                "Requests being answered.",
                &self.in_flight,
            ),
            (
                "windlass_http_streams",
                "Answers still being streamed.",
                &self.streams,
            ),
            (
                "windlass_http_connections",
                "Connections open.",
                &self.connections,
            ),
        ] {
            figure(&mut text, name, "gauge", help, gauge.load(Relaxed));
        }
        text
    }

    fn parts(&self) -> [(&'static str, &PartCounts); 2] {
        [("api", &self.api), ("mcp", &self.mcp)]
    }
}

/// One unlabelled figure with its description.
pub(crate) fn figure(
    text: &mut String,
    name: &str,
    kind: &str,
    help: &str,
    value: impl std::fmt::Display,
) {
    header(text, name, kind, help);
    let _ = writeln!(text, "{name} {value}");
}

fn header(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_part_class_and_time() {
        let traffic = Arc::new(Traffic::default());
        traffic.answered(Part::Api, 200, Duration::from_micros(90));
        traffic.answered(Part::Api, 401, Duration::from_micros(300));
        traffic.answered(Part::Mcp, 429, Duration::from_secs(60));
        let stream = traffic.stream_begins();
        let text = traffic.text();
        for line in [
            "windlass_http_requests_total{part=\"api\",status=\"2xx\"} 1",
            "windlass_http_requests_total{part=\"api\",status=\"4xx\"} 1",
            "windlass_http_request_duration_seconds_bucket{part=\"api\",le=\"0.000100\"} 1",
            "windlass_http_request_duration_seconds_bucket{part=\"api\",le=\"0.000500\"} 2",
            "windlass_http_request_duration_seconds_bucket{part=\"mcp\",le=\"10.000000\"} 0",
            "windlass_http_request_duration_seconds_bucket{part=\"mcp\",le=\"+Inf\"} 1",
            "windlass_http_request_duration_seconds_sum{part=\"api\"} 0.000390",
            "windlass_http_unauthorized_total 1",
            "windlass_http_streams 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        drop(stream);
        assert!(traffic.text().contains("windlass_http_streams 0"));
    }
}
