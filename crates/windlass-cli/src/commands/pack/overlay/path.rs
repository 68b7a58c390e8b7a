//! `windlass pack overlay path`.

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use crate::{
    commands::{
        field,
        pack::{context::Context, overlay_scopes},
    },
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct PathArgs {
    /// The module.
    #[arg(value_name = "MODULE")]
    module_id: String,
    /// The layer.
    #[arg(long, value_name = "SCOPE", default_value = "global", value_parser = overlay_scopes())]
    scope: String,
}

impl PathArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({ "module_id": self.module_id, "scope": self.scope });
        let data = context.read("pack.overlay.path", own).await?;
        // Whole, so that a shell can use it.
        let directory: String = field(&data, "overlay_dir")?;
        context.say(&directory);
        context.warn(&data);
        Ok(Report::new(directory, data))
    }
}
