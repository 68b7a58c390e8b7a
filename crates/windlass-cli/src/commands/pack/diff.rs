//! `windlass pack diff`: for programs the plan, for people the differences.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_types::Problem;

use super::{
    context::{Context, parse},
    show::{DiffFile, PlanView, diffs},
};
use crate::session::Report;

#[derive(Args, Debug)]
pub(crate) struct DiffArgs {}

/// A preview with differences.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Preview {
    pub(super) plan: PlanView,
    pub(super) diff: Option<Differences>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Differences {
    pub(super) files: Vec<DiffFile>,
}

impl DiffArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        if !context.printer().is_human() {
            let data = context.read("pack.diff", json!({})).await?;
            let plan: PlanView = parse(&data)?;
            return Ok(Report::new(plan.summed_up(), data));
        }
        let data = context
            .read("pack.preview", json!({ "diff": true }))
            .await?;
        let preview: Preview = parse(&data)?;
        if let Some(diff) = &preview.diff {
            context.say(&diffs(&diff.files, &context.view));
        }
        context.warn(&data);
        context.say(&preview.plan.summed_up());
        Ok(Report::new(preview.plan.summed_up(), data))
    }
}
