//! The run that applies an event to the target roots, and how an operation proposes it.
//!
//! An operation plans under the locks of the roots, freezes the transaction, and proposes the run,
//! which the gate creates in the commit that redeems the confirm token. The run carries out exactly that transaction:
//! one effect, whose undo takes the event back.

use std::{
    collections::HashMap,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_engine::{
    Engine, WeakEngine,
    confirm::ReturnedToken,
    operation::{Answer, AnswerWhen, ProposedRun},
    run::{RunContext, RunError, RunKind, Step},
};
use windlass_pack_deploy::{
    EventContext, EventPlan, LinkRule, Op, PlanChange, ProjectLink, UndoRequest,
    state::{FaultProbe, HeldContents, NoFaults, PackState, RootLocks, Transaction, commit},
    undo,
};
use windlass_pack_model::{NoHashCache, SnapshotKind, fault};
use windlass_ports::BoxFuture;
use windlass_types::{
    Digest, EffectClass, Problem, RunId, RunRecord, RunState, Timestamp, code,
    journal::ChangeSubject,
};

use crate::{
    frozen::FrozenTransactionV1,
    workspace::{Pack, nanos, rfc3339},
};

/// The kind of run.
pub(crate) const KIND: &str = "pack.apply";
/// How long an apply waits for others that write in the same roots.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(10);
/// How long an operation waits for its run; the run goes on by itself after that.
const TIMEOUT: Duration = Duration::from_secs(600);

/// What the run receives.
#[derive(Debug, Serialize, Deserialize)]
struct ApplyInput {
    /// The frozen transaction, by digest; absent when there is nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transaction: Option<Digest>,
    /// The snapshot it makes.
    snapshot_id: String,
    /// What kind of event it is.
    event: SnapshotKind,
    /// `$AGENTPACK_HOME`.
    pack_home: PathBuf,
    /// Where links of the project may lead; the undo keeps to it too.
    #[serde(default)]
    links: LinkRule,
}

/// An event that was planned under locks and may be started.
pub(crate) struct Prepared {
    locks: Option<RootLocks>,
    planned: Option<Planned>,
    snapshot_id: String,
    event: SnapshotKind,
    pack_home: PathBuf,
    targets: Vec<String>,
    lines: Vec<String>,
    links: LinkRule,
}

impl Prepared {
    /// Freezes an event that was planned under `locks`.
    pub(crate) fn new(
        state: &PackState,
        locks: RootLocks,
        event: &EventPlan,
        context: &EventContext,
    ) -> Result<Self, Problem> {
        let planned = match event.is_noop() {
            true => None,
            false => {
                let mut transaction = event.transaction(context);
                // An approval may take days: what is written then are these directories or none.
                transaction.held = locks.held()?;
                let roots = event.directories();
                Some(Planned { transaction, roots })
            }
        };
        Ok(Self {
            locks: Some(locks),
            planned,
            snapshot_id: context.snapshot_id.clone(),
            event: event.kind,
            pack_home: state.home().root().to_owned(),
            targets: targets(&context.repo, &event.directories()),
            lines: [lines(&event.changes), link_warnings(event, context)].concat(),
            links: context.links.clone(),
        })
    }

    /// With what was read for planning, which a run of this process need not read again.
    pub(crate) fn with_contents(mut self, contents: HeldContents) -> Self {
        if let Some(planned) = &mut self.planned {
            planned.transaction.contents = contents;
        }
        self
    }

    /// Whether there is nothing to do.
    pub(crate) const fn is_noop(&self) -> bool {
        self.planned.is_none()
    }
}

/// What policy rules may name: the config repository and the directories that are written in,
/// as they are given and as they are on disk.
pub(crate) fn targets(repo: &Path, roots: &[PathBuf]) -> Vec<String> {
    let mut targets = Vec::new();
    for path in std::iter::once(repo).chain(roots.iter().map(PathBuf::as_path)) {
        targets.push(path.display().to_string());
        if let Ok(canonical) = fs_err::canonicalize(path) {
            targets.push(canonical.display().to_string());
        }
    }
    targets.sort();
    targets.dedup();
    targets
}

/// The first changes as lines for an approver, and how many more there are.
fn lines(changes: &[PlanChange]) -> Vec<String> {
    const MOST: usize = 30;
    let mut lines: Vec<String> = changes.iter().take(MOST).map(line).collect();
    if changes.len() > MOST {
        lines.push(format!("… and {} more", changes.len() - MOST));
    }
    lines
}

/// The links of the project that an event writes through, and where they lead.
pub(crate) fn link_warnings(event: &EventPlan, context: &EventContext) -> Vec<String> {
    let paths = event.changes.iter().map(|change| change.path.as_path());
    let links = context.links.links(paths);
    links.iter().map(ProjectLink::warning).collect()
}

fn line(change: &PlanChange) -> String {
    let sign = match change.op {
        Op::Create => '+',
        Op::Update => '~',
        Op::Delete => '-',
    };
    format!("{sign} {}", change.path.display())
}

/// The locks an event is planned under; none for a dry run, which leaves nothing behind, not
/// even locks.
pub(crate) fn lock_unless_dry(
    state: &PackState,
    roots: &[PathBuf],
    dry_run: bool,
) -> Result<Option<RootLocks>, Problem> {
    if dry_run {
        return Ok(None);
    }
    state.lock(roots, "planning", LOCK_WAIT).map(Some)
}

/// A transaction and the directories it writes in.
pub(crate) struct Planned {
    transaction: Transaction,
    roots: Vec<PathBuf>,
}

/// Transactions whose run may be driven by this very process: it need not read them back.
#[derive(Default)]
pub(crate) struct Handoff(Mutex<HashMap<Digest, Planned>>);

impl Handoff {
    fn put(&self, digest: Digest, planned: Planned) {
        self.lock().insert(digest, planned);
    }

    fn take(&self, digest: &Digest) -> Option<Planned> {
        self.lock().remove(digest)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Planned>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a run did.
#[derive(Debug, Deserialize)]
pub(crate) struct Applied {
    pub(crate) run_id: RunId,
    pub(crate) snapshot_id: Option<String>,
    pub(crate) warnings: Vec<String>,
}

/// What is proposed, and what confirmed it.
pub(crate) struct Start {
    pub(crate) operation: &'static str,
    pub(crate) effect: EffectClass,
    pub(crate) title: String,
    pub(crate) plan_digest: Option<Digest>,
    pub(crate) token: Option<ReturnedToken>,
}

/// Turns what the run did into the answer.
pub(crate) type Finish = Box<dyn FnOnce(Applied) -> Result<Answer, Problem> + Send>;

/// The run that applies what was prepared, for the gate to admit. The locks are held until the
/// run exists: nobody comes in between.
pub(crate) async fn propose(
    pack: &Arc<Pack>,
    engine: &Engine,
    mut prepared: Prepared,
    start: Start,
    finish: Finish,
) -> Result<ProposedRun, Problem> {
    let offer = match prepared.planned.take() {
        Some(planned) => {
            let frozen = FrozenTransactionV1::new(&planned.transaction, &planned.roots)?;
            let bytes = serde_json::to_vec(&frozen)
                .map_err(|error| Problem::internal("frozen transaction", error))?;
            let stored = engine.blobs.put(bytes).await;
            let digest = stored.map_err(|error| Problem::internal("planned transaction", error))?;
            pack.handoff.put(digest, planned);
            Some(Offer {
                pack: Arc::clone(pack),
                digest,
            })
        }
        None => None,
    };
    let input = ApplyInput {
        transaction: offer.as_ref().map(|offer| offer.digest),
        snapshot_id: prepared.snapshot_id,
        event: prepared.event,
        pack_home: prepared.pack_home,
        links: prepared.links,
    };
    let input =
        serde_json::to_value(&input).map_err(|error| Problem::internal("apply input", error))?;
    let proposed = ProposedRun::new(start.operation, start.effect, KIND, input);
    let subject = ChangeSubject {
        targets: prepared.targets,
        lines: prepared.lines,
        ..proposed.subject
    };
    let locks = prepared.locks;
    Ok(ProposedRun {
        title: start.title,
        subject,
        plan_digest: start
            .plan_digest
            .or_else(|| Some(Digest::of_json(&proposed.input))),
        token: start.token,
        answer_when: AnswerWhen::SettledSoon,
        timeout: TIMEOUT,
        // The run takes the locks itself: it may be driven by another process. What changes in
        // between changes what the plan saw, and the run refuses to go on from there.
        on_created: Some(Box::new(move |_| drop(locks))),
        render: Some(Box::new(move |record| {
            Box::pin(async move {
                let _offer = offer;
                finish(applied(record)?)
            })
        })),
        ..proposed
    })
}

/// A transaction that a run of this process need not read back, as long as its caller waits.
struct Offer {
    pack: Arc<Pack>,
    digest: Digest,
}

impl Drop for Offer {
    fn drop(&mut self) {
        self.pack.handoff.take(&self.digest);
    }
}

fn applied(record: RunRecord) -> Result<Applied, Problem> {
    let run_id = record.run_id;
    match (record.state, record.output, record.problem) {
        (RunState::Completed, Some(output), _) => {
            let text = |key: &str| output.get(key).and_then(Value::as_str).map(str::to_owned);
            let warnings = output.get("warnings").cloned().unwrap_or_default();
            Ok(Applied {
                snapshot_id: text("snapshot_id"),
                warnings: serde_json::from_value(warnings).unwrap_or_default(),
                run_id,
            })
        }
        (_, _, Some(problem)) => Err(problem.with("run_id", run_id.as_str())),
        (state, _, None) => Err(Problem::new(
            &code::BUSY,
            format!("run {run_id} is {} and has not ended", state.as_str()),
        )
        .with("run_id", run_id.as_str())
        .next(format!("windlass runs watch {run_id}"))),
    }
}

pub(crate) struct ApplyPack {
    pub(crate) pack: Arc<Pack>,
    pub(crate) engine: WeakEngine,
}

impl RunKind for ApplyPack {
    fn name(&self) -> &str {
        KIND
    }

    fn run<'a>(
        &'a self,
        context: &'a dyn RunContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        Box::pin(async move {
            let input: ApplyInput = serde_json::from_value(input)
                .map_err(|error| Problem::internal("apply input", error))?;
            let Some(transaction) = input.transaction else {
                return Ok(json!({ "snapshot_id": null, "warnings": [] }));
            };
            let input = Arc::new(input);
            let run_id = context.run_id().to_string();
            let undo_input = Arc::clone(&input);
            let undo_run = run_id.clone();
            let (undo_engine, undo_pack) = (self.engine.clone(), Arc::clone(&self.pack));
            Step::effect("apply", input.snapshot_id.clone())
                // The contract: nothing of it stays, and the answer names the cause.
                .report_full_disk()
                .input(&json!({ "transaction": transaction, "snapshot_id": input.snapshot_id }))
                .undo(move |_: Value| {
                    let (pack, input, run_id) = (
                        Arc::clone(&undo_pack),
                        Arc::clone(&undo_input),
                        undo_run.clone(),
                    );
                    let engine = undo_engine.upgrade();
                    async move {
                        let engine = engine?;
                        let now = engine.now();
                        let nanos = nanos(&engine, now);
                        let when = (now, nanos);
                        blocking(move || take_back(&pack, &input, &run_id, when, &NoFaults)).await
                    }
                })
                .run(context, async |_| {
                    let planned = match self.pack.handoff.take(&transaction) {
                        Some(planned) => planned,
                        None => read_back(&self.engine, transaction).await?,
                    };
                    let (input, run_id) = (Arc::clone(&input), run_id.clone());
                    blocking(move || carry_out(&input, planned, &run_id, &NoFaults)).await
                })
                .await
        })
    }
}

