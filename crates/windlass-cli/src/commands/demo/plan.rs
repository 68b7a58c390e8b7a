//! `windlass demo plan`.

use clap::Args;
use windlass_types::Problem;

use super::{DemoArgs, OPERATIONS};
use crate::{
    flow,
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    demo: DemoArgs,
}

impl PlanArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let apply = format!("windlass demo apply {}", self.demo.words());
        flow::plan(session, OPERATIONS, self.demo.input()?, &apply).await
    }
}
