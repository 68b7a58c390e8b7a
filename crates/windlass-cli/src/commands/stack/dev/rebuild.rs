//! `windlass stack dev rebuild`.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use crate::commands::stack::{
    arguments::{Input, Request, Target, filled},
    command::StackCall,
    show::{Screen, object, shown},
};

#[derive(Args, Debug)]
pub(crate) struct RebuildArgs {
    /// The workload. Default: all of them.
    #[arg(value_name = "WORKLOAD")]
    of: Option<String>,
    #[command(flatten)]
    target: Target,
    /// The workload, by flag.
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Every workload.
    #[arg(long, conflicts_with_all = ["of", "workload"])]
    all: bool,
}

impl StackCall for RebuildArgs {
    fn request(&self) -> Result<Request, Problem> {
        let [workload] = filled([self.workload.as_deref()], &[&self.of])?;
        let input = Input::new(&self.target);
        Ok(match workload.filter(|name| name != "all") {
            Some(name) => input
                .text("workload", Some(&name))
                .request("stack.dev_rebuild"),
            None => input.request("stack.dev_rebuild_all"),
        })
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        for (name, outcome) in object(output, "workloads").into_iter().flatten() {
            let said = match outcome {
                Value::Object(members) => members.get("message").map(shown).unwrap_or_default(),
                other => shown(other),
            };
            screen.line(&format!("{name}: {said}"));
        }
    }
}
