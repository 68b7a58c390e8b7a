//! Anchors that are posted, a disk that does not answer, and what runs leave behind: on a store
//! whose care a test decides.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use windlass_engine::{
    AnchorOptions, DiskState, Domain, Driver, Engine, EngineParts,
    access::{ApiKeys, NewKey},
    outbox::{SigningSecrets, sign},
    run::{RunContext, RunError, RunKind, Sweep},
};
use windlass_ports::{
    AnchorState, BoxFuture, Commit, CommitError, StoreError, StoreMaintenance,
    store::{CheckReport, Expiry, PruneReport, Retention, StoreProbe},
};
use windlass_testkit::{
    Reply, TestWorld, local,
    program::{FnDomain, Op},
};
use windlass_types::{Anchor, DeliveryId, Digest, Problem, RunId, Secret, Timestamp};

use super::support::scene;

const URL: &str = "https://audit.test/windlass";

/// Care of a store in memory, as a test has it.
struct Care {
    own: Arc<dyn StoreMaintenance>,
    position: AtomicU64,
    states: Mutex<Vec<AnchorState>>,
    probes: AtomicU64,
    is_hung: AtomicBool,
    has_lost: AtomicBool,
}

impl Care {
    fn over(parts: &EngineParts) -> Arc<Self> {
        Arc::new(Self {
            own: Arc::clone(&parts.maintenance),
            position: AtomicU64::new(1),
            states: Mutex::default(),
            probes: AtomicU64::new(0),
            is_hung: AtomicBool::new(false),
            has_lost: AtomicBool::new(false),
        })
    }

    fn state(&self) -> AnchorState {
        self.states.lock().unwrap()[0].clone()
    }
}

impl StoreMaintenance for Care {
    fn backup(&self, directory: PathBuf) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.own.backup(directory)
    }

    fn check(&self) -> BoxFuture<'_, Result<CheckReport, StoreError>> {
        self.own.check()
    }

    fn anchor(&self, now: Timestamp) -> BoxFuture<'_, Result<Option<Anchor>, StoreError>> {
        let position = self.position.load(Ordering::SeqCst);
        let anchor = Anchor {
            time: now,
            position,
            hash: Digest::of(b"newest"),
            events: position,
            pruned: 0,
            sum: Digest::of(b"sum"),
        };
        Box::pin(async move { Ok(Some(anchor)) })
    }

    fn anchor_states(&self) -> BoxFuture<'_, Result<Vec<AnchorState>, StoreError>> {
        Box::pin(async { Ok(self.states.lock().unwrap().clone()) })
    }

    fn note_anchors(&self, states: Vec<AnchorState>) -> BoxFuture<'_, Result<(), StoreError>> {
        *self.states.lock().unwrap() = states;
        Box::pin(async { Ok(()) })
    }

    fn probe(&self) -> BoxFuture<'_, Result<Option<StoreProbe>, StoreError>> {
        self.probes.fetch_add(1, Ordering::SeqCst);
        Box::pin(async {
            if self.is_hung.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            Ok(None)
        })
    }

    fn shortfall(&self) -> BoxFuture<'_, Result<Option<String>, StoreError>> {
        let lost = self.has_lost.load(Ordering::SeqCst);
        Box::pin(async move { Ok(lost.then(|| "event 3 is gone".to_owned())) })
    }

    fn accept_loss(&self, record: Commit) -> BoxFuture<'_, Result<(), CommitError>> {
        self.own.accept_loss(record)
    }

    fn prune(
        &self,
        keep: Duration,
        now: Timestamp,
        dry_run: bool,
    ) -> BoxFuture<'_, Result<PruneReport, StoreError>> {
        self.own.prune(keep, now, dry_run)
    }

    fn expire(
        &self,
        retention: Retention,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Expiry, StoreError>> {
        self.own.expire(retention, now)
    }
}

/// An engine over it.
fn engine(
    world: &TestWorld,
    url: Option<&str>,
    kinds: Vec<Arc<dyn RunKind>>,
) -> (Engine, Arc<Care>) {
    let mut parts = world.engine_parts(&world.disk);
    let care = Care::over(&parts);
    parts.maintenance = Arc::clone(&care) as _;
    parts.anchors = AnchorOptions {
        url: url.map(str::to_owned),
        interval: Duration::from_secs(60),
        ..AnchorOptions::default()
    };
    let domain = FnDomain {
        kinds,
        operations: Vec::new(),
    };
    let engine = Engine::new(parts, &[Box::new(domain) as Box<dyn Domain>]);
    (engine, care)
}

