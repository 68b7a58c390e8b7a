//! Counters, gauges and histograms in memory, rendered as Prometheus text.
//!
//! The families are listed here, so that their names and labels are known in one place.
//! Label values must come from closed sets (operation names, states), never from input;
//! a family still stops growing at a fixed number of series.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// What kind of number a family holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Seconds, counted into buckets.
    Histogram,
}

/// A named group of series that differ in their labels.
#[derive(Debug)]
pub struct Family {
    /// The name, with the unit as suffix.
    pub name: &'static str,
    /// What it counts.
    pub help: &'static str,
    /// What kind of number it holds.
    pub kind: Kind,
    /// The label names, in the order values are given.
    pub labels: &'static [&'static str],
}

macro_rules! families {
    ($($name:ident: $kind:ident, $text:literal, [$($label:literal),*], $help:literal;)*) => {
        $(
            #[doc = $help]
            pub static $name: Family =
                Family { name: $text, help: $help, kind: Kind::$kind, labels: &[$($label),*] };
        )*
        /// Every family, in the order of the page.
        pub static ALL: &[&Family] = &[$(&$name),*];
    };
}

families! {
    REQUESTS: Counter, "windlass_requests_total", ["surface", "operation", "outcome"],
        "Calls answered, by surface, operation and outcome (ok or an error code).";
    REQUEST_SECONDS: Histogram, "windlass_request_duration_seconds", ["surface", "operation"],
        "How long calls took.";
    REQUESTS_IN_FLIGHT: Gauge, "windlass_requests_in_flight", ["surface"],
        "Calls being answered now.";
    RATE_LIMITED: Counter, "windlass_rate_limited_total", ["tier"],
        "Calls refused because of a limit.";
    RUNS: Gauge, "windlass_runs", ["state"],
        "Runs by state.";
    RUNS_FINISHED: Counter, "windlass_runs_finished_total", ["kind", "state"],
        "Runs that ended since start-up, by kind and final state.";
    STEP_SECONDS: Histogram, "windlass_step_duration_seconds", ["kind"],
        "How long steps took, by run kind.";
    JOURNAL_COMMITS: Counter, "windlass_journal_commits_total", [],
        "Durable commits of runs and signals.";
    JOURNAL_FLUSHES: Counter, "windlass_journal_flushes_total", [],
        "Flushes of the journal to the disk; commits that come together share one.";
    JOURNAL_EVENTS: Counter, "windlass_journal_events_total", [],
        "Events made durable.";
    JOURNAL_COMMIT_SECONDS: Histogram, "windlass_journal_commit_duration_seconds", [],
        "How long commits took.";
    DELIVERIES: Counter, "windlass_webhook_attempts_total", ["outcome"],
        "Webhook delivery attempts, by outcome.";
}

/// Upper bounds in seconds: half a millisecond for a durable write, a minute for a slow call.
const BOUNDS: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0,
];

/// More series than this in one family means that a label holds input.
const MAX_SERIES: usize = 2_000;

/// The numbers of this process. Cloning shares them.
#[derive(Clone, Default)]
pub struct Metrics(Arc<Inner>);

#[derive(Default)]
struct Inner {
    series: Mutex<BTreeMap<&'static str, BTreeMap<String, Series>>>,
    collectors: Mutex<Vec<Collector>>,
}

type Collector = Arc<dyn Fn(&Metrics) + Send + Sync>;

enum Series {
    Number(f64),
    Histogram {
        counts: [u64; BOUNDS.len()],
        total: u64,
        sum: f64,
    },
}

impl Metrics {
    /// No numbers yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds to a counter, or to a gauge (also a negative amount).
    pub fn add(&self, family: &'static Family, labels: &[&str], amount: f64) {
        self.change(family, labels, |series| {
            if let Series::Number(number) = series {
                *number += amount;
            }
        });
    }

    /// Adds one to a counter.
    pub fn count(&self, family: &'static Family, labels: &[&str]) {
        self.add(family, labels, 1.0);
    }

