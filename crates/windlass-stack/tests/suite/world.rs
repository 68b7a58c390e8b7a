//! A small project, an AWS account of its own, and the stack domain between them.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    path::Path,
    process::Command,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use windlass_aws::Aws;
use windlass_cfn_double::{Control, Double, Handle, Options, Pace};
use windlass_config::env::Environment;
use windlass_database::Databases;
use windlass_engine::Domain;
use windlass_git::GitProgram;
use windlass_ports::{BoxFuture, Clock, RunStore as _, aws::Cloud};
use windlass_stack::{DevOutside, Found, HeldValue, SecretArgument, SecretValues, StackOutside};
use windlass_stack_config::Interpreters;
use windlass_stack_lifecycle::package::Tools;
use windlass_testkit::{
    FakeClock, Moment, Process, SeededEntropy, TestWorld, TrustEverything, proofs::ProofWorld,
};
use windlass_types::{Digest, Problem, RunRecord, RunState, Secret, Timestamp};

use super::{at_once::AtOnce, picture};

const CONFIG: &str = "
serviceName: shop
resources:
  api:
    type: function
    properties:
      runtime: nodejs22.x
      packaging:
        type: custom-artifact
        properties:
          packagePath: api.js
          handler: api.js:handler
  jobs:
    type: sqs-queue
    properties:
      visibilityTimeoutSeconds: 30
  items:
    type: dynamo-db-table
    properties:
      primaryKey:
        partitionKey: { name: id, type: string }
  files:
    type: bucket
    properties:
      directoryUpload:
        directoryPath: files
";

/// The value of every secret that is made here.
pub const VALUE: &str = "canary-value-of-a-secret";

/// Serves all accounts of this process, and the connections to them.
static NETWORK: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
});

/// What a run finds: a project and an account.
pub struct Ground {
    folder: TempDir,
    double: Handle,
    cloud: Arc<AtOnce>,
    values: SecretValues,
    /// The value of a secret, which every process of this ground was given.
    held: Option<HeldValue>,
}

/// What that value is known by.
const SLOT: &str = "held";

impl Ground {
    /// A project that nobody has deployed.
    pub fn new() -> Self {
        Self::of(CONFIG)
    }

    /// The same with a config of its own.
    pub fn of(config: &str) -> Self {
        let options = Options {
            pace: Pace::PerCall(400),
            ..Options::default()
        };
        let ground = Self::around(NETWORK.block_on(Double::start(options)).unwrap());
        ground.file("stacktape.yml", config);
        ground.file("files/index.txt", "one\n");
        ground.file("api.js", "exports.handler = async () => 'hello'\n");
        ground
    }

    /// The same project and account again, without repeating the past.
    pub fn copy(&self) -> Self {
        let double = NETWORK.block_on(Double::copy(self.control()));
        let ground = Self::around(double.unwrap());
        copy_all(self.folder.path(), ground.folder.path());
        ground
    }

