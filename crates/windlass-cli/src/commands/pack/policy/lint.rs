//! `windlass pack policy lint`. Violations are a failure, and shown as one.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_types::Problem;

use crate::{
    commands::pack::context::{Context, parse},
    output::{Tone, counted},
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct LintArgs {
    /// Fail on unknown keys in the manifest too.
    #[arg(long)]
    strict: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Linted {
    summary: Summary,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Summary {
    files_scanned: usize,
}

impl LintArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({ "strict": self.strict });
        let data = context.read("pack.policy.lint", own).await?;
        let linted: Linted = parse(&data)?;
        let message = format!(
            "no violations in {}",
            counted(linted.summary.files_scanned, "file")
        );
        context.say(&context.view.line(Tone::Good, "✓", &message));
        context.warn(&data);
        Ok(Report::new(message, data))
    }
}
