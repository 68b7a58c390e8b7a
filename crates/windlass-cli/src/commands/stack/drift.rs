//! `windlass stack drift`: what was changed by hand since the last deployment.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Input, Request, Target},
    call, report,
    show::{self, Screen, text},
};
use crate::session::{Report, Session};

#[derive(Args, Debug)]
pub(crate) struct DriftArgs {
    #[command(flatten)]
    target: Target,
}

impl DriftArgs {
    pub(super) fn request(&self) -> Request {
        Input::new(&self.target)
            .flag("detectDrift", true)
            .request("stack.preview_changes")
    }

    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let output = call::follow(session, self.request()).await?;
        let screen = Screen::data(&session.printer);
        if output.get("drift").is_some_and(Value::is_object) {
            show::plan::drift(&screen, &output);
        } else {
            let stack = text(&output, "stackName");
            screen.line(&format!(
                "{stack} is not deployed: nothing can have drifted"
            ));
        }
        Ok(report(session, "looked for drift", output))
    }
}
