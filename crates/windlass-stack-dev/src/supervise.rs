//! A process that should always run: started, waited for, watched, started again at most three
//! times.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use windlass_ports::BoxFuture;
use windlass_types::{Problem, code};

use crate::function::RESTARTS;
use crate::lock::locked;
use crate::log::Level;
use crate::process::{Host, Launch, Running};
use crate::status::{Board, Condition};

/// How long a process may take until it is ready.
const READY_TIME: Duration = Duration::from_secs(60);
/// How often a process that starts is asked whether it is ready.
const ASK_EVERY: Duration = Duration::from_millis(25);
/// How often one that runs is asked.
const HEALTH_EVERY: Duration = Duration::from_secs(30);

/// Makes what is started; runs again for every start.
pub(crate) type Make = Box<dyn Fn() -> Result<Launch, Problem> + Send + Sync>;
/// Whether it can be used.
pub(crate) type Probe = Box<dyn Fn() -> BoxFuture<'static, bool> + Send + Sync>;

/// A supervised process.
pub(crate) struct Supervised {
    /// The name in the log.
    pub name: String,
    /// The resource on the board.
    pub resource: String,
    pub address: Option<String>,
    pub host: Arc<Host>,
    pub board: Arc<Board>,
    pub make: Make,
    pub probe: Option<Probe>,
    current: Mutex<Option<Arc<Running>>>,
    stopped: CancellationToken,
    changing: tokio::sync::Mutex<()>,
}

