//! `windlass runs approve`.

use clap::Args;
use serde_json::json;
use windlass_types::{Digest, Problem};

use crate::{
    commands::given,
    flow::{RunArg, SteerArgs, Wanted, steer},
    session::{Report, Session},
};

// An answer to an approval.
#[derive(Args, Debug)]
pub(super) struct AnswerArgs {
    #[command(flatten)]
    run: RunArg,
    /// Why, in a sentence; kept in the journal.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// The digest of the plan you reviewed; refused when the run waits for another.
    #[arg(long, value_name = "DIGEST")]
    plan_digest: Option<Digest>,
    #[command(flatten)]
    steer: SteerArgs,
}

impl AnswerArgs {
    /// Answers, and follows what the run does about it.
    pub(super) async fn answer(
        self,
        session: &Session,
        operation: &str,
        wanted: Wanted,
    ) -> Result<Report, Problem> {
        let input = given(json!({ "reason": self.reason, "plan_digest": self.plan_digest }));
        steer(
            session,
            operation,
            &self.run.run,
            input,
            &self.steer,
            wanted,
        )
        .await
    }
}

#[derive(Args, Debug)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    answer: AnswerArgs,
}

impl ApproveArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        self.answer
            .answer(session, "runs.approve", Wanted::Completed)
            .await
    }
}
