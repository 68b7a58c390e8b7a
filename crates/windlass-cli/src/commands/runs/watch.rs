//! `windlass runs watch`.

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use crate::{
    flow::{Channel, Follow, RunArg, Wanted, conclude, find_run},
    output::Mode,
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    run: RunArg,
    /// Only events after this place in the journal.
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,
}

impl WatchArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = find_run(session, &self.run.run).await?;
        let follow = Follow {
            run_id: &run_id,
            after_seq: self.after,
            beside: None,
            channel: Channel::Data,
        };
        let followed = follow.run(session).await?;
        let outcome = conclude(session, &followed.run, Wanted::Completed);
        if session.printer.mode() == Mode::Json {
            // Whatever became of the run, its events are the answer.
            let document = json!({ "run": followed.run, "events": followed.events });
            return match outcome {
                Ok(report) => Ok(Report::new(report.message, document)),
                Err(problem) => Err(problem.with("watched", document)),
            };
        }
        outcome
    }
}
