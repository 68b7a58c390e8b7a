//! `windlass pack preview`.

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use super::{
    context::{Context, parse},
    diff::Preview,
    show::{diffs, plan_text},
};
use crate::session::Report;

#[derive(Args, Debug)]
pub(crate) struct PreviewArgs {
    /// Show the differences too.
    #[arg(long)]
    diff: bool,
}

impl PreviewArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({ "diff": self.diff });
        let data = context.read("pack.preview", own).await?;
        let preview: Preview = parse(&data)?;
        if let Some(diff) = &preview.diff {
            context.say(&diffs(&diff.files, &context.view));
            context.say("");
        }
        context.say(&plan_text(&preview.plan, &context.view));
        context.warn(&data);
        if !preview.plan.is_empty() {
            context.hint("deploy --apply");
        }
        Ok(Report::new(preview.plan.summed_up(), data))
    }
}
