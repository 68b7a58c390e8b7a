//! A whole Windlass on fakes: build processes on one disk, drive them, end them, move time.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use serde_json::Value;
use windlass_engine::{
    Domain, Driver, Engine, EngineParts, StepProbe,
    access::Tiers,
    confirm::Sealer,
    operation::{Answer, CallContext, CallRequest, Catalogue},
    outbox::{OutboxOptions, Schedule},
    run::NewRun,
};
use windlass_policy::Policy;
use windlass_ports::RunStore as _;
use windlass_secrets::Redactor;
use windlass_types::{Principal, Problem, RunId, RunRecord, Secret, Surface};

use crate::{FakeClock, MemoryStore, RecordingOutbound, SeededEntropy};

/// Longer than anything a test waits for.
const AGES: Duration = Duration::from_secs(3650 * 24 * 3600);

/// The owner of the home in tests.
pub fn local() -> Principal {
    Principal::local("ada")
}

type Domains = Arc<dyn Fn() -> Vec<Box<dyn Domain>> + Send + Sync>;

/// Everything processes share: the disk, the clock, the network, the settings.
#[derive(Clone)]
pub struct TestWorld {
    /// Time.
    pub clock: FakeClock,
    /// The disk, through a process of the test's own that never dies.
    pub disk: MemoryStore,
    /// The network.
    pub outbound: RecordingOutbound,
    /// The redaction pass.
    pub redactor: Redactor,
    entropy: Arc<SeededEntropy>,
    policy: Policy,
    probe: Option<Arc<dyn StepProbe>>,
    schedule: Schedule,
    tiers: Tiers,
    domains: Domains,
}

impl TestWorld {
    /// A world with these domains and a policy that allows everything.
    pub fn new(domains: impl Fn() -> Vec<Box<dyn Domain>> + Send + Sync + 'static) -> Self {
        let clock = FakeClock::new();
        let allow_all = "version = 1\n[[rule]]\ndecision = \"allow\"\nreason = \"tests\"\n";
        Self {
            outbound: RecordingOutbound::new(&clock),
            clock,
            disk: MemoryStore::new(),
            redactor: Redactor::new(),
            entropy: Arc::new(SeededEntropy::new(7)),
            policy: Policy::parse(allow_all, "policy.toml").expect("the test policy is valid"),
            probe: None,
            schedule: Schedule::default(),
            tiers: Tiers::default(),
            domains: Arc::new(domains),
        }
    }

    /// The same world under another policy file.
    #[must_use]
    pub fn with_policy(mut self, text: &str) -> Self {
        self.policy = Policy::parse(text, "policy.toml").expect("the policy of a test is valid");
        self
    }

    /// The same world with other random numbers.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.entropy = Arc::new(SeededEntropy::new(seed));
        self
    }

    /// The same world with a view into steps.
    #[must_use]
    pub fn with_probe(mut self, probe: Arc<dyn StepProbe>) -> Self {
        self.probe = Some(probe);
        self
    }

    /// The same world where steps also work on other threads.
    #[must_use]
    pub fn with_threads(mut self) -> Self {
        self.clock = self.clock.with_threads();
        self
    }

    /// The same world with other pauses between webhook attempts.
    #[must_use]
    pub fn with_schedule(mut self, seconds: &[u64]) -> Self {
        self.schedule = Schedule(seconds.iter().copied().map(Duration::from_secs).collect());
        self
    }

    /// The same world with other tiers of API keys.
    #[must_use]
    pub fn with_tiers(mut self, tiers: Tiers) -> Self {
        self.tiers = tiers;
        self
    }

    /// The parts of an engine on one process's hold of the disk.
    pub fn engine_parts(&self, store: &MemoryStore) -> EngineParts {
        EngineParts {
            store: Arc::new(store.clone()),
            maintenance: Arc::new(store.clone()),
            blobs: Arc::new(store.clone()),
            lease: Arc::new(store.clone()),
            clock: Arc::new(self.clock.clone()),
            entropy: Arc::clone(&self.entropy) as _,
            outbound: Arc::new(self.outbound.clone()),
            policy: Arc::new(self.policy.clone()),
            redactor: Arc::new(self.redactor.clone()),
            sealer: Sealer::new(Secret::new(vec![7; 32])),
            outbox: OutboxOptions {
                secrets: HashMap::from([(
                    "billing".to_owned(),
                    Secret::new("named secret".to_owned()),
                )]),
                default_secret: Secret::new("default secret".to_owned()),
                sealing_key: Secret::new(vec![9; 32]),
                schedule: self.schedule.clone(),
                timeout: Duration::from_secs(10),
                rotation_overlap: Duration::from_secs(24 * 3600),
            },
            export_key: Secret::new(vec![11; 32]),
            anchors: Default::default(),
            retention: Default::default(),
            tiers: self.tiers.clone(),
            roots: Default::default(),
            probe: self.probe.clone(),
        }
    }

    /// A new process on the disk. Must be called inside a runtime.
    pub fn process(&self) -> Process {
        self.process_on(self.disk.open_again())
    }

    /// A new process on a hold of the disk that the test has prepared.
    pub fn process_on(&self, store: MemoryStore) -> Process {
        let domains = (self.domains)();
        let engine = Engine::new(self.engine_parts(&store), &domains);
        Process {
            clock: self.clock.clone(),
            store,
            engine,
            domains: Mutex::new(domains),
            catalogue: OnceLock::new(),
            driver: None,
        }
    }

    /// A new process that drives every run.
    pub async fn driving(&self) -> Process {
        let mut process = self.process();
        process.drive().await;
        process
    }

    /// A new process that drives its own runs.
    pub async fn driving_own(&self) -> Process {
        let mut process = self.process();
        process.drive_own().await;
        process
    }

    /// One life of a process on a runtime of its own, which ends when `work` does or when the
    /// store says that the process died; `None` then. Nothing of it survives but the disk.
    pub fn life<T, F: Future<Output = T>>(
        &self,
        store: MemoryStore,
        work: impl FnOnce(Process) -> F,
    ) -> Option<T> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .enable_all()
            .build()
            .expect("a runtime can be made");
        let clock = self.clock.on_one_thread();
        runtime.block_on(async {
            let process = self.process_on(store.clone());
            tokio::select! {
                biased;
                () = store.died() => None,
                output = clock.run(work(process)) => Some(output),
            }
        })
    }
}

