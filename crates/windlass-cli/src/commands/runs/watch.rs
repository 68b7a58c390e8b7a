//! `windlass runs watch`.

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use crate::{
    flow::{Channel, Follow, RunArg, Wanted, conclude, find_run, shown_events},
    output::Mode,
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    run: RunArg,
    /// Only events after this position in the journal.
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,
}

impl WatchArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = find_run(session, &self.run.run).await?;
        let follow = Follow {
            after_seq: self.after,
            channel: Channel::Data,
            ..Follow::new(&run_id)
        };
        let run = follow.run(session).await?;
        let outcome = conclude(session, &run, Wanted::Completed);
        if session.printer.mode() == Mode::Json {
            // Whatever became of the run, its events are the answer.
            let events = shown_events(session, &run_id, self.after).await?;
            let document = json!({ "run": run, "events": events });
            return match outcome {
                Ok(report) => Ok(Report::new(report.message, document)),
                Err(problem) => Err(problem.with("watched", document)),
            };
        }
        outcome
    }
}
