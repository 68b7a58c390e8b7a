//! `windlass runs reject`.

use clap::Args;
use windlass_types::Problem;

use super::approve::AnswerArgs;
use crate::{
    flow::{Wanted, steer},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct RejectArgs {
    #[command(flatten)]
    answer: AnswerArgs,
}

impl RejectArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let AnswerArgs {
            run, steer: flags, ..
        } = &self.answer;
        steer(
            session,
            "runs.reject",
            &run.run,
            self.answer.input(),
            flags,
            Wanted::Rejected,
        )
        .await
    }
}
