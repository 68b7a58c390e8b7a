//! The other half: finds a session by its file and calls its manager.
//!
//! Every function answers with the contract's envelope. Nothing here keeps state: what is true
//! is in the session file, the list of processes and the manager's answers.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use windlass_files::Access;
use windlass_types::{Problem, code};

use crate::agent::log_envelope;
use crate::envelope::Envelope;
use crate::ledger;
use crate::log::{LogQuery, read_page};
use crate::plan::{Places, dev_folder, in_project, make_folder, remove_file};
use crate::session::{Phase, Session};
use crate::status::{NOT_LOCAL, NOTHING_LOCAL};

/// Which session is meant.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The folder of the config.
    pub directory: PathBuf,
    /// The project, if it is named.
    pub project_name: Option<String>,
    /// The stage, if it is named.
    pub stage: Option<String>,
}

/// How a session is started.
pub struct Start<'a> {
    /// The folder of the config.
    pub directory: &'a Path,
    /// The project.
    pub project_name: &'a str,
    /// The stage.
    pub stage: &'a str,
    /// The command that runs the manager, as [`crate::DevManager::run`] does.
    pub manager: Command,
    /// Whether to wait until everything runs, and not only until the manager answers.
    pub wait: bool,
    /// How long it may take until everything runs.
    pub timeout: Duration,
}

const ASK_EVERY: Duration = Duration::from_millis(50);

fn fault(error: impl std::fmt::Display) -> Problem {
    Problem::internal("dev session", error)
}

fn places(session: &Session, directory: &Path) -> Places {
    Places::new(directory, &session.project_name, &session.stage)
}

/// The session that is meant: the named one, or the only live one of the directory.
fn find(wanted: &Wanted) -> Result<Session, Problem> {
    let mut sessions = Session::all(&wanted.directory);
    sessions.retain(|session| {
        wanted
            .stage
            .as_ref()
            .is_none_or(|stage| *stage == session.stage)
            && wanted
                .project_name
                .as_ref()
                .is_none_or(|name| *name == session.project_name)
    });
    let live: Vec<&Session> = sessions
        .iter()
        .filter(|session| session.is_live())
        .collect();
    match (live.as_slice(), sessions.as_slice()) {
        ([only], _) => Ok(Session::clone(only)),
        ([], [only]) => Ok(only.clone()),
        ([], []) => Err(Problem::new(
            &code::NOT_FOUND,
            format!(
                "no development session in {}",
                dev_folder(&wanted.directory).display()
            ),
        )
        .with("kind", "dev session")
        .next("windlass stack dev start")),
        (several, all) => {
            let named: Vec<String> = if several.is_empty() {
                all.iter().collect::<Vec<_>>()
            } else {
                several.to_vec()
            }
            .iter()
            .map(|session| format!("{}-{}", session.project_name, session.stage))
            .collect();
            Err(Problem::invalid(
                "stage",
                "one session",
                format!(
                    "there are several sessions here: {}; name the stage",
                    named.join(", ")
                ),
            )
            .with("reason", "several_sessions")
            .with("sessions", named))
        }
    }
}

/// One request to a manager.
async fn ask(
    session: &Session,
    method: Method,
    path: &str,
    query: &[(&str, String)],
    timeout: Duration,
) -> Result<Envelope, Problem> {
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(timeout)
        .build()
        .map_err(fault)?;
    let address = format!("http://127.0.0.1:{}{path}", session.port);
    let address = url::Url::parse_with_params(&address, query).map_err(fault)?;
    let answer = client
        .request(method, address.as_str())
        .bearer_auth(&session.token)
        .send()
        .await
        .map_err(|error| {
            if error.is_timeout() {
                return Problem::new(
                    &code::TIMEOUT,
                    format!(
                        "the manager did not answer {path} within {} s",
                        timeout.as_secs()
                    ),
                );
            }
            fault(error.without_url()).with("reason", "unreachable")
        })?;
    answer
        .json()
        .await
        .map_err(|error| fault(error.without_url()))
}

/// What a session is when its manager is gone.
fn dead(session: &Session, directory: &Path) -> Envelope {
    let left: Vec<Value> = ledger::left_behind(&places(session, directory))
        .into_iter()
        .map(|entry| json!({ "name": entry.name, "pid": entry.process.pid }))
        .collect();
    let data = json!({
        "phase": Phase::Stopped, "ready": false, "workloads": {}, "leftBehind": left,
        "lastPid": session.manager.pid, "lastPhase": session.phase,
    });
    let message = format!(
        "the manager of {}-{} is gone; start or stop ends what it left behind",
        session.project_name, session.stage
    );
    Envelope::ok(message, data)
}

