//! One function: a process that works off events, replaced when its code changes or it dies.
//!
//! A replacement is started next to the old process and takes over once it asks for work, so a
//! change that cannot be loaded never takes a working function away.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use windlass_ports::Clock;
use windlass_types::{Problem, Secret, code};

use crate::code::Prepared;
use crate::log::Level;
use crate::process::{Host, Launch, Running};
use crate::runtime_api::{Init, InvokeFailure, RuntimeApi};
use crate::status::{Board, Condition};

/// Restarts after a crash before a function is given up; an answer sets the count back.
pub(crate) const RESTARTS: u32 = 3;
/// How long loading the code may take.
const INIT_TIME: Duration = Duration::from_secs(30);

/// Makes the code ready; runs again for every rebuild.
pub(crate) type Prepare = Box<dyn Fn() -> Result<Prepared, Problem> + Send + Sync>;
/// The variables, asked for at every start.
pub(crate) type Variables =
    Box<dyn Fn() -> Result<Vec<(String, Secret<String>)>, Problem> + Send + Sync>;

/// What a function is.
pub(crate) struct FunctionSpec {
    pub name: String,
    pub full_name: String,
    pub arn: String,
    pub memory: u32,
    pub timeout: Duration,
    pub region: String,
    /// The folder that places in messages are relative to.
    pub project: PathBuf,
    pub prepare: Prepare,
    pub variables: Variables,
    pub address: Option<String>,
}

struct Instance {
    api: RuntimeApi,
    process: Running,
    was_too_slow: AtomicBool,
}

#[derive(Clone)]
enum Slot {
    Starting,
    Ready(Arc<Instance>),
    Failed(String),
    Stopped,
}

/// A function that runs here.
pub(crate) struct LocalFunction {
    spec: FunctionSpec,
    host: Arc<Host>,
    board: Arc<Board>,
    clock: Arc<dyn Clock>,
    slot: watch::Sender<Slot>,
    crashes: AtomicU32,
    invocations: AtomicU64,
    /// One replacement at a time.
    replacing: tokio::sync::Mutex<()>,
}

impl LocalFunction {
    pub fn new(
        spec: FunctionSpec,
        host: Arc<Host>,
        board: Arc<Board>,
        clock: Arc<dyn Clock>,
    ) -> Arc<Self> {
        Arc::new(Self {
            spec,
            host,
            board,
            clock,
            slot: watch::channel(Slot::Starting).0,
            crashes: AtomicU32::new(0),
            invocations: AtomicU64::new(0),
            replacing: tokio::sync::Mutex::new(()),
        })
    }

    /// Starts it, or puts new code in its place; the old process stays when that fails.
    pub async fn rebuild(self: &Arc<Self>) -> Result<(), Problem> {
        let _one_at_a_time = self.replacing.lock().await;
        self.crashes.store(0, Ordering::Relaxed);
        match self.instance().await {
            Ok(instance) => {
                self.put(instance);
                Ok(())
            }
            Err(problem) => {
                self.host
                    .log
                    .write(&self.spec.name, Level::Error, problem.message());
                self.slot.send_if_modified(|slot| {
                    let has_none = !matches!(slot, Slot::Ready(_) | Slot::Stopped);
                    if has_none {
                        *slot = Slot::Failed(problem.message().to_owned());
                        self.board.set(
                            &self.spec.name,
                            Condition::Failed(problem.message().to_owned()),
                        );
                    }
                    has_none
                });
                Err(problem)
            }
        }
    }

    /// A process that has loaded the code and asks for work.
    async fn instance(&self) -> Result<Instance, Problem> {
        let spec = &self.spec;
        let prepared = tokio::task::block_in_place(|| (spec.prepare)())?;
        let api = RuntimeApi::listen(self.clock.clone(), spec.arn.clone(), spec.timeout).await?;
        let mut launch =
            Launch::new(prepared.run.program, &prepared.root).arguments(prepared.run.arguments);
        for (name, value) in [
            ("AWS_LAMBDA_RUNTIME_API", api.address()),
            ("_HANDLER", &prepared.handler),
            ("LAMBDA_TASK_ROOT", &prepared.root.display().to_string()),
            ("AWS_LAMBDA_FUNCTION_NAME", &spec.full_name),
            ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
            ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", &spec.memory.to_string()),
            (
                "AWS_LAMBDA_LOG_GROUP_NAME",
                &format!("/aws/lambda/{}", spec.full_name),
            ),
            ("AWS_LAMBDA_LOG_STREAM_NAME", "local"),
            ("AWS_REGION", &spec.region),
            ("AWS_DEFAULT_REGION", &spec.region),
            ("TZ", ":UTC"),
        ] {
            launch = launch.variable(name, value);
        }
        launch.environment.extend((spec.variables)()?);
        let process = self.host.start(&spec.name, &launch)?;
        let loaded = tokio::select! {
            biased;
            init = api.initialised() => match init {
                Init::Done => Ok(()),
                Init::Failed(error) => Err(error.located(&spec.project)),
                Init::Running => Err("its runtime API closed".to_owned()),
            },
            how = process.ended() => Err(format!("its process ended ({how})")),
            () = tokio::time::sleep(INIT_TIME) => {
                Err(format!("it did not ask for work within {} s", INIT_TIME.as_secs()))
            }
        };
        match loaded {
            Ok(()) => Ok(Instance {
                api,
                process,
                was_too_slow: AtomicBool::new(false),
            }),
            Err(why) => {
                process.stop().await;
                Err(Problem::new(
                    &code::STEP_FAILED,
                    format!("function {} could not be started: {why}", spec.name),
                )
                .with("reason", "workload_failed")
                .with("workload", spec.name.as_str())
                .with("output", process.tail()))
            }
        }
    }

