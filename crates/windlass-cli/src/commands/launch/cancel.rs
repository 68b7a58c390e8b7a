//! `windlass launch cancel`.

use clap::Args;
use windlass_types::Problem;

use super::{LaunchArg, live::ask};
use crate::session::{Report, Session};

#[derive(Args, Debug)]
pub(crate) struct CancelArgs {
    #[command(flatten)]
    run: LaunchArg,
}

impl CancelArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = self.run.find(session).await?;
        let answer = ask(session, "launch.cancel", &run_id).await?;
        let message = format!("run {run_id} is CANCELLED");
        session.printer.data(&message);
        Ok(Report::new(message, answer))
    }
}