/// One process: an engine and its operations, driving or not.
pub struct Process {
    clock: FakeClock,
    /// Its hold on the disk.
    pub store: MemoryStore,
    /// Its engine.
    pub engine: Engine,
    /// Until the catalogue has them.
    domains: Mutex<Vec<Box<dyn Domain>>>,
    /// Built when first asked for: most processes of the proofs never call an operation.
    catalogue: OnceLock<Catalogue>,
    driver: Option<Driver>,
}

impl Process {
    /// Begins to drive every run.
    pub async fn drive(&mut self) {
        let driver = Driver::start_all(&self.engine).await;
        self.driver = Some(driver.expect("the store can be read"));
    }

    /// Begins to drive its own runs.
    pub async fn drive_own(&mut self) {
        let driver = Driver::start_own(&self.engine).await;
        self.driver = Some(driver.expect("the store can be read"));
    }

    /// Its driver.
    ///
    /// # Panics
    /// When it does not drive.
    pub fn driver(&self) -> &Driver {
        self.driver.as_ref().expect("the process drives")
    }

    /// Its operations.
    pub fn catalogue(&self) -> &Catalogue {
        self.catalogue.get_or_init(|| {
            let domains = std::mem::take(&mut *self.domains.lock().expect("no panic"));
            Catalogue::new(&self.engine, domains).expect("the routes of a test are different")
        })
    }

    /// Stops in order.
    pub async fn stop(mut self) {
        self.rest().await;
    }

    /// Stops driving and lives on.
    pub async fn rest(&mut self) {
        if let Some(driver) = self.driver.take() {
            self.clock.run(driver.stop()).await;
        }
    }

    /// Dies.
    pub fn kill(self) {
        self.store.kill();
    }

    /// Starts a run as the owner of the home.
    pub async fn start(&self, kind: &str, input: Value) -> RunId {
        self.engine
            .create_ungated(new_run(kind, input))
            .await
            .expect("the run can be created")
    }

    /// The run's record once it has ended, is held or asks a person, however long that takes on
    /// the clock.
    pub async fn settle(&self, run_id: &RunId) -> RunRecord {
        self.clock
            .run(self.engine.settle(run_id, AGES))
            .await
            .expect("the run exists")
    }

    /// The run's record once it has ended, however long that takes on the clock.
    pub async fn end(&self, run_id: &RunId) -> RunRecord {
        let ended = async {
            let mut changes = self.store.changes();
            loop {
                changes.mark_unchanged();
                let record = self
                    .engine
                    .settle(run_id, Duration::ZERO)
                    .await
                    .expect("the run exists");
                if record.state.is_final() {
                    return record;
                }
                changes
                    .changed()
                    .await
                    .expect("the disk outlives its processes");
            }
        };
        self.clock.run(ended).await
    }

    /// Lets everything happen that does not wait for time or input.
    pub async fn idle(&self) {
        self.clock.idle().await;
    }

    /// The run's record once everything has happened that can happen now.
    pub async fn record(&self, run_id: &RunId) -> RunRecord {
        self.idle().await;
        self.engine
            .settle(run_id, Duration::ZERO)
            .await
            .expect("the run exists")
    }

    /// Starts a run and lets it settle.
    pub async fn run(&self, kind: &str, input: Value) -> RunRecord {
        let run_id = self.start(kind, input).await;
        self.settle(&run_id).await
    }

    /// Calls an operation as the owner of the home.
    pub async fn call(&self, operation: &str, input: Value) -> Result<Answer, Problem> {
        self.call_as(local(), operation, input).await
    }

    /// Calls an operation as a given principal.
    pub async fn call_as(
        &self,
        principal: Principal,
        operation: &str,
        input: Value,
    ) -> Result<Answer, Problem> {
        let context = CallContext {
            principal,
            surface: Surface::Cli,
            request_id: "req_1".to_owned(),
            directory: None,
            terms: windlass_engine::operation::Terms::default(),
        };
        self.catalogue()
            .call(CallRequest {
                operation: operation.to_owned(),
                input,
                context,
            })
            .await
    }

    /// The types of a run's events, in order.
    pub fn event_types(&self, run_id: &RunId) -> Vec<String> {
        self.store
            .journal(run_id)
            .into_iter()
            .map(|event| event.event_type)
            .collect()
    }
}

/// A run as the owner of the home would start it.
pub fn new_run(kind: &str, input: Value) -> NewRun {
    NewRun {
        kind: kind.to_owned(),
        title: format!("a {kind}"),
        context: CallContext {
            principal: local(),
            surface: Surface::Cli,
            request_id: "req_1".to_owned(),
            directory: None,
            terms: windlass_engine::operation::Terms::default(),
        },
        input,
        plan_digest: None,
        confirm_token: None,
        approval: None,
        subject: None,
        idempotency_key: None,
        bound_to: None,
        run_id: None,
        holds: windlass_engine::run::Holds::default(),
    }
}
