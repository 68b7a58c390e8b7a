//! `windlass pack fetch`.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_types::Problem;

use super::context::{Context, DONE};
use crate::{output::counted, session::Report};

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
        let message = |fetched: &Fetched| {
            let modules = counted(fetched.git_modules_fetched, "git module");
            format!("{modules} fetched to {}", context.view.path(&fetched.store))
        };
        context
            .write_and_say("pack.fetch", json!({}), DONE, message)
            .await
    }
}
