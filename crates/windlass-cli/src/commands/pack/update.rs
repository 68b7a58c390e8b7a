//! `windlass pack update`: lock where needed, then fetch.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_types::Problem;

use super::context::{Context, Touches, parse};
use crate::{output::Tone, session::Report};

#[derive(Args, Debug)]
pub(crate) struct UpdateArgs {
    /// Create the lockfile again even if there is one.
    #[arg(long, conflicts_with = "no_lock")]
    lock: bool,
    /// Fetch, which is also the default.
    #[arg(long, conflicts_with = "no_fetch")]
    fetch: bool,
    /// Do not touch the lockfile.
    #[arg(long)]
    no_lock: bool,
    /// Do not fetch.
    #[arg(long)]
    no_fetch: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Updated {
    steps: Vec<Step>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Step {
    name: String,
    ok: bool,
    detail: serde_json::Value,
}

impl UpdateArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({
            "lock": self.lock,
            "fetch": self.fetch,
            "no_lock": self.no_lock,
            "no_fetch": self.no_fetch,
        });
        let data = context
            .write("pack.update", own, Touches::Repository)
            .await?;
        let updated: Updated = parse(&data)?;
        for step in &updated.steps {
            let (tone, sign) = if step.ok {
                (Tone::Good, "✓")
            } else {
                (Tone::Bad, "✗")
            };
            let detail = step.detail.as_str().unwrap_or_default();
            let text = format!("{}  {detail}", step.name);
            context.say(&context.view.line(tone, sign, text.trim_end()));
        }
        context.warn(&data);
        let message = if updated.steps.is_empty() {
            "nothing to update"
        } else {
            "updated"
        };
        if updated.steps.is_empty() {
            context.say(message);
        } else {
            context.hint("preview --diff");
        }
        Ok(Report::new(message, data))
    }
}