    fn around(double: Handle) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let environment = Environment::from_pairs([
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("HOME", "/nonexistent"),
            ("AWS_ACCESS_KEY_ID", "AKIDDOUBLE"),
            ("AWS_SECRET_ACCESS_KEY", "key"),
            ("AWS_MAX_ATTEMPTS", "1"),
            ("AWS_ENDPOINT_URL", &double.endpoint),
        ]);
        let entropy = Arc::new(SeededEntropy::new(1));
        let aws = Aws::new(&environment, Arc::new(NoTime), entropy);
        let values = SecretValues::default();
        Self {
            folder: folder.unwrap(),
            cloud: Arc::new(AtOnce {
                aws: Arc::new(aws),
                network: NETWORK.handle().clone(),
                calls: AtomicUsize::new(0),
                fuse: AtomicUsize::new(usize::MAX),
                control: double.control.clone(),
            }),
            double,
            held: Some(values.hold(SLOT, SecretArgument::value(Secret::new(VALUE.to_owned())))),
            values,
        }
    }

    pub fn control(&self) -> &Control {
        &self.double.control
    }

    /// How often AWS was asked from here.
    pub fn calls(&self) -> usize {
        self.cloud.calls.load(Ordering::SeqCst)
    }

    /// Lets the credentials run out at a call; they are renewed once a run waits for that.
    pub fn expire_at(&self, call: usize) {
        self.cloud.fuse.store(call, Ordering::SeqCst);
    }

    /// Writes a file of the project.
    pub fn file(&self, name: &str, text: &str) {
        let path = self.project().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// Changes the config, which has that text.
    pub fn edit(&self, from: &str, to: &str) {
        let path = self.project().join("stacktape.yml");
        let text = fs_err::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs_err::write(path, text.replace(from, to)).unwrap();
    }

    /// Does a run to its end, from a home that is gone afterwards.
    pub fn past(&self, kind: &str, arguments: Value) -> RunRecord {
        self.past_of(kind, self.job(arguments, false, Value::Null))
    }

    /// The same with an input of its own.
    pub fn past_of(&self, kind: &str, input: Value) -> RunRecord {
        let parts = self.parts();
        // Runs of one account have ids of their own.
        let seed = 100 + self.control().calls().len() as u64;
        let world = TestWorld::new(move || vec![domain(&parts)])
            .with_threads()
            .with_seed(seed);
        let store = world.disk.open_again();
        let control = self.control();
        let work = |mut process: Process| async move {
            let record = to_end(&mut process, control, kind, input).await;
            process.stop().await;
            record
        };
        world.life(store, work).unwrap()
    }

    /// A run whose process dies before a write; what it held in memory dies with it.
    pub fn killed_before(&mut self, write: u64, kind: &str, arguments: Value) -> RunRecord {
        let parts = self.parts();
        let world = TestWorld::new(move || vec![domain(&parts)]).with_threads();
        let input = self.job(arguments, false, Value::Null);
        let started = world.life(world.disk.open_again(), |client: Process| async move {
            client.start(kind, input).await
        });
        let run_id = started.unwrap();
        let store = world.disk.open_again();
        store.crash_at(write, Moment::BeforeWrite);
        let life = |mut process: Process| {
            let run_id = run_id.clone();
            async move {
                process.drive().await;
                let record = process
                    .engine
                    .settle(&run_id, Duration::from_secs(3_600))
                    .await;
                process.stop().await;
                record.unwrap()
            }
        };
        assert!(world.life(store, life).is_none(), "it dies");
        self.held = None;
        world.life(world.disk.open_again(), life).unwrap()
    }

    /// The same for a deployment that goes well.
    pub fn deployed(self) -> Self {
        let record = self.past("stack.deploy", json!({}));
        assert_eq!(record.state, RunState::Completed, "{:?}", record.problem);
        self
    }

    /// A stack whose config has changed since.
    pub fn edited() -> Self {
        let ground = Self::new().deployed();
        ground.edit(
            "visibilityTimeoutSeconds: 30",
            "visibilityTimeoutSeconds: 60",
        );
        ground
    }

    /// The arguments of a call about the project.
    pub fn arguments(&self, more: Value) -> Value {
        let mut all = json!({
            "projectName": "shop", "stage": "dev", "region": "eu-west-1",
            "currentWorkingDirectory": self.project(),
        });
        let all_members = all.as_object_mut().unwrap();
        all_members.extend(more.as_object().unwrap().clone());
        all
    }

    /// Lives in a process that drives runs; its clock moves when nothing else does.
    pub fn in_a_life<F: Future<Output = ()>>(&self, work: impl FnOnce(Process, FakeClock) -> F) {
        let parts = self.parts();
        let world = TestWorld::new(move || vec![domain(&parts)]).with_threads();
        let clock = world.clock.clone();
        let work = |mut process: Process| async move {
            process.drive().await;
            work(process, clock).await;
        };
        world.life(world.disk.open_again(), work).unwrap();
    }

    /// Runs in a process that drives nothing, next to one that drives and holds no values.
    pub fn next_to_a_driver<F: Future<Output = ()>>(&self, work: impl FnOnce(Process) -> F) {
        let (caller, mut driver) = (self.parts(), self.parts());
        driver.values = SecretValues::default();
        let processes = AtomicUsize::new(0);
        let world = TestWorld::new(move || match processes.fetch_add(1, Ordering::Relaxed) {
            0 => vec![domain(&driver)],
            _ => vec![domain(&caller)],
        })
        .with_threads();
        let work = |mut driver: Process| async {
            driver.drive().await;
            work(world.process()).await;
            driver.stop().await;
        };
        world.life(world.disk.open_again(), work).unwrap();
    }

    /// Looks at a process that has the domain.
    pub fn in_a_process(&self, look: impl FnOnce(&Process)) {
        let parts = self.parts();
        let world = TestWorld::new(move || vec![domain(&parts)]);
        let look = |process: Process| async move { look(&process) };
        world.life(world.disk.open_again(), look).unwrap();
    }

    /// The input of a run.
    pub fn job(&self, arguments: Value, confirm: bool, confirmed: Value) -> Value {
        json!({
            "stack": "shop-dev",
            "place": {
                "projectName": "shop", "stage": "dev", "region": "eu-west-1", "profile": null,
                "configPath": null, "directory": self.project(),
            },
            "arguments": arguments,
            "confirm": confirm,
            "confirmed": confirmed,
            "slot": SLOT,
        })
    }

    fn project(&self) -> std::path::PathBuf {
        self.folder.path().join("project")
    }

    fn parts(&self) -> Parts {
        Parts {
            cloud: Arc::clone(&self.cloud) as Arc<dyn Cloud>,
            values: self.values.clone(),
            cache: self.folder.path().join("cache"),
        }
    }
}

