//! `windlass store prune`: plan → confirm → apply of removing old runs.

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use crate::{
    OpenOptions,
    flow::{self, ApplyArgs, ChangeOperations},
    session::{Report, Session},
};

const OPERATIONS: ChangeOperations = ChangeOperations {
    plan: "admin.prune_plan",
    apply: "admin.prune",
};

#[derive(Args, Debug)]
pub(crate) struct PruneArgs {
    /// Remove runs that ended more than this many days ago. Default: `store.keep_runs_days` of the
    /// settings file.
    #[arg(long, value_name = "DAYS")]
    keep_days: Option<u32>,
    #[command(flatten)]
    apply: ApplyArgs,
}

impl PruneArgs {
    pub(crate) async fn run(
        self,
        session: &Session,
        options: &OpenOptions,
    ) -> Result<Report, Problem> {
        let configured = options.settings.store.keep_runs_days;
        let keep_days = match self.keep_days {
            Some(days) => days,
            None if configured > 0 => configured,
            None => {
                return Err(Problem::invalid(
                    "keep-days",
                    "required",
                    "the settings keep runs forever",
                )
                .next("windlass store prune --keep-days 90"));
            }
        };
        flow::apply(
            session,
            OPERATIONS,
            json!({ "keep_days": keep_days }),
            &self.apply,
        )
        .await
    }
}