/// The transaction as it was stored when the run was created.
async fn read_back(engine: &WeakEngine, digest: Digest) -> Result<Planned, Problem> {
    let bytes = engine.upgrade()?.blobs.get(digest).await;
    let bytes = bytes.map_err(|error| Problem::internal("planned transaction", error))?;
    let frozen: FrozenTransactionV1 = serde_json::from_slice(&bytes)
        .map_err(|error| Problem::internal("frozen transaction", error))?;
    let (transaction, roots) = frozen.thaw()?;
    Ok(Planned { transaction, roots })
}

/// Applies the transaction, unless it was applied before.
fn carry_out(
    input: &ApplyInput,
    planned: Planned,
    run_id: &str,
    probe: &dyn FaultProbe,
) -> Result<Value, Problem> {
    let state = PackState::open(windlass_pack_model::PackHome::at(&input.pack_home));
    // Taking the locks settles what an earlier try left half done.
    let locks = state.lock(&planned.roots, run_id, LOCK_WAIT)?;
    if state.snapshot(&input.snapshot_id).is_ok() {
        return Ok(json!({ "snapshot_id": input.snapshot_id, "warnings": [] }));
    }
    let mut transaction = planned.transaction;
    run_id.clone_into(&mut transaction.run_id);
    let committed = commit(&state, &locks, transaction, probe)?;
    Ok(json!({ "snapshot_id": committed.snapshot_id, "warnings": committed.warnings }))
}

