//! `windlass runs list`.

use clap::{Args, builder::PossibleValuesParser};
use serde_json::{Value, json};
use windlass_engine::run::RunView;
use windlass_types::{Problem, RunState};

use super::state_tone;
use crate::{
    commands::{field, given},
    flow::find_run,
    output::{Table, Tone, age},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Only runs in this state; may be given several times.
    #[arg(
        long = "state",
        value_name = "STATE",
        value_parser = PossibleValuesParser::new(RunState::ALL.map(RunState::as_str))
    )]
    states: Vec<String>,
    /// Only runs of this kind.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only children of this run.
    #[arg(long, value_name = "RUN")]
    parent: Option<String>,
    /// How many at most.
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=500))]
    limit: u16,
    /// Where the page starts: the cursor that the previous page ended with.
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<u64>,
}

impl ListArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let parent = match &self.parent {
            Some(parent) => Some(find_run(session, parent).await?),
            None => None,
        };
        let input = json!({
            "states": self.states,
            "limit": self.limit,
            "kind": self.kind,
            "cursor": self.cursor,
            "parent": parent,
        });
        let answer = session.call("runs.list", given(input)).await?;
        let runs: Vec<RunView> = field(&answer.output, "runs")?;
        let printer = &session.printer;
        if runs.is_empty() {
            printer.notice("No runs.");
            printer.hint("windlass tour");
        } else {
            printer.table(&table(session, &runs));
        }
        if let Some(cursor) = answer.output.get("next_cursor").and_then(Value::as_u64) {
            printer.hint(&format!("more: windlass runs list --cursor {cursor}"));
        }
        Ok(Report::new(format!("{} runs", runs.len()), answer.output))
    }
}

fn table(session: &Session, runs: &[RunView]) -> Table {
    let now = session.engine().now();
    let mut table = Table::new(&["RUN", "STATE", "STARTED", "TITLE"]);
    for run in runs {
        table.toned_row([
            (Tone::Plain, run.run_id.to_string()),
            (state_tone(run.state), run.state.as_str().to_owned()),
            (Tone::Dim, age(run.created_at, now)),
            (Tone::Plain, run.title.clone()),
        ]);
    }
    table
}
