//! `windlass pack snapshots show`.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_types::Problem;

use crate::{
    commands::pack::{
        context::{Context, parse},
        show::{PlanView, minute, plan_text},
    },
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// The event; see `snapshots list`.
    #[arg(value_name = "SNAPSHOT")]
    id: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Snapshot {
    id: String,
    kind: String,
    created_at: String,
    profile: Option<String>,
    repo: Option<String>,
    project_id: Option<String>,
    rolled_back_to: Option<String>,
    run_id: Option<String>,
}

impl ShowArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({ "id": self.id });
        let data = context.read("pack.snapshots.show", own).await?;
        // The event itself, or the event under its name.
        let record = data.get("snapshot").unwrap_or(&data);
        let snapshot: Snapshot = parse(record)?;
        let repo = snapshot.repo.map(|repo| context.view.path(&repo));
        context.printer().fields(&[
            ("snapshot", snapshot.id.clone()),
            ("kind", snapshot.kind.clone()),
            ("when", minute(&snapshot.created_at)),
            ("profile", snapshot.profile.unwrap_or_default()),
            ("repository", repo.unwrap_or_default()),
            ("project", snapshot.project_id.unwrap_or_default()),
            ("back to", snapshot.rolled_back_to.unwrap_or_default()),
            ("run", snapshot.run_id.unwrap_or_default()),
        ]);
        let plan: PlanView = parse(record)?;
        if !plan.is_empty() {
            context.say(&plan_text(&plan, &context.view));
        }
        context.warn(&data);
        context.hint(&format!("undo {}", snapshot.id));
        Ok(Report::new(
            format!("{} {}", snapshot.kind, snapshot.id),
            data,
        ))
    }
}