    /// Sets a gauge.
    pub fn set(&self, family: &'static Family, labels: &[&str], value: f64) {
        self.change(family, labels, |series| *series = Series::Number(value));
    }

    /// Counts a duration into a histogram.
    pub fn observe(&self, family: &'static Family, labels: &[&str], duration: Duration) {
        let seconds = duration.as_secs_f64();
        self.change(family, labels, |series| {
            if let Series::Histogram { counts, total, sum } = series {
                *total += 1;
                *sum += seconds;
                if let Some(bucket) = BOUNDS.iter().position(|bound| seconds <= *bound) {
                    counts[bucket] += 1;
                }
            }
        });
    }

    /// Calls `collect` before every rendering, to set gauges that are cheaper to ask for
    /// than to keep.
    pub fn on_render(&self, collect: impl Fn(&Self) + Send + Sync + 'static) {
        self.0
            .collectors
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Arc::new(collect));
    }

    /// The Prometheus text.
    pub fn render(&self) -> String {
        let collectors = self
            .0
            .collectors
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        for collect in collectors {
            collect(self);
        }
        let all = self.0.series.lock().unwrap_or_else(PoisonError::into_inner);
        let mut page = String::new();
        for family in ALL {
            let Some(series) = all.get(family.name) else {
                continue;
            };
            let kind = match family.kind {
                Kind::Counter => "counter",
                Kind::Gauge => "gauge",
                Kind::Histogram => "histogram",
            };
            let _ = writeln!(
                page,
                "# HELP {} {}\n# TYPE {0} {kind}",
                family.name, family.help
            );
            for (labels, value) in series {
                write_series(&mut page, family.name, labels, value);
            }
        }
        page
    }

    fn change(&self, family: &'static Family, labels: &[&str], change: impl FnOnce(&mut Series)) {
        debug_assert_eq!(labels.len(), family.labels.len(), "{}", family.name);
        KEY.with_borrow_mut(|key| {
            key.clear();
            write_labels(key, family.labels, labels);
            let mut all = self.0.series.lock().unwrap_or_else(PoisonError::into_inner);
            let series = all.entry(family.name).or_default();
            if let Some(known) = series.get_mut(key.as_str()) {
                return change(known);
            }
            if series.len() >= MAX_SERIES {
                return;
            }
            change(
                series
                    .entry(key.clone())
                    .or_insert_with(|| Series::new(family.kind)),
            );
        });
    }
}

thread_local! {
    /// Where the name of a series is put together: numbers change with every call.
    static KEY: RefCell<String> = const { RefCell::new(String::new()) };
}

impl Series {
    const fn new(kind: Kind) -> Self {
        match kind {
            Kind::Histogram => Self::Histogram {
                counts: [0; BOUNDS.len()],
                total: 0,
                sum: 0.0,
            },
            Kind::Counter | Kind::Gauge => Self::Number(0.0),
        }
    }
}

/// `name="value",…` with the escapes the format asks for.
fn write_labels(text: &mut String, names: &[&str], values: &[&str]) {
    for (name, value) in names.iter().zip(values) {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(name);
        text.push_str("=\"");
        for letter in value.chars() {
            match letter {
                '\\' => text.push_str("\\\\"),
                '"' => text.push_str("\\\""),
                '\n' => text.push_str("\\n"),
                other => text.push(other),
            }
        }
        text.push('"');
    }
}

