//! `windlass runs approve`.

use clap::Args;
use serde_json::json;
use windlass_types::{Digest, Problem, RunId, code};

use crate::{
    commands::given,
    flow::{Asked, Channel, RunArg, SteerArgs, Wanted, can_ask, confirm, find_run, steer},
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
        let run_id = find_run(session, &self.run.run).await?;
        let reviewed = match self.plan_digest {
            Some(digest) => Some(digest),
            None => review(session, &run_id, wanted).await?,
        };
        let input = given(json!({ "reason": self.reason, "plan_digest": reviewed }));
        let run = run_id.as_str();
        steer(session, operation, run, input, &self.steer, wanted).await
    }
}

/// Shows what is asked, and at a terminal asks whether to approve it. The digest of the plan that
/// was shown: the answer is about nothing else.
async fn review(
    session: &Session,
    run_id: &RunId,
    wanted: Wanted,
) -> Result<Option<Digest>, Problem> {
    let record = session
        .engine()
        .visible_run(session.principal(), run_id)
        .await?;
    let Some(asked) = Asked::of(session, &record) else {
        return Ok(None);
    };
    if !asked.may_be_answered_by(session.principal()) {
        return Ok(None);
    }
    asked.show(session, Channel::Notice);
    let asks = wanted == Wanted::Completed && can_ask(&session.printer);
    if asks && !confirm(session, "Approve it?").await? {
        let message = format!("not approved; run {run_id} still waits");
        return Err(Problem::new(&code::CONFIRM_REQUIRED, message)
            .with("run_id", run_id.as_str())
            .next(format!("windlass runs reject {run_id} --reason \"…\"")));
    }
    Ok(asked.plan_digest)
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
