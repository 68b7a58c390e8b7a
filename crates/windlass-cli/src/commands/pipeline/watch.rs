//! `windlass pipeline watch`.

use clap::Args;
use windlass_types::Problem;

use super::{
    run::{conclude, follow},
    status::show,
};
use crate::session::{Report, Session};

#[derive(Args, Debug)]
pub(crate) struct WatchArgs {
    /// The job.
    #[arg(value_name = "JOB")]
    job: String,
}

impl WatchArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let (status, output) = follow(session, &self.job).await?;
        show(session, &status);
        Ok(Report::new(conclude(&status)?, output))
    }
}
