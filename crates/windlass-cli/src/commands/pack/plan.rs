//! `windlass pack plan`.

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use super::{
    context::{Context, parse},
    show::{PlanView, plan_text},
};
use crate::session::Report;

#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// Exit with 3 when something would change.
    #[arg(long)]
    pub(super) check: bool,
}

impl PlanArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let data = context.read("pack.plan", json!({})).await?;
        let data = match context.for_programs(data) {
            Ok(report) => {
                let found = report.data["changes"] != json!([]);
                return Ok(report.found(self.check && found));
            }
            Err(data) => data,
        };
        let plan: PlanView = parse(&data)?;
        context.say(&plan_text(&plan, &context.view));
        context.warn(&data);
        if !plan.is_empty() {
            context.hint("preview --diff");
            context.hint("deploy --apply");
        }
        Ok(Report::new(plan.summed_up(), data).found(self.check && !plan.is_empty()))
    }
}
