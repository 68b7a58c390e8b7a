//! `windlass runs cancel`.

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use crate::{
    commands::given,
    flow::{RunArg, SteerArgs, Wanted, steer},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct CancelArgs {
    #[command(flatten)]
    run: RunArg,
    /// Why, in a sentence; kept in the journal.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    steer: SteerArgs,
}

impl CancelArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let input = given(json!({ "reason": self.reason }));
        steer(
            session,
            "runs.cancel",
            &self.run.run,
            input,
            &self.steer,
            Wanted::Cancelled,
        )
        .await
    }
}
