//! `windlass stack alarms`.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Deployed, Request, filled},
    command::StackCall,
    show::{Screen, list, moment, shown, text},
};
use crate::output::{Table, Tone};

#[derive(Args, Debug)]
pub(crate) struct AlarmsArgs {
    /// Only alarms of this resource.
    #[arg(value_name = "RESOURCE")]
    resource: Option<String>,
    #[command(flatten)]
    stack: Deployed,
    /// The resource, by flag.
    #[arg(long, alias = "resourceName", value_name = "NAME")]
    resource_name: Option<String>,
    /// Only alarms in this state: OK, ALARM or INSUFFICIENT_DATA.
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
}

impl StackCall for AlarmsArgs {
    fn request(&self) -> Result<Request, Problem> {
        let [resource] = filled([self.resource_name.as_deref()], &[&self.resource])?;
        Ok(self
            .stack
            .input()
            .text("resourceName", resource.as_deref())
            .text("state", self.state.as_deref())
            .request("stack.alarms"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        show(screen, output);
    }
}

pub(super) fn show(screen: &Screen<'_>, output: &Value) {
    let alarms = list(output, "alarms");
    if alarms.is_empty() {
        screen.line("no alarms");
        return;
    }
    let mut table = Table::new(&[
        "STATE",
        "ALARM",
        "RESOURCE",
        "RINGS WHEN",
        "SINCE",
        "REASON",
    ]);
    for alarm in alarms {
        let state = text(alarm, "state");
        let tone = match state {
            "OK" => Tone::Good,
            "ALARM" => Tone::Bad,
            _ => Tone::Warn,
        };
        let threshold = shown(alarm.get("threshold").unwrap_or(&Value::Null));
        let since = moment(alarm.get("lastUpdated").unwrap_or(&Value::Null));
        table.toned_row([
            (tone, state.to_owned()),
            (Tone::Plain, text(alarm, "name").to_owned()),
            (Tone::Plain, text(alarm, "resource").to_owned()),
            (
                Tone::Plain,
                format!(
                    "{} {} {threshold}",
                    text(alarm, "metric"),
                    sign(text(alarm, "comparison"))
                ),
            ),
            (Tone::Dim, since),
            (Tone::Dim, text(alarm, "reason").to_owned()),
        ]);
    }
    screen.table(&table);
}

fn sign(comparison: &str) -> &str {
    match comparison {
        "GreaterThanThreshold" => ">",
        "GreaterThanOrEqualToThreshold" => "≥",
        "LessThanThreshold" => "<",
        "LessThanOrEqualToThreshold" => "≤",
        other => other,
    }
}
