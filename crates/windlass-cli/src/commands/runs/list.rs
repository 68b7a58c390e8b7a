//! `windlass runs list`.

use clap::{Args, builder::PossibleValuesParser};
use serde_json::{Value, json};
use windlass_engine::run::RunView;
use windlass_types::{Problem, RunState};

use super::state_tone;
use crate::{
    commands::{field, given},
    flow::find_run,
    output::{Table, Tone, age, counted},
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
        Ok(Report::new(counted(runs.len(), "run"), answer.output))
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
            (Tone::Plain, listed(run)),
        ]);
    }
    table
}

/// The title, and where the run happened if that was in another home.
fn listed(run: &RunView) -> String {
    match &run.imported {
        Some(imported) => format!("{} ({})", title(run), imported.text()),
        None => title(run),
    }
}

/// The title; where it is only the name of an operation, also what that is about.
fn title(run: &RunView) -> String {
    let title = &run.title;
    if run.operation.as_ref() != Some(title) {
        return title.clone();
    }
    let asked = run.waiting_on.iter().flat_map(|on| &on.lines);
    let mut lines = run.plan_lines.iter().chain(asked);
    let about = match run.targets.iter().find(|target| !target.is_empty()) {
        Some(target) => Some(target),
        None => lines.find(|line| !line.is_empty()),
    };
    match about {
        Some(about) => format!("{title} {about}"),
        None => title.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(title: &str, extra: &Value) -> RunView {
        let mut view = json!({
            "run_id": "run_1", "kind": "operation.call", "state": "waiting", "title": title,
            "principal": "local:ada", "surface": "cli", "attempts": 1, "last_seq": 3,
            "trace_id": "00000000000000000000000000000001", "operation": "admin.keys_revoke",
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        });
        let fields = view.as_object_mut().unwrap();
        fields.extend(extra.as_object().unwrap().clone());
        serde_json::from_value(view).unwrap()
    }

    #[test]
    fn titles_say_what_an_operation_is_about() {
        let line = "id: \"key_1\"";
        let cases = [
            (run("demo.apply /srv/x", &json!({})), "demo.apply /srv/x"),
            (run("admin.keys_revoke", &json!({})), "admin.keys_revoke"),
            (
                run("admin.keys_revoke", &json!({ "plan_lines": [line] })),
                "admin.keys_revoke id: \"key_1\"",
            ),
            (
                run(
                    "admin.keys_revoke",
                    &json!({ "targets": ["key_1"], "plan_lines": [line] }),
                ),
                "admin.keys_revoke key_1",
            ),
        ];
        for (run, expected) in cases {
            assert_eq!(title(&run), expected);
        }
    }

    #[test]
    fn imported_runs_are_marked() {
        for (imported, expected) in [
            (json!({}), "x (imported, unsigned)"),
            (
                json!({ "signed_by": "ed25519:abc=" }),
                "x (imported, signed by ed25519:abc=)",
            ),
        ] {
            let run = run("x", &json!({ "state": "completed", "imported": imported }));
            assert_eq!(listed(&run), expected);
            assert_eq!(run.next_actions(), ["windlass runs verify run_1"]);
        }
    }
}
