//! `windlass stack delete`.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Input, Request, Target, Yes},
    command::StackCall,
    show::{Screen, list, shown},
};

#[derive(Args, Debug)]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    yes: Yes,
    /// Logical ids to keep; only of a stack whose deletion has failed.
    #[arg(
        long,
        alias = "retainResources",
        value_name = "IDS",
        value_delimiter = ','
    )]
    retain_resources: Vec<String>,
    /// Start the deletion and return; do not wait for it to end.
    #[arg(long, aliases = ["noWait", "detach"])]
    no_wait: bool,
}

impl StackCall for DeleteArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(Input::new(&self.target)
            .flag("confirm", self.yes.yes)
            .list("retainResources", &self.retain_resources)
            .value("wait", self.no_wait.then_some(Value::Bool(false)))
            .request("stack.delete"))
    }

    fn confirm_name(&self) -> Option<String> {
        self.target.stack_name()
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        for kept in list(output, "retained") {
            screen.line(&format!("kept, no longer managed: {}", shown(kept)));
        }
    }
}
