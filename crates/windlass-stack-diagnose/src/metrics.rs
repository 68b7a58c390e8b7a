//! One metric of a resource over a time.

mod dimensions;

use serde_json::{Map, Value, json};
use windlass_types::{Problem, Timestamp};

use crate::answer::Answer;
use crate::arguments::{Arguments, invalid};
use crate::call::Call;
use crate::failure::aws_problem;
use crate::info_stacks::counted;
use crate::shapes::{list, moment, number, reading, text};
use crate::times::{Span, span};

/// CloudWatch gives this many points in one answer.
const POINTS: i64 = 1_440;
const STATISTICS: &[&str] = &["Average", "Sum", "Minimum", "Maximum", "SampleCount"];

pub(crate) struct Ask {
    resource: String,
    metric: String,
    period: u64,
    stat: Stat,
    span: Span,
    namespace: Option<String>,
    dimensions: Option<Map<String, Value>>,
}

enum Stat {
    Plain(&'static str),
    /// `p99.9`
    Percentile(String),
}

impl Stat {
    fn read(text: &str) -> Option<Self> {
        let plain = STATISTICS
            .iter()
            .find(|known| known.eq_ignore_ascii_case(text));
        if let Some(known) = plain {
            return Some(Self::Plain(known));
        }
        let percent: f64 = text.strip_prefix('p')?.parse().ok()?;
        (0.0..=100.0)
            .contains(&percent)
            .then(|| Self::Percentile(text.to_owned()))
    }

