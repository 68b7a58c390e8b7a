//! `windlass stack metrics`: a metric of a resource as a small chart.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Deployed, Request, filled, json_flag},
    command::StackCall,
    show::{
        Screen,
        chart::{number, sparkline},
        list, moment, text,
    },
};
use crate::output::{Table, Tone, counted};

/// With more values than this only the chart is shown.
const MOST_ROWS: usize = 24;

#[derive(Args, Debug)]
pub(crate) struct MetricsArgs {
    /// The resource of the config.
    #[arg(value_name = "RESOURCE")]
    resource: Option<String>,
    /// The metric, e.g. Errors, Duration, CPUUtilization.
    #[arg(value_name = "METRIC")]
    of: Option<String>,
    #[command(flatten)]
    stack: Deployed,
    /// The resource, by flag.
    #[arg(long, alias = "resourceName", value_name = "NAME")]
    resource_name: Option<String>,
    /// The metric, by flag.
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// Seconds per value. Default: 300.
    #[arg(long, value_name = "SECONDS")]
    period: Option<u64>,
    /// Average, Sum, Minimum, Maximum, SampleCount, or a percentile such as p99. Default: Average.
    #[arg(long, value_name = "STATISTIC")]
    stat: Option<String>,
    /// From when: 15m, 1h, 2d or an ISO time. Default: 1h.
    #[arg(long, aliases = ["startTime", "since"], value_name = "TIME")]
    start_time: Option<String>,
    /// Until when. Default: now.
    #[arg(long, alias = "endTime", value_name = "TIME")]
    end_time: Option<String>,
    /// The namespace, of a metric of your own.
    #[arg(long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// The dimensions, of a metric of your own: a JSON object.
    #[arg(long, value_name = "JSON")]
    dimensions: Option<String>,
}

impl StackCall for MetricsArgs {
    fn request(&self) -> Result<Request, Problem> {
        let [resource, metric] = filled(
            [self.resource_name.as_deref(), self.metric.as_deref()],
            &[&self.resource, &self.of],
        )?;
        Ok(self
            .stack
            .input()
            .text("resourceName", resource.as_deref())
            .text("metric", metric.as_deref())
            .number("period", self.period)
            .text("stat", self.stat.as_deref())
            .text("startTime", self.start_time.as_deref())
            .text("endTime", self.end_time.as_deref())
            .text("namespace", self.namespace.as_deref())
            .value(
                "dimensions",
                json_flag("--dimensions", self.dimensions.as_deref())?,
            )
            .request("stack.metrics"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        show(screen, output);
    }
}

pub(super) fn show(screen: &Screen<'_>, output: &Value) {
    let points = list(output, "datapoints");
    let values: Vec<Option<f64>> = points
        .iter()
        .map(|point| point.get("value").and_then(Value::as_f64))
        .collect();
    let unit = match text(output, "unit") {
        "" | "None" => String::new(),
        unit => format!(", {unit}"),
    };
    screen.toned(
        Tone::Strong,
        &format!(
            "{} of {}, {}{unit}, every {} s",
            text(output, "metric"),
            text(output, "resource"),
            text(output, "stat"),
            output.get("period").and_then(Value::as_u64).unwrap_or(0),
        ),
    );
    if points.is_empty() {
        screen.line("no values");
        return;
    }
    let known = || values.iter().flatten().copied();
    let least = known().fold(f64::INFINITY, f64::min);
    let most = known().fold(f64::NEG_INFINITY, f64::max);
    screen.line(&sparkline(&values));
    screen.line(&format!(
        "{} from {} to {}; least {}, most {}",
        counted(points.len(), "value"),
        time(points.first()),
        time(points.last()),
        number(least),
        number(most),
    ));
    if points.len() <= MOST_ROWS {
        let mut table = Table::new(&["TIME", "VALUE"]);
        for (point, value) in points.iter().zip(&values) {
            table.row([time(Some(point)), value.map(number).unwrap_or_default()]);
        }
        screen.table(&table);
    }
}

fn time(point: Option<&Value>) -> String {
    let time = point.and_then(|point| point.get("timestamp"));
    moment(time.unwrap_or(&Value::Null))
}
