//! `windlass stack dev stop`.

use clap::Args;
use windlass_types::Problem;

use crate::{
    commands::stack::{
        arguments::{Input, Request, Target},
        call, report,
    },
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct StopArgs {
    #[command(flatten)]
    target: Target,
}

impl StopArgs {
    pub(in crate::commands::stack) fn request(&self) -> Request {
        stop(&self.target)
    }

    pub(in crate::commands::stack) async fn run(
        self,
        session: &Session,
    ) -> Result<Report, Problem> {
        let output = call::ask(session, self.request()).await?;
        Ok(report(session, "stopped", output))
    }
}

pub(super) fn stop(target: &Target) -> Request {
    Input::new(target).request("stack.dev_stop")
}
