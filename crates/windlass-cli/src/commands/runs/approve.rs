//! `windlass runs approve`.

use clap::Args;
use serde_json::{Map, Value};
use windlass_types::{Digest, Problem};

use crate::{
    flow::{RunArg, SteerArgs, Wanted, steer},
    session::{Report, Session},
};

// An answer to an approval.
#[derive(Args, Debug)]
pub(super) struct AnswerArgs {
    #[command(flatten)]
    pub(super) run: RunArg,
    /// Why, in a sentence; kept in the journal.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// The digest of the plan you looked at; refused when the run waits for another.
    #[arg(long, value_name = "DIGEST")]
    plan_digest: Option<Digest>,
    #[command(flatten)]
    pub(super) steer: SteerArgs,
}

impl AnswerArgs {
    pub(super) fn input(&self) -> Value {
        let mut input = Map::new();
        input.extend(
            self.reason
                .clone()
                .map(|reason| ("reason".to_owned(), Value::from(reason))),
        );
        input.extend(
            self.plan_digest
                .map(|digest| ("plan_digest".to_owned(), Value::from(digest.to_string()))),
        );
        Value::Object(input)
    }
}

#[derive(Args, Debug)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    answer: AnswerArgs,
}

impl ApproveArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let AnswerArgs {
            run, steer: flags, ..
        } = &self.answer;
        steer(
            session,
            "runs.approve",
            &run.run,
            self.answer.input(),
            flags,
            Wanted::Completed,
        )
        .await
    }
}
