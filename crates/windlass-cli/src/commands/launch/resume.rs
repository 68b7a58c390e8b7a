//! `windlass launch resume`: continues until the run waits or ends, driving it if no other process
//! does.

use clap::Args;
use windlass_types::{Problem, RunId};

use super::{
    LaunchArg,
    live::ask,
    show::{ask_status, conclude},
};
use crate::session::{Report, Session};

#[derive(Args, Debug)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    run: LaunchArg,
}

impl ResumeArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = self.run.find(session).await?;
        go_on(session, &run_id).await
    }
}

/// Continues until the run rests, and reports where.
pub(super) async fn go_on(session: &Session, run_id: &RunId) -> Result<Report, Problem> {
    ask(session, "launch.resume", run_id).await?;
    // The answer may be from before: a run that is being driven answers at once.
    let (answer, status) = ask_status(session, run_id).await?;
    conclude(session, run_id, answer, &status).await
}
