//! `windlass runs show`.

use clap::Args;
use serde_json::json;
use windlass_engine::run::{ImportedView, RunView};
use windlass_types::{APPROVAL, ArtifactRef, Problem, RunId, RunState};

use super::{artifacts, state_tone, steps::Steps};
use crate::{
    commands::{field, word},
    flow::{
        Asked, Channel, RunArg, addressed, asks_a_person, find_run, question, shown_events,
        stalled, standing,
    },
    output::{age, shorten},
    session::{Report, Session},
};

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
            let record = session
                .engine()
                .visible_run(session.principal(), &run_id)
                .await?;
            let asked = Asked::of(session, &record);
            show(session, &run, asked.as_ref());
            if let Some(asked) = &asked {
                printer.data("");
                asked.show(session, Channel::Data);
            }
            let mut steps = Steps::default();
            let events = shown_events(session, &run_id, 0).await?;
            events.iter().for_each(|event| steps.apply(event));
            if let Some(table) = steps.table() {
                printer.data("");
                printer.table(&table);
            }
            if !kept.is_empty() {
                printer.data("");
                printer.table(&artifacts::table(&kept));
            }
            let could_go_on = !run.state.is_final()
                && run.state != RunState::Held
                && !asks_a_person(&run)
                && asked.is_none();
            if !could_go_on || !stalled(session, "windlass runs", &run_id).await? {
                let terms = asked.map(|asked| asked.terms.clone()).unwrap_or_default();
                let here = format!("windlass runs show {run_id}");
                addressed(session.principal(), &terms, &next_actions)
                    .iter()
                    .filter(|action| **action != here)
                    .for_each(|action| printer.hint(action));
            }
        }
        Ok(Report::new(
            format!("run {run_id} {}", standing(run.state)),
            answer.output,
        ))
    }
}

fn show(session: &Session, run: &RunView, asked: Option<&Asked>) {
    let now = session.engine().now();
    let paint = session.printer.paint();
    let others = run.waiting_on.iter().filter(|on| on.what != APPROVAL);
    let others = others.map(|on| match (question(on), on.until) {
        (Some(question), _) => format!("{} ({question})", on.what),
        (None, Some(until)) => format!("{} until {until}", on.what),
        (None, None) => on.what.clone(),
    });
    let approval = asked.map(|asked| asked.wanted());
    let waits: Vec<String> = approval.into_iter().chain(others).collect();
    let mut state = paint.text(state_tone(run.state), run.state.as_str());
    if run.cancel_requested && !run.state.is_final() {
        state.push_str(" (cancel requested)");
    }
    session.printer.data(&format!("{} {state}", run.run_id));
    session.printer.fields(&[
        ("title", run.title.clone()),
        ("kind", run.kind.clone()),
        (
            "by",
            format!("{} through {}", run.principal, word(run.surface)),
        ),
        (
            "origin",
            run.imported
                .as_ref()
                .map(ImportedView::text)
                .unwrap_or_default(),
        ),
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