impl Supervised {
    pub fn new(
        name: &str,
        resource: &str,
        address: Option<String>,
        host: Arc<Host>,
        board: Arc<Board>,
        make: Make,
        probe: Option<Probe>,
    ) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            resource: resource.to_owned(),
            address,
            host,
            board,
            make,
            probe,
            current: Mutex::default(),
            stopped: CancellationToken::new(),
            changing: tokio::sync::Mutex::new(()),
        })
    }

    /// Starts it and returns when it is ready.
    pub async fn start(self: &Arc<Self>) -> Result<(), Problem> {
        let launch = tokio::task::block_in_place(|| (self.make)());
        let started = match launch {
            Ok(launch) => self.launch(&launch).await,
            Err(problem) => Err(problem),
        };
        match started {
            Ok(running) => {
                self.watch(running, 0);
                Ok(())
            }
            Err(problem) => {
                self.fail(problem.message());
                Err(problem)
            }
        }
    }

    /// Runs it to its end, once.
    pub async fn run_once(self: &Arc<Self>) -> Result<(), Problem> {
        let _one_at_a_time = self.changing.lock().await;
        let launch = tokio::task::block_in_place(|| (self.make)())?;
        let running = Arc::new(self.host.start(&self.name, &launch)?);
        *locked(&self.current) = Some(running.clone());
        self.board.set(&self.resource, Condition::Running(None));
        let how = running.ended().await;
        *locked(&self.current) = None;
        if how == "exit status: 0" {
            self.board.set(&self.resource, Condition::Idle);
            return Ok(());
        }
        let why = format!("{} ended with {how}", self.name);
        self.fail(&why);
        Err(Problem::new(&code::STEP_FAILED, why)
            .with("reason", "workload_failed")
            .with("workload", self.resource.as_str())
            .with("output", running.tail()))
    }

    /// Rebuilds it; a failed build leaves the old process running.
    pub async fn rebuild(self: &Arc<Self>) -> Result<(), Problem> {
        let _one_at_a_time = self.changing.lock().await;
        let launch = tokio::task::block_in_place(|| (self.make)())?;
        let old = locked(&self.current).take();
        if let Some(old) = old {
            old.stop().await;
        }
        let running = self
            .launch(&launch)
            .await
            .inspect_err(|problem| self.fail(problem.message()))?;
        self.watch(running, 0);
        Ok(())
    }

    async fn launch(&self, launch: &Launch) -> Result<Arc<Running>, Problem> {
        if self.stopped.is_cancelled() {
            return Err(Problem::new(
                &code::CANCELLED,
                format!("{} is being stopped", self.name),
            ));
        }
        let running = Arc::new(self.host.start(&self.name, launch)?);
        let ready = async {
            if let Some(probe) = &self.probe {
                while !probe().await {
                    tokio::time::sleep(ASK_EVERY).await;
                }
            }
        };
        let outcome = tokio::select! {
            biased;
            how = running.ended() => Err(format!("its process ended ({how})")),
            () = self.stopped.cancelled() => Err("it is being stopped".to_owned()),
            waited = tokio::time::timeout(READY_TIME, ready) => {
                waited.map_err(|_| format!("it was not ready within {} s", READY_TIME.as_secs()))
            }
        };
        if let Err(why) = outcome {
            running.stop().await;
            return Err(Problem::new(
                &code::STEP_FAILED,
                format!("{} could not be started: {why}", self.name),
            )
            .with("reason", "workload_failed")
            .with("workload", self.resource.as_str())
            .with("output", running.tail()));
        }
        Ok(running)
    }

    fn watch(self: &Arc<Self>, running: Arc<Running>, restarts: u32) {
        *locked(&self.current) = Some(running.clone());
        self.board
            .set(&self.resource, Condition::Running(self.address.clone()));
        let supervised = self.clone();
        // Boxed: a restart watches again.
        let watching: BoxFuture<'static, ()> = Box::pin(async move {
            let how = supervised.until_ended(&running).await;
            supervised.after_end(&running, &how, restarts).await;
        });
        tokio::spawn(watching);
    }

    /// Waits for the end; a process that fails two health checks in a row is ended.
    async fn until_ended(&self, running: &Running) -> String {
        let mut failures = 0;
        loop {
            tokio::select! {
                how = running.ended() => return how,
                () = tokio::time::sleep(HEALTH_EVERY) => {}
            }
            let is_healthy = match &self.probe {
                Some(probe) => probe().await,
                None => true,
            };
            failures = if is_healthy { 0 } else { failures + 1 };
            if failures == 2 {
                self.host
                    .log
                    .write(&self.name, Level::Warn, "does not answer and is ended");
                running.stop().await;
            }
        }
    }

    async fn after_end(self: &Arc<Self>, running: &Arc<Running>, how: &str, restarts: u32) {
        let _one_at_a_time = self.changing.lock().await;
        let is_current = locked(&self.current)
            .as_ref()
            .is_some_and(|current| Arc::ptr_eq(current, running));
        if self.stopped.is_cancelled() || !is_current {
            return;
        }
        if restarts == RESTARTS {
            self.fail(&format!(
                "ended again after {RESTARTS} restarts ({how}); fix it and rebuild"
            ));
            return;
        }
        self.board.set(&self.resource, Condition::Starting);
        self.board.restarted(&self.resource);
        self.host.log.write(
            &self.name,
            Level::Warn,
            &format!("ended ({how}) and is started again"),
        );
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(100 << restarts)) => {}
            () = self.stopped.cancelled() => return,
        }
        let launch = tokio::task::block_in_place(|| (self.make)());
        let again = match launch {
            Ok(launch) => self.launch(&launch).await,
            Err(problem) => Err(problem),
        };
        match again {
            Ok(running) => self.watch(running, restarts + 1),
            Err(problem) => self.fail(problem.message()),
        }
    }

    fn fail(&self, why: &str) {
        if self.stopped.is_cancelled() {
            return;
        }
        *locked(&self.current) = None;
        self.host.log.write(&self.name, Level::Error, why);
        self.board
            .set(&self.resource, Condition::Failed(why.to_owned()));
    }

    /// Ends it for good.
    pub async fn stop(&self) {
        self.stopped.cancel();
        let _no_change_under_way = self.changing.lock().await;
        let running = locked(&self.current).take();
        if let Some(running) = running {
            running.stop().await;
        }
    }
}

/// Whether a process listens on a port of loopback.
pub(crate) fn listens(port: u16) -> Probe {
    Box::new(move || {
        Box::pin(async move {
            let connected = tokio::net::TcpStream::connect((std::net::Ipv4Addr::LOCALHOST, port));
            tokio::time::timeout(Duration::from_secs(1), connected)
                .await
                .is_ok_and(|it| it.is_ok())
        })
    })
}
