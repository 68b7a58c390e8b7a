//! `windlass webhooks deliveries`.

use clap::{Args, builder::PossibleValuesParser};
use serde::Deserialize;
use serde_json::json;
use windlass_types::{Problem, Timestamp};

use crate::{
    commands::{field, given},
    flow::find_run,
    output::{Table, Tone, age},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct DeliveriesArgs {
    /// Only deliveries in this state.
    #[arg(long, value_name = "STATE", value_parser = PossibleValuesParser::new(["pending", "delivered", "dead"]))]
    state: Option<String>,
    /// Only deliveries of this run.
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// How many at most.
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
}

/// A delivery, as far as the table shows it.
#[derive(Deserialize)]
struct Delivery {
    id: String,
    url: String,
    event: String,
    state: String,
    due_at: Timestamp,
    attempts: Vec<Attempt>,
}

#[derive(Deserialize)]
struct Attempt {
    #[serde(default)]
    status: Option<u16>,
    #[serde(default)]
    error: Option<String>,
}

impl DeliveriesArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = match &self.run {
            Some(run) => Some(find_run(session, run).await?),
            None => None,
        };
        let input = json!({ "limit": self.limit, "state": self.state, "run_id": run_id });
        let answer = session
            .call("admin.webhooks_deliveries", given(input))
            .await?;
        let deliveries: Vec<Delivery> = field(&answer.output, "deliveries")?;
        if deliveries.is_empty() {
            session.printer.notice("No deliveries.");
        } else {
            session
                .printer
                .table(&table(&deliveries, session.engine().now()));
        }
        Ok(Report::new(
            format!("{} deliveries", deliveries.len()),
            answer.output,
        ))
    }
}

fn table(deliveries: &[Delivery], now: Timestamp) -> Table {
    let mut table = Table::new(&[
        "DELIVERY",
        "STATE",
        "TRIES",
        "LAST ANSWER",
        "DUE",
        "EVENT",
        "ADDRESS",
    ]);
    for delivery in deliveries {
        let tone = match delivery.state.as_str() {
            "delivered" => Tone::Good,
            "dead" => Tone::Bad,
            _ => Tone::Warn,
        };
        let answer = delivery
            .attempts
            .last()
            .map(|last| match (last.status, &last.error) {
                (Some(status), _) => status.to_string(),
                (None, Some(error)) => error.clone(),
                (None, None) => String::new(),
            });
        let due = if delivery.state == "pending" {
            due(delivery.due_at, now)
        } else {
            String::new()
        };
        table.toned_row([
            (Tone::Plain, delivery.id.clone()),
            (tone, delivery.state.clone()),
            (Tone::Plain, delivery.attempts.len().to_string()),
            (Tone::Plain, answer.unwrap_or_default()),
            (Tone::Dim, due),
            (Tone::Plain, delivery.event.clone()),
            (Tone::Plain, delivery.url.clone()),
        ]);
    }
    table
}

fn due(due_at: Timestamp, now: Timestamp) -> String {
    if due_at <= now {
        return format!("since {}", age(due_at, now));
    }
    format!("in {}", crate::output::duration(due_at.since(now)))
}