/// Starts a session, or finds the one that runs, and waits until it is ready.
pub async fn start(mut start: Start<'_>) -> Result<Envelope, Problem> {
    let places = Places::new(start.directory, start.project_name, start.stage);
    let began = Instant::now();
    let mut child = None;
    loop {
        let session = Session::read(&places.session).filter(Session::is_live);
        // A session that ends while it is waited for makes room for a new one.
        if session.is_none() && child.is_none() {
            child = Some(spawn(&mut start.manager, &places)?);
        }
        if let Some(session) = session {
            // A manager that is just opening its port is asked again.
            if let Ok(status) = ask(
                &session,
                Method::GET,
                "/status",
                &[],
                Duration::from_secs(5),
            )
            .await
            {
                let data = status.data.unwrap_or_default();
                if data["phase"] == json!(Phase::Ready) || data["phase"] == json!(Phase::Rebuilding)
                {
                    return Ok(started(&session, &data, child.is_none()));
                }
                if !start.wait && data["phase"] == json!(Phase::Starting) {
                    return Ok(starting(&session));
                }
            }
        }
        if let Some(status) = child.as_mut().and_then(Spawned::ended) {
            return Err(ended(&places, status));
        }
        if began.elapsed() > start.timeout {
            return Err(Problem::new(
                &code::TIMEOUT,
                format!(
                    "not ready after {} s; it is still starting",
                    start.timeout.as_secs()
                ),
            )
            .next("windlass stack dev status"));
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
}

/// Starts the manager; it takes itself out of this terminal's session.
fn spawn(manager: &mut Command, places: &Places) -> Result<Spawned, Problem> {
    make_folder(&places.stage).map_err(|error| error.into_problem(fault))?;
    // Reasons of an earlier failure are none of this one.
    let _ = remove_file(&places.failure());
    let output = in_project(&places.output())
        .and_then(|(project, below)| project.create_file(&below, Access::Usual))
        .map_err(|error| error.into_problem(fault))?;
    manager
        .stdin(Stdio::null())
        .stdout(output.try_clone().map_err(fault)?)
        .stderr(output)
        .spawn()
        .map(|child| Spawned(Some(child)))
        .map_err(fault)
}

/// A manager that this process started.
struct Spawned(Option<Child>);

impl Spawned {
    fn ended(&mut self) -> Option<ExitStatus> {
        self.0.as_mut()?.try_wait().ok().flatten()
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        // It continues without us; whichever process lives longer collects it.
        if let Some(mut child) = self.0.take() {
            std::thread::spawn(move || child.wait());
        }
    }
}

/// Why a manager ended that should have gone on.
fn ended(places: &Places, status: ExitStatus) -> Problem {
    let failure = fs_err::read(places.failure()).ok();
    if let Some(problem) = failure.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
        return problem;
    }
    let output = fs_err::read_to_string(places.output()).unwrap_or_default();
    Problem::new(
        &code::STEP_FAILED,
        format!("the manager ended with {status}: {}", output.trim()),
    )
    .with("reason", "workload_failed")
}

fn starting(session: &Session) -> Envelope {
    let data = json!({
        "agentPort": session.port, "pid": session.manager.pid, "workloads": {},
        "phase": Phase::Starting, "ready": false, "cursor": session.first_line,
    });
    Envelope::ok("starting", data)
}

fn started(session: &Session, status: &Value, was_running: bool) -> Envelope {
    let data = json!({
        "agentPort": session.port, "pid": session.manager.pid, "workloads": status["workloads"],
        "databases": status["databases"], "elsewhere": status["elsewhere"],
        "ready": status["ready"], "reused": was_running, "cursor": session.first_line,
    });
    let failing = ["workloads", "databases", "elsewhere"]
        .iter()
        .find_map(|part| {
            let entries = status[*part].as_object()?;
            entries.iter().find_map(|(name, shown)| {
                let why = shown.as_str()?.strip_prefix("error: ")?;
                Some(format!("{name}: {why}"))
            })
        });
    let mut message = match failing {
        Some(why) => return Envelope::failed("INTERNAL_ERROR", why, Some(data)),
        None if was_running => "the session was already running".to_owned(),
        None => "ready".to_owned(),
    };
    let absent = absent(status);
    if !absent.is_empty() {
        message.push_str(&format!("; not running locally: {}", absent.join(", ")));
    }
    Envelope::ok(message, data)
}

/// What the config has and the session does not, though workloads may need it.
fn absent(status: &Value) -> Vec<&str> {
    let elsewhere = status["elsewhere"].as_object();
    let absent = elsewhere.into_iter().flatten().filter(|(_, shown)| {
        let why = shown.as_str().and_then(|it| it.strip_prefix(NOT_LOCAL));
        why.is_some_and(|why| why != NOTHING_LOCAL)
    });
    absent.map(|(name, _)| name.as_str()).collect()
}

/// The state of the session, also when its manager is gone.
pub async fn status(wanted: &Wanted, verbose: bool) -> Result<Envelope, Problem> {
    let session = find(wanted)?;
    if !session.is_live() {
        return Ok(dead(&session, &wanted.directory));
    }
    ask(
        &session,
        Method::GET,
        "/status",
        &[("verbose", verbose.to_string())],
        Duration::from_secs(10),
    )
    .await
}

/// A page of the log, also when the manager is gone.
pub async fn logs(wanted: &Wanted, query: &LogQuery) -> Result<Envelope, Problem> {
    let session = find(wanted)?;
    if query
        .limit
        .is_some_and(|limit| limit == 0 || limit > crate::log::MAX_LIMIT)
    {
        return Err(Problem::invalid(
            "limit",
            "1 to 1000",
            "limit must be from 1 to 1000",
        ));
    }
    let query = LogQuery {
        since: session.first_line,
        ..query.clone()
    };
    Ok(log_envelope(&read_page(&session.log_file, &query)?))
}

/// Rebuilds one workload and waits for it.
pub async fn rebuild(wanted: &Wanted, workload: &str) -> Result<Envelope, Problem> {
    let session = live(wanted)?;
    let known = session
        .workloads
        .iter()
        .any(|name| name == workload || name.starts_with(&format!("{workload}/")));
    if !known {
        return Err(Problem::new(
            &code::NOT_FOUND,
            format!(
                "there is no workload '{workload}'; there are {}",
                session.workloads.join(", ")
            ),
        )
        .with("kind", "workload"));
    }
    ask(
        &session,
        Method::POST,
        &format!("/rebuild/{workload}"),
        &[],
        Duration::from_secs(300),
    )
    .await
}

/// Rebuilds all workloads and waits for them.
pub async fn rebuild_all(wanted: &Wanted) -> Result<Envelope, Problem> {
    ask(
        &live(wanted)?,
        Method::POST,
        "/rebuild/all",
        &[],
        Duration::from_secs(300),
    )
    .await
}

fn live(wanted: &Wanted) -> Result<Session, Problem> {
    let session = find(wanted)?;
    if session.is_live() {
        return Ok(session);
    }
    Err(Problem::new(
        &code::NOT_FOUND,
        format!(
            "the session {}-{} is no longer running",
            session.project_name, session.stage
        ),
    )
    .with("kind", "dev session")
    .next("windlass stack dev start"))
}

/// Ends a session and everything in it, also when its manager is gone.
pub async fn stop(wanted: &Wanted) -> Result<Envelope, Problem> {
    let session = find(wanted)?;
    let places = places(&session, &wanted.directory);
    if session.is_live() {
        // A manager that has ended before it could answer has done what was asked.
        let asked = ask(
            &session,
            Method::POST,
            "/stop",
            &[],
            Duration::from_secs(10),
        )
        .await;
        let began = Instant::now();
        while session.is_live() && places.session.exists() {
            if began.elapsed() > Duration::from_secs(60) {
                return asked.and(Err(Problem::new(
                    &code::TIMEOUT,
                    "the manager did not end within 60 s",
                )));
            }
            tokio::time::sleep(ASK_EVERY).await;
        }
    }
    let left = tokio::task::spawn_blocking(move || {
        let left = ledger::clean_up(&places);
        let _ = remove_file(&places.session);
        left
    })
    .await
    .map_err(fault)?;
    let ended: Vec<String> = left.into_iter().map(|entry| entry.name).collect();
    Ok(Envelope::ok(
        "stopped",
        json!({ "pid": session.manager.pid, "leftBehind": ended }),
    ))
}