/// Signed as webhooks are; repeated until the receiver has it, and once; and while it has not, that
/// is on record.
#[tokio::test]
async fn an_anchor_is_posted_until_it_is_taken() {
    let world = scene().world;
    world.outbound.script(
        URL,
        [Reply::Status(503), Reply::Status(500), Reply::Status(200)],
    );
    let (engine, care) = engine(&world, Some(URL), Vec::new());
    let driver = Driver::start_all(&engine).await.unwrap();
    let minute = async || {
        world.clock.advance(Duration::from_secs(61)).await;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    };
    minute().await;
    let failing = care.state();
    assert_eq!((failing.place.as_str(), failing.kept_at), (URL, None));
    assert_eq!(failing.error.as_deref(), Some("the receiver answered 503"));
    let since = failing.failing_since.unwrap();
    let health = engine.health().await;
    let told = health.iter().find(|finding| finding.check == "anchors");
    assert_eq!(
        told.map(|told| (told.state, told.blocks)),
        Some(("failing", false))
    );
    minute().await;
    assert_eq!(care.state().failing_since, Some(since), "since the first");
    minute().await;
    let kept = care.state();
    assert_eq!((kept.failing_since, kept.error), (None, None));
    assert!(kept.kept_at.is_some_and(|at| at > since));
    let health = engine.health().await;
    assert!(health.iter().all(|finding| finding.check != "anchors"));
    minute().await;
    let sent = world.outbound.sent_to(URL);
    assert_eq!(sent.len(), 3, "nothing happened since it was taken");
    care.position.store(2, Ordering::SeqCst);
    minute().await;
    let sent = world.outbound.sent_to(URL);
    assert_eq!(sent.len(), 4);
    let secret = SigningSecrets::one(Secret::new("default secret".to_owned()));
    for (request, position) in sent.iter().zip([1, 1, 1, 2]) {
        let body = String::from_utf8(request.request.body.clone()).unwrap();
        let anchor: Anchor = serde_json::from_str(&body).unwrap();
        assert_eq!(anchor.position, position);
        let id: DeliveryId = request.header("webhook-id").parse().unwrap();
        assert_eq!(
            request.request.headers,
            sign(&id, request.at, &body, &secret)
        );
    }
    driver.stop().await;
}

/// It is told within the time a caller waits, and no second question is left waiting for it.
#[tokio::test]
async fn a_disk_that_does_not_answer_is_told() {
    let world = scene().world;
    let (engine, care) = engine(&world, None, Vec::new());
    assert!(matches!(engine.probe_disk().await, DiskState::Fine(None)));
    care.is_hung.store(true, Ordering::SeqCst);
    let probe = tokio::time::timeout(Duration::from_secs(60), engine.probe_disk());
    assert!(matches!(probe.await, Ok(DiskState::Hung)));
    // The first question is still open, so no second one is asked.
    let health = engine.health().await;
    assert_eq!(care.probes.load(Ordering::SeqCst), 2);
    let disk = health
        .iter()
        .find(|finding| finding.check == "disk")
        .unwrap();
    assert_eq!((disk.state, disk.blocks), ("hung", true));
    assert!(disk.message.contains("5 s"), "{}", disk.message);
}

/// A kind whose runs leave a folder each.
struct Leaving {
    folders: Mutex<Vec<RunId>>,
}

impl RunKind for Leaving {
    fn name(&self) -> &str {
        "leaving"
    }

    fn run<'a>(
        &'a self,
        context: &'a dyn RunContext,
        _: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        Box::pin(async {
            self.folders.lock().unwrap().push(context.run_id().clone());
            Ok(Value::Null)
        })
    }

    fn sweep<'a>(&'a self, sweep: &'a Sweep) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async {
            let folders = self.folders.lock().unwrap().clone();
            for run_id in folders {
                if sweep.is_gone(&run_id).await? {
                    self.folders
                        .lock()
                        .unwrap()
                        .retain(|folder| *folder != run_id);
                }
            }
            Ok(())
        })
    }
}

/// What a run left goes after the run, and not while the store may have lost runs.
#[tokio::test]
async fn what_a_run_left_goes_when_the_run_does() {
    let world = scene().world;
    let leaving = Arc::new(Leaving {
        folders: Mutex::default(),
    });
    let (engine, care) = engine(&world, None, vec![Arc::clone(&leaving) as _]);
    let left = || leaving.folders.lock().unwrap().len();
    let unknown = RunId::from_random([7; 16]);
    leaving.folders.lock().unwrap().push(unknown);
    care.has_lost.store(true, Ordering::SeqCst);
    engine.sweep().await;
    assert_eq!(left(), 1, "the store does not know which runs there were");
    care.has_lost.store(false, Ordering::SeqCst);
    engine.sweep().await;
    assert_eq!(left(), 0);
}

/// A flush may carry many commits, and a store without a disk flushes nothing.
#[tokio::test]
async fn commits_and_flushes_are_counted_apart() {
    let world = scene().world;
    let process = world.driving().await;
    super::support::run(&process, &[Op::set("a", 1)]).await;
    let count = |text: &str, name: &str| -> u64 {
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")));
        line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
    };
    let text = process.engine.metrics().render();
    assert!(count(&text, "windlass_journal_commits_total") > 1, "{text}");
    assert_eq!(count(&text, "windlass_journal_flushes_total"), 0, "{text}");

    let home = tempfile::tempdir().unwrap();
    let (engine, store) =
        super::on_disk::engine(home.path(), Vec::new(), super::on_disk::options(None));
    let flushes = || windlass_ports::RunStore::flushes(store.as_ref());
    let before = flushes();
    let new = NewKey {
        name: "one".to_owned(),
        tier: "pro".to_owned(),
        scopes: Vec::new(),
        lifetime: None,
    };
    ApiKeys::new(&engine).create(&local(), new).await.unwrap();
    assert!(flushes() > before);
    let text = engine.metrics().render();
    assert_eq!(
        count(&text, "windlass_journal_flushes_total"),
        flushes(),
        "{text}"
    );
}
