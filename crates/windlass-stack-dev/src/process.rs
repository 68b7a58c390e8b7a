//! One process of a session: started in a group of its own, its output in the log, its id
//! written down, ended with everything it started.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};
use tokio::sync::watch;
use windlass_types::{Problem, Secret};

use crate::identity::ProcessIdentity;
use crate::ledger::{Ending, Entry, Ledger};
use crate::lock::locked;
use crate::log::{Level, Log};

/// What all processes of a session share.
pub(crate) struct Host {
    pub log: Arc<Log>,
    pub ledger: Arc<Ledger>,
    pub inherited: BTreeMap<String, String>,
    pub marker: (&'static str, String),
}

/// What to start.
#[derive(Clone)]
pub(crate) struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub directory: PathBuf,
    pub environment: Vec<(String, Secret<String>)>,
    pub input: Option<Secret<String>>,
    pub ending: Ending,
    pub grace: Duration,
}

impl Launch {
    pub fn new(program: impl Into<PathBuf>, directory: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            directory: directory.into(),
            environment: Vec::new(),
            input: None,
            ending: Ending::Terminate,
            grace: Duration::from_secs(2),
        }
    }

    pub fn arguments(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    pub fn variable(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment
            .push((name.to_owned(), Secret::new(value.into())));
        self
    }
}

/// A process that was started. Its group ends when this is dropped.
pub(crate) struct Running {
    pid: Pid,
    ending: Ending,
    grace: Duration,
    /// Whether the process was collected: from then on its id may belong to another process.
    collected: Arc<Mutex<bool>>,
    ended: watch::Receiver<Option<String>>,
    tail: Arc<Mutex<Vec<String>>>,
}

/// Lines of output kept for the message of a failed start.
const TAIL_LINES: usize = 40;

impl Host {
    /// Starts a process whose output goes to the log under a name.
    pub fn start(&self, name: &str, launch: &Launch) -> Result<Running, Problem> {
        let mut command = windlass_process::command(&launch.program);
        command
            .args(&launch.arguments)
            .current_dir(&launch.directory)
            .env_clear()
            .envs(&self.inherited)
            .envs(
                launch
                    .environment
                    .iter()
                    .map(|(name, value)| (name, value.expose_secret())),
            )
            .env(self.marker.0, &self.marker.1)
            .stdin(if launch.input.is_some() {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command.spawn().map_err(|error| {
            Problem::internal(
                "dev process",
                format!("{}: {error}", launch.program.display()),
            )
            .with("reason", "workload_failed")
            .with("workload", name)
        })?;
        let pid = Pid::from_child(&child);
        let identity = ProcessIdentity::of(pid.as_raw_nonzero().get()).unwrap_or(ProcessIdentity {
            pid: pid.as_raw_nonzero().get(),
            start_time: String::new(),
        });
        let recorded = self.ledger.add(Entry {
            name: name.to_owned(),
            process: identity.clone(),
            ending: launch.ending,
        });
        if let Err(problem) = recorded {
            // Nobody would find it again.
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = child.wait();
            return Err(problem);
        }
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), &launch.input) {
            // A process that ends without reading says why in its output.
            let _ = stdin.write_all(input.expose_secret().as_bytes());
        }
        let tail = Arc::new(Mutex::new(Vec::new()));
        if let Some(stdout) = child.stdout.take() {
            self.follow(name, Level::Info, stdout, &tail);
        }
        if let Some(stderr) = child.stderr.take() {
            self.follow(name, Level::Error, stderr, &tail);
        }
        let (sender, ended) = watch::channel(None);
        let collected = Arc::new(Mutex::new(false));
        let (flag, ledger, process) = (collected.clone(), self.ledger.clone(), identity);
        // Without this thread the end would go unnoticed; spawning one fails only when the
        // machine is out of everything, and then the receiver reports the end at once.
        let _ = thread::Builder::new()
            .name(format!("dev-{name}"))
            .spawn(move || {
                let how = collect(child, pid, &flag);
                ledger.remove(&process);
                // Nobody waits for a process that was dropped.
                let _ = sender.send(Some(how));
            });
        Ok(Running {
            pid,
            ending: launch.ending,
            grace: launch.grace,
            collected,
            ended,
            tail,
        })
    }

    fn follow(
        &self,
        name: &str,
        level: Level,
        output: impl Read + Send + 'static,
        tail: &Arc<Mutex<Vec<String>>>,
    ) {
        let (log, name, tail) = (self.log.clone(), name.to_owned(), tail.clone());
        // A thread that cannot be made costs the log of this output.
        let _ = thread::Builder::new()
            .name(format!("dev-log-{name}"))
            .spawn(move || {
                let mut reader = BufReader::new(output);
                let mut line = Vec::new();
                while reader
                    .read_until(b'\n', &mut line)
                    .is_ok_and(|read| read > 0)
                {
                    let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                    log.write(&name, level, &text);
                    let mut tail = locked(&tail);
                    if tail.len() == TAIL_LINES {
                        tail.remove(0);
                    }
                    tail.push(log.redact(&text));
                    line.clear();
                }
            });
    }
}

/// Waits for the end, ends what is left of the group, and says how it ended.
fn collect(mut child: Child, pid: Pid, collected: &Mutex<bool>) -> String {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    // An error means that the process is gone, which is what is waited for.
    let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
    let mut collected = locked(collected);
    let _ = kill_process_group(pid, Signal::KILL);
    let status = child.wait();
    *collected = true;
    match status {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    }
}

impl Running {
    /// Resolves with how it ended.
    pub async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(how) => how.clone().unwrap_or_default(),
            Err(_) => "ended".to_owned(),
        }
    }

    /// The last lines of its output.
    pub fn tail(&self) -> String {
        locked(&self.tail).join("\n")
    }

    /// Asks it to end, waits, and ends it.
    pub async fn stop(&self) {
        self.signal(match self.ending {
            Ending::Terminate => Signal::TERM,
            Ending::Interrupt => Signal::INT,
        });
        if tokio::time::timeout(self.grace, self.ended())
            .await
            .is_err()
        {
            self.kill();
            self.ended().await;
        }
    }

    /// Ends it and its group now.
    pub fn kill(&self) {
        let collected = locked(&self.collected);
        if !*collected {
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
    }

    fn signal(&self, signal: Signal) {
        let collected = locked(&self.collected);
        if !*collected {
            let _ = match self.ending {
                Ending::Terminate => kill_process_group(self.pid, signal),
                Ending::Interrupt => kill_process(self.pid, signal),
            };
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}