/// Undoes the event, unless it was undone before. The engine asks only for what did happen, so
/// an event whose record is gone is a failure, not a success.
fn take_back(
    pack: &Pack,
    input: &ApplyInput,
    run_id: &str,
    (now, nanos): (Timestamp, u128),
    probe: &dyn FaultProbe,
) -> Result<(), Problem> {
    let state = PackState::open(windlass_pack_model::PackHome::at(&input.pack_home));
    let snapshot = state.snapshot(&input.snapshot_id)?;
    let request = UndoRequest {
        event: &snapshot,
        only: &[],
    };
    let roots: Vec<PathBuf> = request.roots().into_iter().map(|root| root.root).collect();
    let locks = state.lock(&roots, run_id, LOCK_WAIT)?;
    if was_taken_back(&state, &input.snapshot_id, run_id)? {
        return Ok(());
    }
    let event = undo(&state, &request, &NoHashCache)?;
    if event.is_noop() {
        return Ok(());
    }
    let mut write_through = vec![pack.environment.home_dir.clone()];
    write_through.extend(roots.iter().cloned());
    let nanos = after_all(&state, nanos)?;
    let context = EventContext {
        run_id: run_id.to_owned(),
        snapshot_id: nanos.to_string(),
        created_at: rfc3339(now, nanos),
        repo: snapshot.repo.clone().unwrap_or_default(),
        project: None,
        profile: snapshot.profile.clone(),
        lockfile_sha256: snapshot.lockfile_sha256,
        write_through,
        links: input.links.clone(),
        fsync: pack.environment.fsync,
    };
    commit(&state, &locks, event.transaction(&context), probe).map(drop)
}

/// Whether a later event of the same run is there: only taking it back makes a second one.
fn was_taken_back(state: &PackState, snapshot_id: &str, run_id: &str) -> Result<bool, Problem> {
    let mut found = false;
    state.walk_back(|event| {
        found = event.id != snapshot_id && event.run_id.as_deref() == Some(run_id);
        match found || event.id == snapshot_id {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    Ok(found)
}

/// An id behind all others, also when the clock went back: what happens last is last in history.
fn after_all(state: &PackState, nanos: u128) -> Result<u128, Problem> {
    let ids = state.snapshot_ids()?;
    let newest = ids.last().and_then(|id| id.parse::<u128>().ok());
    Ok(newest.map_or(nanos, |newest| nanos.max(newest.saturating_add(1))))
}

/// Runs work that touches the disk off the async threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        fault::unexpected(
            "internal",
            &["retry_command"],
            format!("the work ended abnormally: {error}"),
        )
    })?
}

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
