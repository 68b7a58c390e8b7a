//! The manager: the process that holds a session. It starts a stack, answers the HTTP API,
//! follows changes, and ends everything when it is asked to.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use windlass_files::{Access, FileError};
use windlass_types::{Problem, Secret, code};

use crate::assemble::assemble;
use crate::database;
use crate::identity::ProcessIdentity;
use crate::ledger;
use crate::log::Log;
use crate::outside::{Outside, Provisioned};
use crate::plan::{
    AGENT_PORTS, DevPlan, FIRST_AGENT_PORT, Places, in_project, make_folder, remove_file,
};
use crate::session::{Phase, Session, write_private};
use crate::stack::Stack;
use crate::watch::SourceWatch;

/// How long a killed manager may take to let go of its session.
const DYING: Duration = Duration::from_secs(2);

/// The long-lived half of a development session.
pub struct DevManager;

impl DevManager {
    /// Runs a session until it is stopped by its HTTP API or by a signal, as a process of its own:
    /// in no terminal's session, and with the reason of a failure left for the process that started
    /// it. Needs a runtime with several threads.
    pub async fn run(plan: DevPlan, outside: Outside) -> Result<(), Problem> {
        // Refused to the leader of a group, which signals of a terminal do not reach either.
        let _ = rustix::process::setsid();
        let outcome = Self::run_until(plan.clone(), outside, CancellationToken::new()).await;
        outcome.inspect_err(|problem| plan.leave_failure(problem))
    }

    /// The same, and until `stop` is cancelled.
    pub async fn run_until(
        plan: DevPlan,
        outside: Outside,
        stop: CancellationToken,
    ) -> Result<(), Problem> {
        plan.check()?;
        let places = plan.places();
        prepare_folders(&places)?;
        let _lock = hold(&places).await?;
        let left = tokio::task::block_in_place(|| ledger::clean_up(&places));
        if plan.fresh_db {
            database::wipe(&places.data())?;
        }
        let listener = agent_listener(plan.agent_port)?;
        let log = Arc::new(Log::open(places.log(), outside.clock.clone())?);
        for entry in &left {
            log.warn(&format!(
                "ended {} ({}), left behind by an earlier session",
                entry.name, entry.process.pid
            ));
        }
        let session = new_session(&plan, &outside, &places, &listener, log.first())?;
        log.hide(&Secret::new(session.token.clone()));
        for (name, value) in &outside.inherited {
            log.hide_named(name, &Secret::new(value.clone()));
        }
        // Parameters of what is there are part of the variables of workloads.
        let provisioned = match &outside.emulated {
            Some(emulated) => emulated.provision(&plan).await,
            None => Provisioned::new(),
        };
        let stack = Arc::new(assemble(plan, outside, log, session, provisioned, stop)?);
        stack.enter(Phase::Starting)?;
        write_private(&places.params(), &*stack.params)?;
        let agent = crate::agent::serve(listener, stack.clone())?;
        let outcome = live(&stack).await;
        // Failing to write the file must not keep anything running.
        let _ = stack.enter(Phase::Stopping);
        stack.log.info("stopping");
        stack.shut_down().await;
        stack.log.info("stopped");
        let places = &stack.places;
        for file in [&places.session, &places.ledger(), &places.params()] {
            let _ = remove_file(file);
        }
        // Last: the caller who asked to stop sees the process end or the file disappear.
        agent.abort();
        outcome
    }
}

