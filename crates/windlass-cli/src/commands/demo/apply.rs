//! `windlass demo apply`.

use clap::Args;
use windlass_types::Problem;

use super::{DemoArgs, OPERATIONS};
use crate::{
    flow::{self, ApplyArgs},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ApplyDemoArgs {
    #[command(flatten)]
    demo: DemoArgs,
    #[command(flatten)]
    apply: ApplyArgs,
}

impl ApplyDemoArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        flow::apply(session, OPERATIONS, self.demo.input()?, &self.apply).await
    }
}
