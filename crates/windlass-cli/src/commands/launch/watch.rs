//! `windlass launch watch`.

use clap::Args;
use windlass_types::Problem;

use super::{
    LaunchArg,
    live::follow,
    show::{ask_status, conclude},
};
use crate::{
    flow::{Channel, Follow, Rest},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    run: LaunchArg,
    /// Keep watching while the run waits for input; ends with the run.
    #[arg(long)]
    stay: bool,
    /// Only events after this position in the journal.
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,
}

impl WatchArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = self.run.find(session).await?;
        let follow = Follow {
            after_seq: self.after,
            channel: Channel::Data,
            rest: if self.stay {
                Rest::Ended
            } else {
                Rest::Settled
            },
            ..follow(&run_id)
        };
        follow.run(session).await?;
        let (answer, status) = ask_status(session, &run_id).await?;
        conclude(session, &run_id, answer, &status).await
    }
}