fn write_series(page: &mut String, name: &str, labels: &str, value: &Series) {
    let braced = if labels.is_empty() {
        String::new()
    } else {
        format!("{{{labels}}}")
    };
    match value {
        Series::Number(number) => {
            let _ = writeln!(page, "{name}{braced} {number}");
        }
        Series::Histogram { counts, total, sum } => {
            let comma = if labels.is_empty() { "" } else { "," };
            let mut below = 0;
            for (bound, count) in BOUNDS.iter().zip(counts) {
                below += count;
                let _ = writeln!(
                    page,
                    "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {below}"
                );
            }
            let _ = writeln!(page, "{name}_bucket{{{labels}{comma}le=\"+Inf\"}} {total}");
            let _ = writeln!(
                page,
                "{name}_sum{braced} {sum}\n{name}_count{braced} {total}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page() {
        let metrics = Metrics::new();
        metrics.count(&REQUESTS, &["http", "runs.list", "ok"]);
        metrics.count(&REQUESTS, &["http", "runs.list", "ok"]);
        metrics.count(&REQUESTS, &["mcp", "odd\"\\\n", "INVALID_INPUT"]);
        metrics.observe(&JOURNAL_COMMIT_SECONDS, &[], Duration::from_millis(2));
        metrics.observe(&JOURNAL_COMMIT_SECONDS, &[], Duration::from_secs(120));
        metrics.add(&REQUESTS_IN_FLIGHT, &["http"], 2.0);
        metrics.add(&REQUESTS_IN_FLIGHT, &["http"], -1.0);
        metrics.on_render(|metrics| metrics.set(&RUNS, &["running"], 3.0));
        insta::assert_snapshot!(metrics.clone().render(), @r#"
        # HELP windlass_requests_total Calls answered, by surface, operation and outcome (ok or an error code).
        # TYPE windlass_requests_total counter
        windlass_requests_total{surface="http",operation="runs.list",outcome="ok"} 2
        windlass_requests_total{surface="mcp",operation="odd\"\\\n",outcome="INVALID_INPUT"} 1
        # HELP windlass_requests_in_flight Calls being answered now.
        # TYPE windlass_requests_in_flight gauge
        windlass_requests_in_flight{surface="http"} 1
        # HELP windlass_runs Runs by state.
        # TYPE windlass_runs gauge
        windlass_runs{state="running"} 3
        # HELP windlass_journal_commit_duration_seconds How long commits took.
        # TYPE windlass_journal_commit_duration_seconds histogram
        windlass_journal_commit_duration_seconds_bucket{le="0.0005"} 0
        windlass_journal_commit_duration_seconds_bucket{le="0.001"} 0
        windlass_journal_commit_duration_seconds_bucket{le="0.0025"} 1
        windlass_journal_commit_duration_seconds_bucket{le="0.005"} 1
        windlass_journal_commit_duration_seconds_bucket{le="0.01"} 1
        windlass_journal_commit_duration_seconds_bucket{le="0.025"} 1
        windlass_journal_commit_duration_seconds_bucket{le="0.05"} 1
        windlass_journal_commit_duration_seconds_bucket{le="0.1"} 1
        windlass_journal_commit_duration_seconds_bucket{le="0.25"} 1
        windlass_journal_commit_duration_seconds_bucket{le="0.5"} 1
        windlass_journal_commit_duration_seconds_bucket{le="1"} 1
        windlass_journal_commit_duration_seconds_bucket{le="5"} 1
        windlass_journal_commit_duration_seconds_bucket{le="15"} 1
        windlass_journal_commit_duration_seconds_bucket{le="60"} 1
        windlass_journal_commit_duration_seconds_bucket{le="+Inf"} 2
        windlass_journal_commit_duration_seconds_sum 120.002
        windlass_journal_commit_duration_seconds_count 2
        "#);
    }

    #[test]
    fn a_family_stops_growing() {
        let metrics = Metrics::new();
        for number in 0..MAX_SERIES + 10 {
            metrics.count(&RATE_LIMITED, &[&number.to_string()]);
        }
        assert_eq!(metrics.render().lines().count(), MAX_SERIES + 2);
    }

    #[test]
    fn names_are_unique_and_well_formed() {
        let mut names: Vec<_> = ALL.iter().map(|family| family.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        for family in ALL {
            assert_eq!(
                family.kind == Kind::Counter,
                family.name.ends_with("_total"),
                "{}",
                family.name
            );
            assert_eq!(
                family.kind == Kind::Histogram,
                family.name.ends_with("_seconds"),
                "{}",
                family.name
            );
        }
    }
}
