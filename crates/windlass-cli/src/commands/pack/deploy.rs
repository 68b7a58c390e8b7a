//! `windlass pack deploy`: the plan, and with `--apply` the deployment.

use clap::Args;
use serde_json::{Value, json};
use windlass_types::Problem;

use super::{
    context::{Confirmed, Context, Touches, agreed, parse},
    show::{PlanView, changes_text, plan_text},
    wire,
};
use crate::{
    flow::{Channel, Consent, can_ask, confirm},
    output::counted,
    session::Report,
};

const APPLY: &str = "deploy --apply";

#[derive(Args, Debug)]
pub(crate) struct DeployArgs {
    /// Write the changes.
    #[arg(long)]
    pub(super) apply: bool,
    /// Overwrite existing files that pack did not write. They can be restored with undo.
    #[arg(long)]
    adopt: bool,
    /// Overwrite just this file, or those this pattern matches; may be given several times.
    #[arg(long, value_name = "PATH", requires = "apply")]
    adopt_path: Vec<String>,
    /// Leave out existing files that pack did not write, and deploy the rest.
    #[arg(long, requires = "apply", conflicts_with = "adopt")]
    skip_unadopted: bool,
}

impl DeployArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        if !self.apply {
            return self.plan(context).await;
        }
        let (yes, dry_run) = (context.options.yes, context.options.dry_run);
        let confirmed = if can_ask(context.printer()) && !yes && !dry_run {
            self.ask_and_apply(context).await?
        } else {
            let own = self.input(self.adopt);
            let data = context
                .send("pack.apply", own, Touches::Targets, yes, dry_run)
                .await?;
            Confirmed { data, seen: false }
        };
        applied(context, confirmed)
    }

    async fn plan(self, context: &Context<'_>) -> Result<Report, Problem> {
        let data = context.read("pack.deploy", json!({})).await?;
        let data = match context.for_programs(data) {
            Ok(report) => return Ok(report),
            Err(data) => data,
        };
        let plan: PlanView = parse(&data)?;
        context.say(&plan_text(&plan, &context.view));
        context.warn(&data);
        if !plan.is_empty() {
            context.hint(APPLY);
        }
        Ok(Report::new(plan.summed_up(), data))
    }

    /// As every asked command, with a question of its own about files pack did not write.
    async fn ask_and_apply(&self, context: &Context<'_>) -> Result<Confirmed, Problem> {
        let preview = context
            .send(
                "pack.apply",
                self.input(self.adopt),
                Touches::Targets,
                false,
                true,
            )
            .await?;
        let plan: PlanView = parse(&preview)?;
        let mut adopt = self.adopt;
        if !plan.is_empty() {
            let view = context.plan_consent("pack.apply", &plan, question(&plan));
            view.show(context.session, Channel::Notice);
            context.warn(&preview);
            let unasked = self.adopt_path.is_empty() && !self.skip_unadopted && !adopt;
            if unasked && plan.adoptions() > 0 {
                let files = counted(plan.adoptions(), "file");
                let question =
                    format!("{files} (!) not written by pack would be replaced. Replace?");
                if !confirm(context.session, &question).await? {
                    let refused = wire::not_confirmed(APPLY, Consent::Declined);
                    return Err(refused.next("retry_with_adopt"));
                }
                adopt = true;
            }
            agreed(APPLY, view.ask_only(context.session).await?)?;
        }
        let mut own = self.input(adopt);
        // Exactly what was shown, or nothing.
        own["plan_digest"] = preview.get("plan_digest").cloned().unwrap_or_default();
        let data = context
            .send("pack.apply", own, Touches::Targets, true, false)
            .await?;
        Ok(Confirmed {
            data,
            seen: !plan.is_empty(),
        })
    }

    fn input(&self, adopt: bool) -> Value {
        json!({
            "adopt": adopt,
            "adopt_paths": self.adopt_path,
            "skip_unadopted": self.skip_unadopted,
        })
    }
}

/// What is asked about a plan.
pub(super) fn question(plan: &PlanView) -> String {
    let changes = counted(plan.changes.len(), "change");
    let apply = match plan.summary.delete {
        0 => format!("Apply {changes}?"),
        deletes => format!("Apply {changes}, {deletes} of which remove files?"),
    };
    match &plan.codex_home_moved {
        None => apply,
        Some(moved) => format!(
            "Codex's home moves from {} to {}. {apply}",
            moved.from, moved.to
        ),
    }
}

/// Asks about the changes of a preview.
pub(super) async fn confirm_changes(
    context: &Context<'_>,
    operation: &str,
    own: Value,
    command: &'static str,
) -> Result<Confirmed, Problem> {
    let consent = |preview: &Value| {
        let plan: PlanView = parse(preview)?;
        let view = || context.plan_consent(operation, &plan, question(&plan));
        Ok((!plan.is_empty()).then(view))
    };
    context
        .confirmed(operation, own, Touches::Targets, command, consent)
        .await
}

/// Shows what was written, or would be.
pub(super) fn applied(context: &Context<'_>, confirmed: Confirmed) -> Result<Report, Problem> {
    let Confirmed { data, seen } = confirmed;
    let data = match context.for_programs(data) {
        Ok(report) => return Ok(report),
        Err(data) => data,
    };
    let plan: PlanView = parse(&data)?;
    if !seen && !plan.is_empty() {
        context.say(&if plan.applied {
            changes_text(&plan, &context.view) + "\n"
        } else {
            plan_text(&plan, &context.view)
        });
    }
    context.warn(&data);
    let message = if plan.applied {
        match &plan.snapshot_id {
            Some(id) => format!("{}; snapshot {id}", plan.done()),
            None => plan.done(),
        }
    } else if plan.is_empty() {
        "nothing to change".to_owned()
    } else {
        "nothing was written".to_owned()
    };
    context.say(&message);
    if plan.applied && plan.snapshot_id.is_some() {
        context.hint("undo");
    }
    Ok(Report::new(message, data))
}
