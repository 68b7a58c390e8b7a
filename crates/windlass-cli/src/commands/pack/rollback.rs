//! `windlass pack rollback`.

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_types::Problem;

use super::{
    context::{Context, Question, Touches, parse, report},
    show::{PlanView, plan_text},
};
use crate::session::Report;

#[derive(Args, Debug)]
pub(crate) struct RollbackArgs {
    /// The snapshot whose state is brought back; see `snapshots list`.
    #[arg(long, value_name = "SNAPSHOT")]
    to: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RolledBack {
    event_snapshot_id: Option<String>,
}

impl RollbackArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let to = self.to.clone();
        let question = Question {
            command: "rollback",
            show: &|preview: &Value| Ok(plan_text(&parse(preview)?, &context.view)),
            ask: &|preview: &Value| {
                let plan: PlanView = parse(preview)?;
                Ok((!plan.is_empty()).then(|| format!("Bring back the state after {to}?")))
            },
        };
        let confirmed = context
            .confirmed(
                "pack.rollback",
                json!({ "to": self.to }),
                Touches::Targets,
                question,
            )
            .await?;
        let plan: PlanView = parse(&confirmed.data)?;
        if !confirmed.seen && !plan.is_empty() {
            context.say(&plan_text(&plan, &context.view));
        }
        context.warn(&confirmed.data);
        let done: RolledBack = parse(&confirmed.data)?;
        let message = match done.event_snapshot_id {
            Some(event) => format!("rolled back to {}; snapshot {event}", self.to),
            None if plan.is_empty() => "nothing to change".to_owned(),
            None => "nothing was written".to_owned(),
        };
        context.say(&message);
        Ok(report(message, confirmed.data))
    }
}
