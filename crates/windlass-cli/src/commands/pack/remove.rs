//! `windlass pack remove`.

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use super::{
    add::Changed,
    context::{Context, Touches, parse, report},
};
use crate::{output::Tone, session::Report};

#[derive(Args, Debug)]
pub(crate) struct RemoveArgs {
    /// The module's id.
    #[arg(value_name = "ID")]
    module_id: String,
}

impl RemoveArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({ "id": self.module_id });
        let data = context
            .write("pack.remove", own, Touches::Repository)
            .await?;
        let changed: Changed = parse(&data)?;
        let verb = if context.options.dry_run {
            "would go"
        } else {
            "removed"
        };
        let message = format!(
            "{} {verb} from {}",
            changed.module_id,
            context.view.path(&changed.manifest)
        );
        context.say(&context.view.line(Tone::Bad, "-", &message));
        context.warn(&data);
        context.hint("preview --diff");
        Ok(report(message, data))
    }
}
