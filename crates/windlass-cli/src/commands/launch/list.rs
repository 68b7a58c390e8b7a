//! `windlass launch list`.

use clap::Args;
use serde_json::{Value, json};
use windlass_types::Problem;

use super::{show::state_tone, view::ListedRun};
use crate::{
    commands::{field, given},
    output::{Table, Tone, age, counted, duration},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Only launches in this state, e.g. ready_for_pr.
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Only launches of this product, by its slug.
    #[arg(long, value_name = "PRODUCT")]
    product: Option<String>,
    /// How many at most.
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Where the page starts: the cursor that the previous page ended with.
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

impl ListArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let state = self.state.as_ref();
        let state = state.map(|state| state.to_ascii_uppercase().replace('-', "_"));
        let filter = given(json!({ "state": state, "product_slug": self.product }));
        let input = json!({ "filter": filter, "limit": self.limit, "cursor": self.cursor });
        let answer = session.call("launch.list_runs", given(input)).await?.output;
        let runs: Vec<ListedRun> = field(&answer, "runs")?;
        let printer = &session.printer;
        if runs.is_empty() {
            printer.notice("No launches.");
            printer.hint("windlass launch start --help");
        } else {
            printer.table(&table(session, &runs));
        }
        if let Some(cursor) = answer.get("next_cursor").and_then(Value::as_str) {
            printer.hint(&format!("more: windlass launch list --cursor {cursor}"));
        }
        let message = counted(runs.len(), "launch").replace("launchs", "launches");
        Ok(Report::new(message, answer))
    }
}

fn table(session: &Session, runs: &[ListedRun]) -> Table {
    let now = session.engine().now();
    let mut table = Table::new(&["STATE", "PRODUCT", "STARTED", "TOOK", "RUN"]);
    for run in runs {
        let took = run
            .finished_at
            .map(|end| duration(end.since(run.started_at)));
        table.toned_row([
            (state_tone(&run.state), run.state.clone()),
            (Tone::Plain, run.product_slug.clone()),
            (Tone::Dim, age(run.started_at, now)),
            (Tone::Dim, took.unwrap_or_default()),
            (Tone::Plain, run.run_id.clone()),
        ]);
    }
    table
}
