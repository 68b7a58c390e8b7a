//! `windlass runs reject`.

use clap::Args;
use windlass_types::Problem;

use super::approve::AnswerArgs;
use crate::{
    flow::Wanted,
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct RejectArgs {
    #[command(flatten)]
    answer: AnswerArgs,
}

impl RejectArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        self.answer
            .answer(session, "runs.reject", Wanted::Rejected)
            .await
    }
}
