//! `windlass pack rollback`.

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_types::Problem;

use super::{
    context::{Context, Touches, parse},
    show::{PlanView, plan_text},
};
use crate::session::Report;

#[derive(Args, Debug)]
pub(crate) struct RollbackArgs {
    /// The snapshot whose state is restored; see `snapshots list`.
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
        let consent = |preview: &Value| {
            let plan: PlanView = parse(preview)?;
            let question = format!("Restore the state after {}?", self.to);
            let view = || context.plan_consent("pack.rollback", &plan, question);
            Ok((!plan.is_empty()).then(view))
        };
        let own = json!({ "to": self.to });
        let confirmed = context
            .confirmed("pack.rollback", own, Touches::Targets, "rollback", consent)
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
        Ok(Report::new(message, confirmed.data))
    }
}
