//! The engine handle: everything a domain or a surface needs, behind one cheap clone.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, OnceLock, Weak},
    time::Instant,
};

use windlass_policy::{Policy, WithoutRule};
use windlass_ports::{
    BlobStore, Clock, Commit, CommitError, Committed, Entropy, Expect, JournalWrite, Lease,
    LeaseUse, Outbound, RunStore, StoreMaintenance, entropy::random,
};
use windlass_secrets::Redactor;
use windlass_telemetry::{Metrics, metrics};
use windlass_types::{
    Body, Code, EffectClass, NewEvent, Problem, RunId, Secret, SpanId, Timestamp, code,
    event::SpanIds,
};

use crate::{
    access::{Roots, Tiers},
    anchors::AnchorOptions,
    audit::AuditLog,
    confirm::Sealer,
    contract::{http::HttpPaths, mcp::McpIdentity},
    driver::{OwnRuns, StepProbe},
    health::HealthCache,
    notices::Notices,
    operation::{Catalogue, Operation, WaitingCall, WeakCatalogue},
    outbox::{OutboxOptions, secrets::SecretBook},
    retention::RetentionOptions,
    run::{RunKind, RunKinds},
};

/// A capability: the kinds of run it brings, the operations it offers, and how surfaces present
/// them.
pub trait Domain: Send + Sync {
    /// The code behind its runs. The engine does not exist yet; code that steers other runs
    /// keeps the weak handle and upgrades it when it runs.
    fn kinds(&self, engine: &WeakEngine) -> Vec<Arc<dyn RunKind>>;

    /// The one toolset of all its operations. With it, they are made when one is first asked for;
    /// without, when any operation is.
    fn toolset(&self) -> Option<&'static str> {
        None
    }

    /// What can be asked of it.
    fn operations(&self, engine: &Engine) -> Vec<Arc<dyn Operation>>;

    /// Its paths in the HTTP API, besides the one that every operation has.
    fn http_paths(&self) -> HttpPaths {
        HttpPaths::default()
    }

    /// Toolsets that an MCP server offers only where they are asked for by name: what a model
    /// seldom needs costs room in every conversation.
    fn toolsets_on_request(&self) -> &'static [&'static str] {
        &[]
    }

    /// A toolset, and the identity of an MCP server that offers it alone.
    fn mcp_identity(&self) -> Option<(&'static str, McpIdentity)> {
        None
    }
}

/// What an engine is made of.
pub struct EngineParts {
    /// The journal.
    pub store: Arc<dyn RunStore>,
    /// Care of the store.
    pub maintenance: Arc<dyn StoreMaintenance>,
    /// Artifact contents.
    pub blobs: Arc<dyn BlobStore>,
    /// Who drives.
    pub lease: Arc<dyn Lease>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
    /// HTTP to the outside.
    pub outbound: Arc<dyn Outbound>,
    /// Who may do what.
    pub policy: Arc<Policy>,
    /// The one redaction pass.
    pub redactor: Arc<Redactor>,
    /// Seals and opens confirm tokens.
    pub sealer: Sealer,
    /// The seed of the key that signs exported runs.
    pub export_key: Secret<Vec<u8>>,
    /// Webhook signing secrets and schedule.
    pub outbox: OutboxOptions,
    /// Where anchors of the history go.
    pub anchors: AnchorOptions,
    /// How long what has ended is kept.
    pub retention: RetentionOptions,
    /// How many jobs the holders of keys may have.
    pub tiers: Tiers,
    /// Where callers with a key may work.
    pub roots: Roots,
    /// A test's view into steps; absent in production.
    pub probe: Option<Arc<dyn StepProbe>>,
}

/// A handle to the engine.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

/// A handle that does not keep the engine alive, for the code the engine itself holds.
#[derive(Clone)]
pub struct WeakEngine(Weak<Inner>);

impl WeakEngine {
    /// The engine, unless it is gone.
    pub fn upgrade(&self) -> Result<Engine, Problem> {
        self.0
            .upgrade()
            .map(Engine)
            .ok_or_else(|| Problem::new(&code::BUSY, "the engine is shutting down"))
    }
}

pub(crate) struct Inner {
    pub(crate) parts: EngineParts,
    pub(crate) kinds: RunKinds,
    pub(crate) audit: AuditLog,
    pub(crate) metrics: Metrics,
    pub(crate) webhook_secrets: SecretBook,
    /// The catalogue over this engine, for calls that runs make.
    pub(crate) catalogue: OnceLock<WeakCatalogue>,
    pub(crate) own_runs: OwnRuns,
    pub(crate) notices: Arc<Notices>,
    pub(crate) health: HealthCache,
}

