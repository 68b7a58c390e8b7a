//! One process: started in a group of its own, without input, ended when its time is up.
//!
//! Input and output are files and not pipes: a helper that stays behind (a connection kept
//! open by ssh) may hold them for as long as it likes, and nothing can block on a full pipe.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::guard;

/// How long a process may clean up (lock files, temporary files) after it was asked to end.
const GRACE: Duration = Duration::from_secs(2);
/// How often the caller is asked whether it still wants the result.
const ASK_EVERY: Duration = Duration::from_millis(100);
/// A process that lives longer than this ends when this program is killed. Most are shorter, and
/// need no guard.
const UNGUARDED: Duration = Duration::from_millis(20);

/// How a process ended.
#[derive(Debug)]
pub enum Ended {
    /// On its own.
    Itself {
        /// The exit code; `None` when a signal ended it.
        code: Option<i32>,
        /// Its output.
        stdout: Output,
        /// Its messages.
        stderr: Output,
    },
    /// It was stopped because its time was up or its result was no longer wanted.
    Stopped,
}

/// What a process wrote.
#[derive(Debug)]
pub struct Output(File);

impl Output {
    /// All of it.
    pub fn all(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.0.rewind()?;
        self.0.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The first and the last `most` bytes; the last are empty when the first are all.
    pub fn ends(&mut self, most: usize) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let length = self.0.metadata()?.len();
        let most = most as u64;
        let (mut first, mut last) = (Vec::new(), Vec::new());
        self.0.rewind()?;
        (&self.0).take(most).read_to_end(&mut first)?;
        if length > most {
            self.0
                .seek(SeekFrom::Start(most.max(length.saturating_sub(most))))?;
            (&self.0).take(most).read_to_end(&mut last)?;
        }
        Ok((first, last))
    }
}

/// What becomes of processes that outlive the one that started them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stragglers {
    /// They stay.
    Stay,
    /// They end with it.
    End,
}

/// How long a process may run.
pub struct Bounds<'a> {
    /// For this long,
    pub time: Duration,
    /// and only as long as this says no.
    pub unwanted: &'a dyn Fn() -> bool,
    /// What becomes of others in its group when it ends by itself.
    pub stragglers: Stragglers,
}

/// Runs a command to its end, or to the end of its time.
pub fn run(command: &mut Command, input: Option<&[u8]>, limit: Duration) -> io::Result<Ended> {
    start(command, input, Command::spawn)?.finish(&Bounds {
        time: limit,
        unwanted: &|| false,
        stragglers: Stragglers::Stay,
    })
}

/// Starts a command by `spawn`, which may do so under restrictions.
pub fn start(
    command: &mut Command,
    input: Option<&[u8]>,
    spawn: impl FnOnce(&mut Command) -> io::Result<Child>,
) -> io::Result<Running> {
    let stdout = tempfile::tempfile()?;
    let stderr = tempfile::tempfile()?;
    let stdin = match input {
        None => Stdio::null(),
        Some(bytes) => {
            let mut file = tempfile::tempfile()?;
            file.write_all(bytes)?;
            file.rewind()?;
            file.into()
        }
    };
    command
        .stdin(stdin)
        .stdout(stdout.try_clone()?)
        .stderr(stderr.try_clone()?)
        .process_group(0);
    Ok(Running {
        group: Group(spawn(command)?),
        stdout: Output(stdout),
        stderr: Output(stderr),
    })
}

/// A process that was started. Its group ends when this is dropped.
#[derive(Debug)]
pub struct Running {
    group: Group,
    stdout: Output,
    stderr: Output,
}

impl Running {
    /// Its id.
    pub fn pid(&self) -> Pid {
        self.group.pid()
    }

    /// Reads its output while it runs.
    pub fn following(&self) -> io::Result<Following> {
        Ok(Following {
            stdout: (self.stdout.0.try_clone()?, 0),
            stderr: (self.stderr.0.try_clone()?, 0),
        })
    }

    /// Waits for its end, or ends it.
    pub fn finish(mut self, bounds: &Bounds<'_>) -> io::Result<Ended> {
        match self.group.wait(bounds)? {
            None => Ok(Ended::Stopped),
            Some(status) => Ok(Ended::Itself {
                code: status.code().filter(|_| status.signal().is_none()),
                stdout: self.stdout,
                stderr: self.stderr,
            }),
        }
    }
}

/// The output of a process, read as it grows.
#[derive(Debug)]
pub struct Following {
    stdout: (File, u64),
    stderr: (File, u64),
}

impl Following {
    /// What was written to its output and to its messages since the last call.
    pub fn more(&mut self) -> io::Result<(Vec<u8>, Vec<u8>)> {
        Ok((grown(&mut self.stdout)?, grown(&mut self.stderr)?))
    }
}

/// Reads at a place of its own: the process writes at the one the handles share.
fn grown((file, read): &mut (File, u64)) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        match file.read_at(&mut chunk, *read)? {
            0 => return Ok(bytes),
            count => {
                bytes.extend_from_slice(chunk.get(..count).unwrap_or_default());
                *read += count as u64;
            }
        }
    }
}

/// A process and the group it leads.
#[derive(Debug)]
struct Group(Child);

impl Group {
    fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// `None` when the bounds were reached; the process is gone in either case.
    fn wait(&mut self, bounds: &Bounds<'_>) -> io::Result<Option<ExitStatus>> {
        let pid = self.pid();
        let ended = watch(pid)?;
        if is_over(pid, &ended, bounds) {
            // It is not collected yet, so the group's id is still its own.
            if bounds.stragglers == Stragglers::End {
                stop(pid, Signal::KILL);
            }
            guard::release(pid);
            return self.0.wait().map(Some);
        }
        stop(pid, Signal::TERM);
        // Either the process ended or its grace did; what is left of the group goes now.
        let _ = ended.recv_timeout(GRACE);
        stop(pid, Signal::KILL);
        guard::release(pid);
        self.0.wait()?;
        Ok(None)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Only what was never collected: an id that was may belong to another process by now.
        if let Ok(None) = self.0.try_wait() {
            stop(self.pid(), Signal::KILL);
            guard::release(self.pid());
            let _ = self.0.wait();
        }
    }
}

/// Whether the process ended within its bounds.
fn is_over(pid: Pid, ended: &Receiver<()>, bounds: &Bounds<'_>) -> bool {
    let began = Instant::now();
    match ended.recv_timeout(UNGUARDED.min(bounds.time)) {
        Ok(()) | Err(RecvTimeoutError::Disconnected) => return true,
        Err(RecvTimeoutError::Timeout) => guard::watch(pid),
    }
    loop {
        let left = bounds.time.saturating_sub(began.elapsed());
        match ended.recv_timeout(left.min(ASK_EVERY)) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return true,
            Err(RecvTimeoutError::Timeout) if left <= ASK_EVERY || (bounds.unwanted)() => {
                return false;
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Reports when a process has ended, without collecting it: until it is collected its id, and
/// the id of its group, cannot belong to another process.
fn watch(pid: Pid) -> io::Result<Receiver<()>> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new()
        .name("process-watch".to_owned())
        .spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            // An error means that the process is gone, which is what is waited for.
            let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
            // There is no listener after the grace period.
            let _ = sender.send(());
        })?;
    Ok(receiver)
}

fn stop(group: Pid, signal: Signal) {
    // Fails only when no process is left in the group.
    let _ = kill_process_group(group, signal);
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