    fn put(self: &Arc<Self>, instance: Instance) {
        let instance = Arc::new(instance);
        let mut is_stopped = false;
        let old = self.slot.send_replace(Slot::Ready(instance.clone()));
        match old {
            Slot::Ready(old) => {
                tokio::spawn(retire(old, self.spec.timeout));
            }
            Slot::Stopped => is_stopped = true,
            Slot::Starting | Slot::Failed(_) => {}
        }
        if is_stopped {
            self.slot.send_replace(Slot::Stopped);
            instance.process.kill();
            return;
        }
        self.board.set(
            &self.spec.name,
            Condition::Running(self.spec.address.clone()),
        );
        let function = self.clone();
        tokio::spawn(async move { function.watch_over(instance).await });
    }

    /// Restarts a process that exits by itself.
    async fn watch_over(self: Arc<Self>, instance: Arc<Instance>) {
        let how = instance.process.ended().await;
        instance.api.close();
        let _one_at_a_time = self.replacing.lock().await;
        let is_current =
            matches!(&*self.slot.borrow(), Slot::Ready(current) if Arc::ptr_eq(current, &instance));
        if !is_current {
            return;
        }
        let was_too_slow = instance.was_too_slow.load(Ordering::Relaxed);
        let crashes = if was_too_slow {
            0
        } else {
            self.crashes.fetch_add(1, Ordering::Relaxed) + 1
        };
        if crashes > RESTARTS {
            let why = format!(
                "its process ended {crashes} times in a row, last with {how}; fix it and rebuild"
            );
            self.fail(why);
            return;
        }
        self.slot.send_replace(Slot::Starting);
        self.board.set(&self.spec.name, Condition::Starting);
        self.board.restarted(&self.spec.name);
        let reason = if was_too_slow {
            "ran into its timeout".to_owned()
        } else {
            format!("ended ({how})")
        };
        self.host.log.write(
            &self.spec.name,
            Level::Warn,
            &format!("the process {reason} and is started again"),
        );
        match self.instance().await {
            Ok(instance) => self.put(instance),
            Err(problem) => self.fail(problem.message().to_owned()),
        }
    }

    fn fail(&self, why: String) {
        self.host.log.write(&self.spec.name, Level::Error, &why);
        self.board
            .set(&self.spec.name, Condition::Failed(why.clone()));
        self.slot.send_if_modified(|slot| {
            let goes_on = !matches!(slot, Slot::Stopped);
            if goes_on {
                *slot = Slot::Failed(why);
            }
            goes_on
        });
    }

    /// Gives the function one event.
    pub async fn invoke(&self, event: Bytes) -> Result<Bytes, InvokeFailure> {
        let number = self.invocations.fetch_add(1, Ordering::Relaxed);
        let millis = self.clock.now().as_millis();
        let id = format!(
            "{:08x}-0000-4000-8000-{:012x}",
            millis & 0xffff_ffff,
            number
        );
        let trace = format!("Root=1-{:08x}-{number:024x};Sampled=0", millis / 1000);
        let (instance, outcome) = loop {
            let instance = self.settled().await?;
            let taken = instance
                .api
                .invoke(id.clone(), trace.clone(), event.clone())
                .await;
            if let Some(outcome) = taken {
                break (instance, outcome);
            }
            // Its process died before it took the event: the next one does.
            self.replaced(&instance).await;
        };
        match &outcome {
            Ok(_) | Err(InvokeFailure::Function(_)) => self.crashes.store(0, Ordering::Relaxed),
            Err(InvokeFailure::Timeout(_)) => {
                instance.was_too_slow.store(true, Ordering::Relaxed);
                instance.process.kill();
            }
            Err(InvokeFailure::Exited | InvokeFailure::Unavailable(_)) => {}
        }
        if let Err(failure) = &outcome {
            self.host
                .log
                .write(&self.spec.name, Level::Error, &failure.to_string());
        }
        outcome
    }

    /// The process that takes events, once it is known which that is.
    async fn settled(&self) -> Result<Arc<Instance>, InvokeFailure> {
        let unavailable = |why: &str| Err(InvokeFailure::Unavailable(why.to_owned()));
        let mut slot = self.slot.subscribe();
        let settled = slot.wait_for(|slot| !matches!(slot, Slot::Starting));
        match tokio::time::timeout(INIT_TIME, settled).await {
            Ok(Ok(slot)) => match &*slot {
                Slot::Ready(instance) => Ok(instance.clone()),
                Slot::Failed(why) => unavailable(why),
                Slot::Starting | Slot::Stopped => unavailable("it is stopped"),
            },
            Ok(Err(_)) | Err(_) => unavailable("it is still starting"),
        }
    }

    /// Waits until another process, or none, is in the place of this one.
    async fn replaced(&self, old: &Arc<Instance>) {
        let mut slot = self.slot.subscribe();
        let other = slot
            .wait_for(|slot| !matches!(slot, Slot::Ready(current) if Arc::ptr_eq(current, old)));
        // The supervisor of the process replaces it; the wait is still bounded.
        let _ = tokio::time::timeout(INIT_TIME, other).await;
    }

    /// Ends it for good.
    pub async fn stop(&self) {
        if let Slot::Ready(instance) = self.slot.send_replace(Slot::Stopped) {
            instance.process.stop().await;
            instance.api.close();
        }
    }
}

/// Lets the old process finish what it works on, then ends it.
async fn retire(old: Arc<Instance>, timeout: Duration) {
    let finished = async {
        while !old.api.is_idle() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    // Its own timeout bounds the work; after that nobody waits for it.
    let _ = tokio::time::timeout(timeout, finished).await;
    old.process.stop().await;
}