impl std::ops::Deref for Engine {
    type Target = EngineParts;

    fn deref(&self) -> &EngineParts {
        &self.0.parts
    }
}

impl Engine {
    /// Puts an engine together. Must be called inside a Tokio runtime.
    pub fn new(parts: EngineParts, domains: &[Box<dyn Domain>]) -> Self {
        let audit = AuditLog::start(Arc::clone(&parts.store), Arc::clone(&parts.clock));
        let metrics = Metrics::new();
        let store = Arc::clone(&parts.store);
        metrics.on_render(move |metrics| {
            metrics.set(&metrics::JOURNAL_FLUSHES, &[], store.flushes() as f64);
        });
        Self(Arc::new_cyclic(|weak| {
            let weak = WeakEngine(weak.clone());
            let waiting: Arc<dyn RunKind> = Arc::new(WaitingCall {
                engine: weak.clone(),
            });
            let kinds: HashMap<_, _> = domains
                .iter()
                .flat_map(|domain| domain.kinds(&weak))
                .chain([waiting])
                .map(|kind| (kind.name().to_owned(), kind))
                .collect();
            Inner {
                parts,
                kinds: RunKinds(kinds),
                audit,
                metrics,
                webhook_secrets: SecretBook::default(),
                catalogue: OnceLock::new(),
                own_runs: OwnRuns::default(),
                notices: Arc::default(),
                health: HealthCache::default(),
            }
        }))
    }

    /// A handle that does not keep the engine alive.
    pub fn downgrade(&self) -> WeakEngine {
        WeakEngine(Arc::downgrade(&self.0))
    }

    /// What policy decides about an operation where no rule matches, and its effect.
    pub fn defaults_of(&self, operation: &str) -> Option<(EffectClass, WithoutRule)> {
        let catalogue = self.catalogue().ok()?;
        let info = catalogue.find(operation)?;
        Some((info.effect, info.without_rule))
    }

    /// Every scope that lets a caller do something, in order.
    pub fn scopes(&self) -> Result<BTreeSet<String>, Problem> {
        let catalogue = self.catalogue()?;
        let scopes = catalogue.operations().map(|info| info.scope.clone());
        let special = ["*", "admin", "approve", "metrics"].map(str::to_owned);
        Ok(scopes.chain(special).collect())
    }

    /// Names the catalogue over this engine; the first one stays.
    pub(crate) fn attach(&self, catalogue: WeakCatalogue) {
        let _ = self.0.catalogue.set(catalogue);
    }

    /// The catalogue over this engine.
    pub(crate) fn catalogue(&self) -> Result<Catalogue, Problem> {
        let catalogue = self.0.catalogue.get().and_then(WeakCatalogue::upgrade);
        catalogue.ok_or_else(|| Problem::new(&code::BUSY, "the engine is shutting down"))
    }

    pub(crate) fn kinds(&self) -> &RunKinds {
        &self.0.kinds
    }

    /// The audit log.
    pub fn audit(&self) -> &AuditLog {
        &self.0.audit
    }

    /// What is counted in this process.
    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// The runs that are this process's to drive.
    pub fn own_runs(&self) -> &OwnRuns {
        &self.0.own_runs
    }

    /// What the steps of this process say in passing.
    pub(crate) fn notices(&self) -> &Arc<Notices> {
        &self.0.notices
    }

    pub(crate) fn health_cache(&self) -> &HealthCache {
        &self.0.health
    }

