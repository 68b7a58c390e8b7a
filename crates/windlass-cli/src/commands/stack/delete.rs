//! `windlass stack delete`.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Input, Request, Target, Yes},
    consent::{Way, call_with_consent},
    report,
    show::{Screen, list, shown},
};
use crate::session::{Report, Session};

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

impl DeleteArgs {
    pub(super) fn request(&self) -> Request {
        Input::new(&self.target)
            .flag("confirm", self.yes.yes)
            .list("retainResources", &self.retain_resources)
            .value("wait", self.no_wait.then_some(Value::Bool(false)))
            .request("stack.delete")
    }

    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let name = self.target.stack_name();
        let request = self.request();
        let output = call_with_consent(session, Way::Run, request, name.as_deref()).await?;
        let screen = Screen::data(&session.printer);
        for kept in list(&output, "retained") {
            screen.line(&format!("kept, no longer managed: {}", shown(kept)));
        }
        Ok(report(session, "deleted", output))
    }
}
