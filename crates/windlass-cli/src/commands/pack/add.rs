//! `windlass pack add`.

use clap::{Args, builder::PossibleValuesParser};
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_types::Problem;

use super::context::Context;
use crate::{output::Tone, session::Report};

#[derive(Args, Debug)]
pub(crate) struct AddArgs {
    /// What it is.
    #[arg(
        value_name = "TYPE",
        value_parser = PossibleValuesParser::new([
            "instructions", "skill", "prompt", "command", "mcp_server", "hook", "subagent",
        ])
    )]
    module_type: String,
    /// Where it comes from: `local:PATH`, or `git:URL#ref=REF&subdir=DIR`.
    #[arg(value_name = "SOURCE")]
    source: String,
    /// The module's id. Default: derived from type and source.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Tags, by which profiles select it, separated by commas.
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    tags: Vec<String>,
    /// Only these targets, separated by commas. Default: all.
    #[arg(long, value_name = "TARGETS", value_delimiter = ',')]
    targets: Vec<String>,
    /// Accept a local path outside the repository.
    #[arg(long)]
    allow_outside: bool,
}

/// A module of the manifest.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Changed {
    pub(super) module_id: String,
    pub(super) manifest: String,
}

impl AddArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({
            "type": self.module_type,
            "source": self.source,
            "id": self.id,
            "tags": given(self.tags),
            "targets": given(self.targets),
            "allow_outside": self.allow_outside,
        });
        let verb = context.either("would go", "added");
        let message = |changed: &Changed| {
            let manifest = context.view.path(&changed.manifest);
            format!("{} {verb} to {manifest}", changed.module_id)
        };
        let report = context
            .write_and_say("pack.add", own, (Tone::Good, "+"), message)
            .await?;
        context.hint("preview --diff");
        Ok(report)
    }
}

fn given(list: Vec<String>) -> Value {
    if list.is_empty() {
        Value::Null
    } else {
        json!(list)
    }
}