    pub(crate) fn secret_book(&self) -> &SecretBook {
        &self.0.webhook_secrets
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Now, for what has to happen later or ends by itself: deadlines are made from it and compared
    /// with it, so that a wall clock that is set back prolongs none of them.
    pub fn steady(&self) -> Timestamp {
        self.clock.steady()
    }

    /// Resolves once steady time has reached a deadline.
    pub(crate) async fn until(&self, deadline: Timestamp) {
        loop {
            let left = deadline.since(self.steady());
            if left.is_zero() {
                return;
            }
            self.clock.sleep_until(self.now().after(left)).await;
        }
    }

    /// A fresh span id.
    pub(crate) fn new_span(&self) -> SpanId {
        SpanId::from_bytes(random(&*self.entropy))
    }

    /// Appends bodies to one journal in one commit.
    pub(crate) async fn append(
        &self,
        run_id: &RunId,
        expect: Expect,
        bodies: Vec<Body>,
        spans: SpanIds,
        lease: Option<LeaseUse>,
    ) -> Result<Committed, CommitError> {
        let is_of_this_process = lease.is_none()
            && bodies
                .iter()
                .any(|body| matches!(body, Body::RunCreated(_) | Body::SignalReceived(_)));
        let write = self.journal_write(run_id, expect, bodies, spans)?;
        let started = Instant::now();
        let commit = Commit {
            writes: vec![write],
            lease,
        };
        let committed = self.store.commit(commit).await?;
        if is_of_this_process {
            self.own_runs().note(run_id);
        }
        let metrics = self.metrics();
        metrics.count(&metrics::JOURNAL_COMMITS, &[]);
        metrics.add(&metrics::JOURNAL_EVENTS, &[], committed.events.len() as f64);
        metrics.observe(&metrics::JOURNAL_COMMIT_SECONDS, &[], started.elapsed());
        Ok(committed)
    }

    pub(crate) fn journal_write(
        &self,
        run_id: &RunId,
        expect: Expect,
        bodies: Vec<Body>,
        spans: SpanIds,
    ) -> Result<JournalWrite, CommitError> {
        let time = self.now();
        let events = bodies
            .iter()
            .map(|body| {
                let (event_type, payload) = body.encode().map_err(|error| {
                    windlass_ports::StoreError::Io(format!(
                        "event cannot be written as JSON: {error}"
                    ))
                })?;
                Ok(NewEvent {
                    time,
                    event_type,
                    payload,
                    spans,
                })
            })
            .collect::<Result<Vec<_>, CommitError>>()?;
        Ok(JournalWrite {
            run_id: run_id.clone(),
            expect,
            events,
        })
    }
}

/// The refusal of everything that would add to an imported run.
pub(crate) fn imported(run_id: &RunId) -> Problem {
    Problem::new(
        &code::ILLEGAL_STATE,
        format!(
            "run {run_id} was imported: it is history here and is not resumed, signalled or undone"
        ),
    )
    .with("run_id", run_id.as_str())
    .next("do it in the home where the run happened")
}

/// Whether the store failed, and not what was asked of it.
pub(crate) fn is_of_store(found: &Code) -> bool {
    [
        &code::STORE_FULL,
        &code::STORE_UNAVAILABLE,
        &code::STORE_DAMAGED,
        &code::BUSY,
    ]
    .contains(&found)
}

/// The public face of a commit that was not made.
pub(crate) fn commit_problem(error: CommitError) -> Problem {
    match error {
        CommitError::Store(error) => error.into(),
        CommitError::Fenced | CommitError::Leased => {
            Problem::new(&code::BUSY, "another process drives the run now")
        }
        CommitError::Held {
            name,
            run_id,
            state,
        } => Problem::new(
            &code::BUSY,
            format!(
                "{name} is held by run {run_id}, which is {}",
                state.as_str()
            ),
        )
        .with("name", name)
        .with("run_id", run_id.as_str())
        .with("state", state.as_str())
        .next(format!("windlass runs watch {run_id}"))
        .next(format!("windlass runs cancel {run_id}")),
        CommitError::TokenUsed { run_id } => Problem::new(
            &code::CONFIRM_TOKEN_USED,
            format!("the confirm token was already redeemed; it started {run_id}"),
        )
        .with("reason_code", "token_used")
        .with("run_id", run_id.as_str())
        .next(format!("windlass runs watch {run_id}")),
        CommitError::IdempotencyTaken { run_id, .. } => Problem::new(
            &code::IDEMPOTENCY_CONFLICT,
            format!("the idempotency key was used for {run_id} with different input"),
        )
        .with("run_id", run_id.as_str()),
        CommitError::Imported { run_id } => imported(&run_id),
        CommitError::OverQuota { .. } => Problem::new(&code::RATE_LIMITED, error.to_string()),
        CommitError::Unexpected {
            run_id,
            state: None,
        } => Problem::new(&code::RUN_NOT_FOUND, format!("no run {run_id}"))
            .with("run_id", run_id.as_str())
            .next("windlass runs list"),
        CommitError::Unexpected {
            run_id,
            state: Some(state),
        } => Problem::new(
            &code::ILLEGAL_STATE,
            format!(
                "run {run_id} is {}; this cannot be done now",
                state.as_str()
            ),
        )
        .with("run_id", run_id.as_str())
        .with("state", state.as_str())
        .next(format!("windlass runs show {run_id}")),
    }
}
