//! `windlass pack remove`.

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use super::{add::Changed, context::Context};
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
        let verb = context.either("would go", "removed");
        let message = |changed: &Changed| {
            let manifest = context.view.path(&changed.manifest);
            format!("{} {verb} from {manifest}", changed.module_id)
        };
        let report = context
            .write_and_say("pack.remove", own, (Tone::Bad, "-"), message)
            .await?;
        context.hint("preview --diff");
        Ok(report)
    }
}