/// From the first start to the wish to stop.
async fn live(stack: &Arc<Stack>) -> Result<(), Problem> {
    let fault = |error| Problem::internal("dev signals", error);
    let mut terminate = signal(SignalKind::terminate()).map_err(fault)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(fault)?;
    // A terminal that closes does not end the session.
    let mut hang_up = signal(SignalKind::hangup()).map_err(fault)?;
    // Before anything starts, so that no change is missed.
    let mut watch = SourceWatch::start(&stack.plan.directory)?;
    let starting = async {
        let began = stack.outside.clock.now();
        stack.start().await;
        stack.enter(Phase::Ready)?;
        let took = stack.outside.clock.now().since(began).as_millis();
        match stack.board.failure() {
            None => stack.log.info(&format!("ready after {took} ms")),
            Some((name, why)) => stack
                .log
                .error(&format!("started after {took} ms, without {name}: {why}")),
        }
        loop {
            match watch.changed().await {
                Some(files) => stack.react(&files).await,
                None => std::future::pending().await,
            }
        }
    };
    tokio::pin!(starting);
    loop {
        tokio::select! {
            outcome = &mut starting => return outcome,
            () = stack.stop.cancelled() => return Ok(()),
            _ = terminate.recv() => return Ok(()),
            _ = interrupt.recv() => return Ok(()),
            _ = hang_up.recv() => {}
        }
    }
}

fn fault(error: std::io::Error) -> Problem {
    Problem::internal("dev session", error)
}

fn prepare_folders(places: &Places) -> Result<(), Problem> {
    let refused = |error: FileError| error.into_problem(fault);
    make_folder(&places.stage).map_err(refused)?;
    // Nothing in here belongs in a repository.
    if let Some(home) = places.session.parent().and_then(Path::parent) {
        let (project, ignore) = in_project(&home.join(".gitignore")).map_err(refused)?;
        if project.kind(&ignore).map_err(refused)?.is_none() {
            project
                .write(&ignore, b"*\n", Access::Usual)
                .map_err(refused)?;
        }
    }
    Ok(())
}

/// Only one manager at a time holds a session; the kernel lets go when it dies, a moment after its
/// process is no longer to be seen.
async fn hold(places: &Places) -> Result<std::fs::File, Problem> {
    let file = in_project(&places.lock)
        .and_then(|(project, below)| project.append_file(&below, Access::Usual))
        .map_err(|error| error.into_problem(fault))?;
    let began = Instant::now();
    while file.try_lock().is_err() {
        if began.elapsed() > DYING {
            return Err(Problem::new(
                &code::BUSY,
                format!(
                    "a development session of this stage is already running ({})",
                    places.session.display()
                ),
            )
            .next("windlass stack dev status"));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(file)
}

fn agent_listener(wanted: Option<u16>) -> Result<TcpListener, Problem> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = match wanted {
        Some(port) => bind(port).map_err(|error| {
            Problem::invalid(
                "agentPort",
                "a free port",
                format!("agentPort {port} cannot be used: {error}"),
            )
        })?,
        None => (FIRST_AGENT_PORT..FIRST_AGENT_PORT + AGENT_PORTS)
            .find_map(|port| bind(port).ok())
            .ok_or_else(|| {
                Problem::invalid(
                    "agentPort",
                    "a free port",
                    format!("no port from {FIRST_AGENT_PORT} on is free; name one with agentPort"),
                )
            })?,
    };
    listener.set_nonblocking(true).map_err(fault)?;
    Ok(listener)
}

fn new_session(
    plan: &DevPlan,
    outside: &Outside,
    places: &Places,
    listener: &TcpListener,
    first_line: u64,
) -> Result<Session, Problem> {
    Ok(Session {
        manager: ProcessIdentity::own()
            .ok_or_else(|| Problem::internal("dev session", "this process has no start time"))?,
        port: listener.local_addr().map_err(fault)?.port(),
        token: random_text(outside),
        phase: Phase::Starting,
        project_name: plan.project_name.clone(),
        stage: plan.stage.clone(),
        region: plan.region.clone(),
        started_at: outside.clock.now(),
        workloads: Vec::new(),
        databases: Vec::new(),
        log_file: places.log(),
        first_line,
        remote: plan.deployed().map(str::to_owned).collect(),
        emulators: plan.emulators.clone(),
    })
}

/// A token or password: 192 bits.
pub(crate) fn random_text(outside: &Outside) -> String {
    hex::encode(windlass_ports::entropy::random::<24>(&*outside.entropy))
}
