//! `rollback`, `undo`, `uninstall`: events that go back in history.

use std::{path::PathBuf, sync::Arc};

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_engine::operation::{Answer, CallContext, Operation};
use windlass_pack_deploy::{
    EventPlan, RollbackRequest, UndoRequest, rollback as plan_rollback, undo as plan_undo,
    uninstall as plan_uninstall,
};
use windlass_pack_model::{SnapshotKind, fault, selection::parse_target_filter};
use windlass_types::{EffectClass, Problem, Surface};

use super::{Outcome, Shop, done, value, with_warnings};
use crate::{
    apply::{Applied, Finish, Prepared, Start, blocking, link_warnings, lock_unless_dry, propose},
    arguments::{Common, only_known, read, require_yes, says_yes},
    contract,
    workspace::{Moment, Pack, Workspace},
};

pub(super) fn operations(shop: &Shop) -> Vec<Arc<dyn Operation>> {
    vec![
        shop.writing(
            shop.tool("rollback", "rollback", contract::inputs::rollback()).describe(
                "Roll back to a snapshot",
                "Restores the deployed files to the state after a snapshot. Files in the way are kept and can be brought back with undo.",
            ),
            EffectClass::Destructive,
            |shop, context, input| async move { rollback(&shop, &context, input).await },
        ),
        shop.proposing(
            shop.begin(
                "undo",
                "Undo an event",
                "Restores the state before an event, by default the newest one.",
            )
            .command(EffectClass::Destructive),
            |shop, context, input| async move { undo(&shop, &context, input).await },
        ),
        shop.proposing(
            shop.begin(
                "uninstall",
                "Remove everything pack deployed",
                "Removes every managed file, key and manifest, or brings back what they replaced.",
            )
            .command(EffectClass::Destructive),
            |shop, context, input| async move { uninstall(&shop, &context, input).await },
        ),
    ]
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RollbackInput {
    #[serde(default)]
    repo: Option<String>,
    to: String,
    #[serde(default)]
    target: Option<String>,
    #[serde(default)]
    dry_run: bool,
    #[serde(default, rename = "yes")]
    _yes: Value,
}

async fn rollback(shop: &Shop, context: &CallContext, input: Value) -> Outcome {
    let is_dry = input.get("dry_run") == Some(&Value::Bool(true));
    let is_cli = context.surface == Surface::Cli;
    require_yes(is_cli && is_dry || says_yes(&input), "rollback")?;
    only_known(context.surface, &input, &["repo", "to", "yes"])?;
    let input: RollbackInput = read(input)?;
    let to = input.to.clone();
    let common = Common {
        repo: input.repo,
        target: input.target,
        ..Common::default()
    };
    let (pack, moment) = (Arc::clone(&shop.pack), Moment::of(&shop.engine, context));
    let ready = blocking(move || {
        let target = parse_target_filter(common.target.as_deref().unwrap_or("all"))?;
        let repo = pack.repo(&common, &moment);
        let state = pack.state();
        let recovered = windlass_pack_deploy::state::recover(&state)?;
        let snapshot = state.snapshot(&input.to)?;
        let request = RollbackRequest {
            to: &snapshot,
            repo: &repo,
            target,
        };
        request.check()?;
        let roots: Vec<PathBuf> = request.roots().into_iter().map(|root| root.root).collect();
        let locks = lock_unless_dry(&state, &roots, input.dry_run)?;
        let mut event = plan_rollback(&state, &request, &windlass_pack_model::NoHashCache)?;
        event
            .warnings
            .extend(recovered.into_iter().flat_map(|run| run.warnings));
        Ready::new(&pack, &moment, repo, locks, event)
    })
    .await?;
    let effect = EffectClass::Destructive;
    let render = move |event: Event| {
        let mut data = json!({ "rolled_back_to": to });
        match &event.applied {
            Some(applied) => {
                data["event_snapshot_id"] = json!(applied.snapshot_id);
                data["run_id"] = json!(applied.run_id);
            }
            None => {
                data["event_snapshot_id"] = Value::Null;
                data["reason"] = json!(event.reason);
                data["changes"] = event.changes;
            }
        }
        with_warnings(data, event.warnings)
    };
    ready.finish(shop, "pack.rollback", effect, render).await
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct UndoInput {
    #[serde(flatten)]
    common: Common,
    /// The event; the newest when left out.
    #[serde(default)]
    id: Option<String>,
    /// Only these paths or patterns.
    #[serde(default)]
    paths: Vec<String>,
    /// Show what would change and write nothing.
    #[serde(default)]
    dry_run: bool,
    /// An explicit yes.
    #[serde(default)]
    yes: bool,
}

async fn undo(shop: &Shop, context: &CallContext, input: UndoInput) -> Outcome {
    require_yes(input.yes || input.dry_run, "undo")?;
    let (pack, moment) = (Arc::clone(&shop.pack), Moment::of(&shop.engine, context));
    let (ready, id) = blocking(move || {
        let state = pack.state();
        let recovered = windlass_pack_deploy::state::recover(&state)?;
        let id = match input.id {
            Some(id) => id,
            None => newest(&state)?,
        };
        let snapshot = state.snapshot(&id)?;
        let only = moment.patterns(&input.paths);
        let request = UndoRequest {
            event: &snapshot,
            only: &only,
        };
        let roots: Vec<PathBuf> = request.roots().into_iter().map(|root| root.root).collect();
        let locks = lock_unless_dry(&state, &roots, input.dry_run)?;
        let mut event = plan_undo(&state, &request, &windlass_pack_model::NoHashCache)?;
        event
            .warnings
            .extend(recovered.into_iter().flat_map(|run| run.warnings));
        let repo = snapshot
            .repo
            .clone()
            .unwrap_or_else(|| pack.repo(&input.common, &moment));
        let ready = Ready::new(&pack, &moment, repo, locks, event)?;
        Ok((ready, id))
    })
    .await?;
    let (effect, data) = (EffectClass::Destructive, json!({ "undone": id }));
    let render = |event: Event| event.into_data(data);
    ready.finish(shop, "pack.undo", effect, render).await
}

/// The newest event that is not itself an undo.
fn newest(state: &windlass_pack_deploy::state::PackState) -> Result<String, Problem> {
    let history = state.history()?;
    history
        .snapshots
        .iter()
        .find(|snapshot| snapshot.kind != SnapshotKind::Undo)
        .map(|snapshot| snapshot.id.clone())
        .ok_or_else(|| {
            fault::unexpected(
                "snapshot_not_found",
                &["list_snapshots"],
                "there is no event to undo",
            )
        })
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct UninstallInput {
    #[serde(flatten)]
    common: Common,
    /// Bring back the files that pack replaced.
    #[serde(default)]
    restore_originals: bool,
    /// Show what would change and write nothing.
    #[serde(default)]
    dry_run: bool,
    /// An explicit yes.
    #[serde(default)]
    yes: bool,
}

async fn uninstall(shop: &Shop, context: &CallContext, input: UninstallInput) -> Outcome {
    require_yes(input.yes || input.dry_run, "uninstall")?;
    let (pack, moment) = (Arc::clone(&shop.pack), Moment::of(&shop.engine, context));
    let ready = blocking(move || {
        let workspace = Workspace::open(&pack, input.common, moment.clone())?;
        let roots = workspace.roots_to_lock()?;
        let locks = lock_unless_dry(&workspace.state, &roots, input.dry_run)?;
        let owned = workspace.owned(&workspace.roots()?)?;
        let event = plan_uninstall(
            &workspace.state,
            &owned,
            input.restore_originals,
            &workspace.hashes,
        )?;
        let repo = workspace.repo.clone();
        Ready::new(&pack, &moment, repo, locks, event)
    })
    .await?;
    let effect = EffectClass::Destructive;
    let render = |event: Event| event.into_data(json!({}));
    ready.finish(shop, "pack.uninstall", effect, render).await
}

/// An event planned under locks.
pub(super) struct Ready {
    changes: Value,
    summary: Value,
    warnings: Vec<String>,
    /// Absent for a dry run.
    prepared: Option<Prepared>,
    title: String,
}

/// What came of it.
pub(super) struct Event {
    pub(super) applied: Option<Applied>,
    pub(super) changes: Value,
    pub(super) summary: Value,
    pub(super) warnings: Vec<String>,
    pub(super) reason: &'static str,
}

impl Ready {
    /// An event that may be started; one without locks is only shown.
    pub(super) fn new(
        pack: &Pack,
        moment: &Moment,
        repo: PathBuf,
        locks: Option<windlass_pack_deploy::state::RootLocks>,
        event: EventPlan,
    ) -> Result<Self, Problem> {
        let context = pack.event_context(pack.project(moment).as_ref(), moment, repo);
        Ok(Self {
            changes: value(&event.changes)?,
            summary: value(&event.summary)?,
            warnings: [event.warnings.clone(), link_warnings(&event, &context)].concat(),
            title: format!("pack {}", value(&event.kind)?.as_str().unwrap_or("event")),
            prepared: locks
                .map(|locks| Prepared::new(&pack.state(), locks, &event, &context))
                .transpose()?,
        })
    }

    /// Proposes the run, unless there is nothing to do. `render` makes the data of the answer.
    pub(super) async fn finish(
        self,
        shop: &Shop,
        operation: &'static str,
        effect: EffectClass,
        render: impl FnOnce(Event) -> Value + Send + 'static,
    ) -> Outcome {
        let mut event = Event {
            applied: None,
            changes: self.changes,
            summary: self.summary,
            warnings: self.warnings,
            reason: "dry_run",
        };
        let Some(prepared) = self.prepared else {
            return done(render(event));
        };
        if prepared.is_noop() {
            event.reason = "no_changes";
            return done(render(event));
        }
        let start = Start {
            operation,
            effect,
            title: self.title,
            plan_digest: None,
            token: None,
        };
        let finish: Finish = Box::new(move |applied| {
            event.warnings.extend(applied.warnings.iter().cloned());
            let run_id = applied.run_id.clone();
            event.applied = Some(applied);
            Ok(Answer::of_run(render(event), run_id))
        });
        let proposed = propose(&shop.pack, &shop.engine, prepared, start, finish).await?;
        Ok(proposed.into())
    }
}

impl Event {
    /// The data of an event, on top of what the command adds.
    pub(super) fn into_data(self, mut data: Value) -> Value {
        data["changes"] = self.changes;
        data["summary"] = self.summary;
        data["applied"] = json!(self.applied.is_some());
        match self.applied {
            Some(applied) => {
                data["snapshot_id"] = json!(applied.snapshot_id);
                data["run_id"] = json!(applied.run_id);
            }
            None => data["reason"] = json!(self.reason),
        }
        with_warnings(data, self.warnings)
    }
}
