//! `windlass runs resume`: resumes an unfinished run, driving it if no other process does.

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use crate::{
    flow::{RunArg, SteerArgs, Wanted, steer},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    run: RunArg,
    #[command(flatten)]
    steer: SteerArgs,
}

impl ResumeArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        steer(
            session,
            "runs.resume",
            &self.run.run,
            json!({}),
            &self.steer,
            Wanted::Completed,
        )
        .await
    }
}
