//! `windlass pack fetch`.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_types::Problem;

use super::{
    context::{Context, Touches, parse, report},
    show::count,
};
use crate::{output::Tone, session::Report};

#[derive(Args, Debug)]
pub(crate) struct FetchArgs {}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fetched {
    store: String,
    git_modules_fetched: usize,
}

impl FetchArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let data = context
            .write("pack.fetch", json!({}), Touches::Repository)
            .await?;
        let fetched: Fetched = parse(&data)?;
        let message = format!(
            "{} fetched to {}",
            count(fetched.git_modules_fetched, "git module"),
            context.view.path(&fetched.store)
        );
        context.say(&context.view.line(Tone::Good, "✓", &message));
        context.warn(&data);
        Ok(report(message, data))
    }
}