    fn name(&self) -> &str {
        match self {
            Self::Plain(name) => name,
            Self::Percentile(name) => name,
        }
    }
}

impl Ask {
    pub(crate) fn read(arguments: &Arguments, now: Timestamp) -> Result<Self, Problem> {
        let period = arguments.number("period", 300, 1..=86_400)?;
        if !matches!(period, 1 | 5 | 10 | 30) && period % 60 != 0 {
            return Err(invalid(
                "period",
                format!("period is {period}; it is 1, 5, 10, 30 or a multiple of 60 seconds"),
            ));
        }
        let stat = arguments.text("stat")?.unwrap_or("Average");
        let stat = Stat::read(stat).ok_or_else(|| {
            invalid(
                "stat",
                format!(
                    "stat is {stat:?}; it is one of {} or a percentile such as p99",
                    STATISTICS.join(", ")
                ),
            )
        })?;
        let span = span(arguments, now)?;
        let seconds = span.end.as_seconds() - span.start.as_seconds();
        let period_seconds = i64::try_from(period).unwrap_or(i64::MAX);
        if seconds / period_seconds > POINTS {
            return Err(invalid(
                "period",
                format!(
                    "{seconds} seconds in steps of {period} are more than {POINTS} points; choose \
                     a longer period or a shorter time"
                ),
            ));
        }
        let namespace = arguments.text("namespace")?.map(str::to_owned);
        let dimensions = arguments.object("dimensions")?;
        if let Some(dimensions) = &dimensions {
            if namespace.is_none() {
                return Err(invalid("dimensions", "dimensions go with a namespace"));
            }
            if !dimensions.values().all(Value::is_string) {
                return Err(invalid("dimensions", "dimensions are texts by name"));
            }
        }
        Ok(Self {
            resource: arguments.needed("resourceName")?.to_owned(),
            metric: arguments.needed("metric")?.to_owned(),
            period,
            stat,
            span,
            namespace,
            dimensions,
        })
    }
}

pub(crate) async fn answer(call: &mut Call<'_>, ask: &Ask) -> Result<Answer, Problem> {
    let stack = call.stack().await?;
    let resources = call.resources(&stack).await?;
    let mut of = match (&ask.namespace, &ask.dimensions) {
        (Some(namespace), Some(dimensions)) => dimensions::Of::raw(namespace, dimensions),
        (Some(namespace), None) => {
            let mut of =
                dimensions::find(call, &resources, &stack, &ask.resource, &ask.metric).await?;
            of.namespace.clone_from(namespace);
            of
        }
        _ => dimensions::find(call, &resources, &stack, &ask.resource, &ask.metric).await?,
    };
    // Metrics of a global service are kept in one region.
    let mut target = call.target.clone();
    if let Some(region) = of.region.take() {
        target.region = Some(region.to_owned());
    }
    let named: Vec<Value> = of
        .dimensions
        .iter()
        .map(|(name, value)| json!({ "Name": name, "Value": value }))
        .collect();
    let mut input = json!({
        "Namespace": of.namespace,
        "MetricName": ask.metric,
        "Dimensions": named,
        "StartTime": ask.span.start.to_string(),
        "EndTime": ask.span.end.to_string(),
        "Period": ask.period,
    });
    match &ask.stat {
        Stat::Plain(name) => input["Statistics"] = json!([name]),
        Stat::Percentile(name) => input["ExtendedStatistics"] = json!([name]),
    }
    let asked =
        windlass_ports::aws::SignedCall::new(reading("cloudwatch", "GetMetricStatistics")?, input);
    let found = call
        .outside
        .cloud
        .call(&target, asked)
        .await
        .map_err(|failure| aws_problem(&failure))?;
    let mut unit = None;
    let mut points: Vec<(Timestamp, f64)> = Vec::new();
    for point in list(&found, "Datapoints") {
        unit = unit.or_else(|| text(point, "Unit"));
        let value = match &ask.stat {
            Stat::Plain(name) => point.get(*name).and_then(number),
            Stat::Percentile(name) => point
                .get("ExtendedStatistics")
                .and_then(|statistics| percentile(statistics, name)),
        };
        if let (Some(value), Some(time)) = (value, point.get("Timestamp").and_then(moment)) {
            points.push((time, value));
        }
    }
    points.sort_by_key(|(time, _)| *time);
    let datapoints: Vec<Value> = points
        .iter()
        .map(|(time, value)| json!({ "timestamp": time, "value": value }))
        .collect();
    let answer = Answer::new(
        format!(
            "{} of {}",
            counted(datapoints.len(), "datapoint"),
            ask.metric
        ),
        json!({
            "resource": ask.resource,
            "namespace": of.namespace,
            "dimensions": of.dimensions.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
            "metric": ask.metric,
            "period": ask.period,
            "stat": ask.stat.name(),
            "unit": unit,
            "startTime": ask.span.start,
            "endTime": ask.span.end,
            "datapoints": datapoints,
        }),
    );
    Ok(if points.is_empty() {
        answer.next(
            "check the metric's name with aws_sdk cloudwatch ListMetrics, or look further back",
        )
    } else {
        answer
    })
}

/// A map in XML: entries of key and value, or, in JSON, the value by its name.
fn percentile(statistics: &Value, name: &str) -> Option<f64> {
    if let Some(value) = statistics.get(name) {
        return number(value);
    }
    let entries = statistics.get("entry").unwrap_or(statistics);
    let of = |entry: &Value| {
        (text(entry, "key") == Some(name)).then(|| entry.get("value").and_then(number))?
    };
    match entries {
        Value::Array(entries) => entries.iter().find_map(of),
        entry => of(entry),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_in_each_form() {
        for form in [
            json!({ "p99": "1.5" }),
            json!({ "p99": 1.5 }),
            json!({ "entry": { "key": "p99", "value": "1.5" } }),
            json!({ "entry": [{ "key": "p50", "value": "1" }, { "key": "p99", "value": "1.5" }] }),
            json!([{ "key": "p99", "value": "1.5" }]),
        ] {
            assert_eq!(percentile(&form, "p99"), Some(1.5), "{form}");
        }
        assert_eq!(percentile(&json!({}), "p99"), None);
    }

    #[test]
    fn statistics_by_name() {
        for (text, name) in [
            ("Sum", Some("Sum")),
            ("average", Some("Average")),
            ("p99.9", Some("p99.9")),
            ("p101", None),
            ("px", None),
            ("median", None),
        ] {
            assert_eq!(Stat::read(text).as_ref().map(Stat::name), name);
        }
    }
}