/// A run's end. The clock is moved by the starter of the process; a helper renews expired
/// credentials when the run waits for that.
async fn to_end(process: &mut Process, control: &Control, kind: &str, input: Value) -> RunRecord {
    process.drive().await;
    let run_id = process.start(kind, input).await;
    let mut changes = process.store.changes();
    loop {
        changes.mark_unchanged();
        let record = process.engine.settle(&run_id, Duration::ZERO).await;
        let record = record.unwrap();
        if record.state.is_final() {
            process.rest().await;
            return record;
        }
        let mut waits = record.waiting_on.iter();
        if waits.any(|(name, _)| name.starts_with("stack.credentials")) {
            control.expire_credentials(false);
        }
        changes.changed().await.unwrap();
    }
}

fn copy_all(from: &Path, to: &Path) {
    fs_err::create_dir_all(to).unwrap();
    for entry in fs_err::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copy = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_all(&path, &copy);
        } else {
            fs_err::copy(&path, &copy).unwrap();
        }
    }
}

struct Parts {
    cloud: Arc<dyn Cloud>,
    values: SecretValues,
    cache: std::path::PathBuf,
}

fn domain(parts: &Parts) -> Box<dyn Domain> {
    windlass_stack::domain(StackOutside {
        cloud: Arc::clone(&parts.cloud),
        databases: Arc::new(Databases),
        sockets: None,
        git: Arc::new(GitProgram::new([])),
        tools: Found::new(Box::new(|| Tools::find(OsStr::new("")))),
        trust: Arc::new(TrustEverything),
        interpreters: Found::new(Box::new(|| Interpreters::find(OsStr::new(""), []))),
        allowed: Default::default(),
        environment: BTreeMap::new(),
        cache: parts.cache.clone(),
        role_arn: None,
        database_roots: None,
        allowed_functions: Vec::new(),
        extra_regions: Vec::new(),
        allowed_redis_commands: Vec::new(),
        read_only: false,
        values: parts.values.clone(),
        dev: DevOutside {
            manager: Arc::new(|_: &Path| Command::new("/nonexistent")),
            run_hook: Arc::new(|_| Box::pin(async { Err(Problem::internal("dev", "not here")) })),
        },
    })
}

/// The earlier answer to the plan.
#[derive(Clone, Copy, PartialEq)]
pub enum Consent {
    /// Nobody saw it.
    None,
    /// Yes, having seen it in a preview.
    Preview,
}

/// What a run under proof is given.
pub struct StackWorld {
    pub ground: Ground,
    pub arguments: Value,
    pub consent: Consent,
}

impl ProofWorld for StackWorld {
    fn domains(&self) -> Vec<Box<dyn Domain>> {
        vec![domain(&self.ground.parts())]
    }

    fn input(&self) -> Value {
        self.ground.job(self.arguments.clone(), false, Value::Null)
    }

    fn prepare<'a>(&'a self, process: &'a mut Process) -> BoxFuture<'a, Value> {
        Box::pin(async {
            if self.consent == Consent::None {
                return self.input();
            }
            let seen = to_end(
                process,
                self.ground.control(),
                "stack.preview",
                self.input(),
            )
            .await;
            let digest = seen.output.unwrap_or_default()["planDigest"].clone();
            let confirmed = json!({ "planDigest": digest, "runId": seen.run_id });
            self.ground.job(self.arguments.clone(), true, confirmed)
        })
    }

    fn state_hash(&self) -> Digest {
        Digest::of(self.picture().as_bytes())
    }

    fn effects(&self) -> Vec<String> {
        let mut effects = picture::of_events(self.ground.control());
        effects.push(self.picture());
        effects
    }

    fn normalise(&self, text: String) -> String {
        let folder = self.ground.folder.path().display().to_string();
        picture::plain(text.replace(&folder, "FOLDER"))
    }

    fn uses_threads(&self) -> bool {
        true
    }
}

impl StackWorld {
    fn picture(&self) -> String {
        let account = picture::of_account(self.ground.control());
        account + &picture::of_folder(&self.ground.project())
    }
}

/// Waiting takes no time.
struct NoTime;

impl Clock for NoTime {
    fn now(&self) -> Timestamp {
        "2026-01-01T00:00:00Z".parse().unwrap()
    }

    fn sleep_until(&self, _: Timestamp) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
}
