//! `windlass stack preview`: what a deployment would change, without changing it.

use clap::Args;
use windlass_types::Problem;

use super::{
    arguments::{Input, Request, Target},
    call,
    command::{StackCall, Work},
    show::{self, Screen, text},
};
use crate::session::{Report, Session};

#[derive(Args, Debug)]
pub(crate) struct PreviewArgs {
    #[command(flatten)]
    pub(super) target: Target,
    /// Also look for what was changed by hand.
    #[arg(long, alias = "detectDrift")]
    pub(super) detect_drift: bool,
    /// Also estimate what it costs per month.
    #[arg(long, alias = "estimateCost")]
    estimate_cost: bool,
}

impl StackCall for PreviewArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(Input::new(&self.target)
            .flag("detectDrift", self.detect_drift)
            .flag("estimateCost", self.estimate_cost)
            .request("stack.preview_changes"))
    }

    fn run<'a>(&'a self, session: &'a Session) -> Work<'a> {
        Box::pin(async move {
            let output = call::call(session, self.request()?).await?;
            let printer = &session.printer;
            show::plan::plan(&Screen::data(printer), &output);
            let message = text(&output, "message").to_owned();
            printer.notice(&show::safe(&message));
            let token = text(&output, "confirmToken");
            if !token.is_empty() {
                printer.data(&format!("confirm token: {token}"));
                let loses = show::plan::loses_data(&output);
                let yes = if loses { " --yes" } else { "" };
                printer.hint(&format!(
                    "windlass stack deploy … --confirm-token TOKEN{yes}"
                ));
            }
            Ok(Report::new(message, output))
        })
    }
}
