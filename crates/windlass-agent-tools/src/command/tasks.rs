//! Commands in the background. They end with the session.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use windlass_ports::{Entropy, entropy::random};
use windlass_process::Workplace;
use windlass_types::Timestamp;

use super::{
    output,
    process::{self, Captures, Ended, Job},
};
use crate::{Code, Failure, Spilled};

/// More commands do not run in the background at once.
pub const TASKS_AT_ONCE: usize = 16;
/// As many that have ended are remembered.
const MOST_ENDED: usize = 64;
const ID_LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// The background commands of a session. Dropped, all of them are stopped.
pub struct Tasks {
    list: Mutex<Vec<Arc<Entry>>>,
    workplace: Arc<Workplace>,
}

/// Where a task is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// It runs.
    Running,
    /// It ended with this code.
    Exited(i32),
    /// A signal ended it.
    Signalled(i32),
    /// Its time was up.
    TimedOut,
    /// It was cancelled.
    Cancelled,
    /// It could not be run.
    Failed(String),
}

/// What a task is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Six letters and digits.
    pub id: String,
    /// The command.
    pub command: String,
    /// When it was started.
    pub started_at: Timestamp,
    /// How long it ran.
    pub duration: Duration,
    /// Where it is.
    pub state: TaskState,
    /// The end of its output.
    pub output: String,
    /// Files with all of it.
    pub spilled: Vec<Spilled>,
}

struct Entry {
    id: String,
    command: String,
    started_at: Timestamp,
    began: Instant,
    captures: Captures,
    cancel: CancellationToken,
    state: watch::Sender<(TaskState, Option<Duration>)>,
}

impl fmt::Display for TaskState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running => formatter.write_str("running"),
            Self::Exited(0) => formatter.write_str("completed"),
            Self::Exited(code) => write!(formatter, "failed (exited with code {code})"),
            Self::Signalled(signal) => write!(formatter, "failed (ended by signal {signal})"),
            Self::TimedOut => formatter.write_str("timed out"),
            Self::Cancelled => formatter.write_str("cancelled"),
            Self::Failed(why) => write!(formatter, "failed ({why})"),
        }
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<String> = self.lock().iter().map(|entry| entry.id.clone()).collect();
        formatter.debug_tuple("Tasks").field(&ids).finish()
    }
}

impl Tasks {
    /// No tasks yet. What runs is noted with the workplace, so that it ends with this program.
    pub fn new(workplace: Workplace) -> Self {
        Self {
            list: Mutex::default(),
            workplace: Arc::new(workplace),
        }
    }

    pub(super) fn workplace(&self) -> &Workplace {
        &self.workplace
    }

    /// Everything, in the order it was started.
    pub fn all(&self) -> Vec<Task> {
        let entries = self.lock().clone();
        entries.iter().map(|entry| entry.task()).collect()
    }

    /// One task.
    pub fn get(&self, id: &str) -> Result<Task, Failure> {
        self.find(id).map(|entry| entry.task())
    }

    /// Stops everything and waits for its end.
    pub async fn end(&self) {
        let entries = self.lock().clone();
        for entry in &entries {
            entry.cancel.cancel();
        }
        for entry in &entries {
            entry.ended().await;
        }
    }

    pub(super) fn start(
        &self,
        job: Job,
        captures: Captures,
        command: String,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<String, Failure> {
        let mut list = self.lock();
        let is_running = |entry: &&Arc<Entry>| entry.is_running();
        if list.iter().filter(is_running).count() >= TASKS_AT_ONCE {
            return Err(Failure::new(
                Code::CommandError,
                format!("{TASKS_AT_ONCE} tasks run already. Cancel one, or wait for one."),
            ));
        }
        let id = loop {
            let id = new_id(entropy);
            if list.iter().all(|entry| entry.id != id) {
                break id;
            }
        };
        let entry = Arc::new(Entry {
            id: id.clone(),
            command,
            started_at: now,
            began: Instant::now(),
            captures,
            cancel: CancellationToken::new(),
            state: watch::Sender::new((TaskState::Running, None)),
        });
        let (same, workplace) = (entry.clone(), self.workplace.clone());
        thread::Builder::new()
            .name("command-task".to_owned())
            .spawn(move || {
                let ended = process::run(&job, &same.captures, &|_| {}, &same.cancel, &workplace);
                let state = match ended.map(|finished| finished.ended) {
                    Ok(Ended::Code(code)) => TaskState::Exited(code),
                    Ok(Ended::Signal(signal)) => TaskState::Signalled(signal),
                    Ok(Ended::TimedOut) => TaskState::TimedOut,
                    Ok(Ended::Cancelled) => TaskState::Cancelled,
                    Err(error) => TaskState::Failed(error.to_string()),
                };
                let took = Some(same.began.elapsed());
                same.state.send_replace((state, took));
            })
            .map_err(|error| Failure::new(Code::CommandError, error.to_string()))?;
        let ended = list.iter().filter(|entry| !entry.is_running()).count();
        if ended > MOST_ENDED
            && let Some(oldest) = list.iter().position(|entry| !entry.is_running())
        {
            list.remove(oldest);
        }
        list.push(entry);
        Ok(id)
    }

    /// Stops one and waits for its end.
    pub(super) async fn cancel(&self, id: &str) -> Result<Task, Failure> {
        let entry = self.find(id)?;
        entry.cancel.cancel();
        entry.ended().await;
        Ok(entry.task())
    }

    /// Waits until these have ended.
    pub(super) async fn wait(&self, ids: &[&str]) -> Result<(), Failure> {
        let entries: Result<Vec<_>, Failure> = ids.iter().map(|id| self.find(id)).collect();
        for entry in entries? {
            entry.ended().await;
        }
        Ok(())
    }

    fn find(&self, id: &str) -> Result<Arc<Entry>, Failure> {
        let found = self.lock().iter().find(|entry| entry.id == id).cloned();
        found.ok_or_else(|| {
            Failure::new(
                Code::TaskNotFound,
                format!("There is no task {id:?}. get_all_tasks lists them."),
            )
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Entry>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        for entry in self.lock().iter() {
            entry.cancel.cancel();
        }
    }
}

impl Entry {
    fn is_running(&self) -> bool {
        self.state.borrow().0 == TaskState::Running
    }

    async fn ended(&self) {
        let mut state = self.state.subscribe();
        // Fails only when the sender is gone, and this holds it.
        let _ = state
            .wait_for(|(state, _)| *state != TaskState::Running)
            .await;
    }

    fn task(&self) -> Task {
        let (state, took) = self.state.borrow().clone();
        let (output, spilled) = output(&self.captures);
        Task {
            id: self.id.clone(),
            command: self.command.clone(),
            started_at: self.started_at,
            duration: took.unwrap_or_else(|| self.began.elapsed()),
            state,
            output,
            spilled,
        }
    }
}

fn new_id(entropy: &dyn Entropy) -> String {
    // 256 is no multiple of 36: bytes that would favour some letters are skipped.
    let bytes = std::iter::repeat_with(|| random::<16>(entropy)).flatten();
    let letters = bytes.filter_map(|byte| {
        let letter = ID_LETTERS.get(usize::from(byte) % ID_LETTERS.len());
        letter
            .filter(|_| byte < 252)
            .map(|letter| char::from(*letter))
    });
    letters.take(6).collect()
}
