//! `windlass runs show`.

use clap::Args;
use serde_json::{Value, json};
use windlass_engine::run::{EventView, RunView};
use windlass_types::{ArtifactRef, Problem, RunId, RunState};

use super::{artifacts, state_tone, steps::Steps};
use crate::{
    commands::field,
    flow::{RunArg, find_run},
    output::{age, shorten},
    session::{Report, Session},
};

const PAGE: usize = 1000;
const LONGEST_OUTPUT: usize = 400;

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    run: RunArg,
}

impl ShowArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = find_run(session, &self.run.run).await?;
        let answer = session
            .call("runs.show", json!({ "run_id": run_id }))
            .await?;
        let run: RunView = field(&answer.output, "run")?;
        let kept: Vec<ArtifactRef> = field(&answer.output, "artifacts")?;
        let next_actions: Vec<String> = field(&answer.output, "next_actions")?;
        let printer = &session.printer;
        if printer.is_human() {
            show(session, &run);
            if let Some(table) = steps(session, &run_id).await?.table() {
                printer.data("");
                printer.table(&table);
            }
            if !kept.is_empty() {
                printer.data("");
                printer.table(&artifacts::table(&kept));
            }
            if stands_still(session, &run).await? {
                printer.notice("No process drives this home; the run stands still until one does.");
                printer.hint(&format!("windlass runs resume {run_id}"));
            } else {
                next_actions.iter().for_each(|action| printer.hint(action));
            }
        }
        Ok(Report::new(
            format!("run {run_id} is {}", run.state.as_str()),
            answer.output,
        ))
    }
}

/// Whether the run would go on if only something drove it.
async fn stands_still(session: &Session, run: &RunView) -> Result<bool, Problem> {
    let asks = run
        .waiting_on
        .iter()
        .any(|on| on.what != "timer" && on.what != "child");
    let goes_on = !run.state.is_final() && run.state != RunState::Held && !asks;
    Ok(goes_on && session.engine().driven_by(&run.run_id).await?.is_none())
}

fn show(session: &Session, run: &RunView) {
    let now = session.engine().now();
    let paint = session.printer.paint();
    let waits: Vec<String> = run
        .waiting_on
        .iter()
        .map(|on| match (&on.prompt, on.until) {
            (Some(prompt), _) => format!("{} ({prompt})", on.what),
            (None, Some(until)) => format!("{} until {until}", on.what),
            (None, None) => on.what.clone(),
        })
        .collect();
    let mut state = paint.text(state_tone(run.state), run.state.as_str());
    if run.cancel_requested && !run.state.is_final() {
        state.push_str(" (cancel requested)");
    }
    session.printer.data(&format!("{} {state}", run.run_id));
    session.printer.fields(&[
        ("title", run.title.clone()),
        ("kind", run.kind.clone()),
        ("by", format!("{} through {}", run.principal, surface(run))),
        (
            "parent",
            run.parent
                .as_ref()
                .map(RunId::to_string)
                .unwrap_or_default(),
        ),
        (
            "created",
            format!("{} ({})", run.created_at, age(run.created_at, now)),
        ),
        (
            "updated",
            format!("{} ({})", run.updated_at, age(run.updated_at, now)),
        ),
        ("starts", run.attempts.to_string()),
        ("events", run.last_seq.to_string()),
        (
            "plan digest",
            run.plan_digest
                .map(|digest| digest.to_string())
                .unwrap_or_default(),
        ),
        ("trace", run.trace_id.to_string()),
        ("waits for", waits.join(", ")),
        ("approvers", run.approvers.join(", ")),
        (
            "problem",
            run.problem
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
        ),
        ("remains", run.residue.join(", ")),
        (
            "output",
            run.output
                .as_ref()
                .map(|output| shorten(&output.to_string(), LONGEST_OUTPUT))
                .unwrap_or_default(),
        ),
    ]);
}

fn surface(run: &RunView) -> String {
    serde_json::to_value(run.surface)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

async fn steps(session: &Session, run_id: &RunId) -> Result<Steps, Problem> {
    let mut steps = Steps::default();
    let mut after_seq = 0;
    loop {
        let input = json!({ "run_id": run_id, "after_seq": after_seq, "limit": PAGE });
        let answer = session.call("runs.watch", input).await?;
        let events: Vec<EventView> = field(&answer.output, "events")?;
        events.iter().for_each(|event| steps.apply(event));
        after_seq = answer
            .output
            .get("next_after_seq")
            .and_then(Value::as_u64)
            .unwrap_or(after_seq);
        if events.len() < PAGE {
            return Ok(steps);
        }
    }
}
