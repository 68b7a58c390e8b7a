//! One process: started in a group of its own, without input, ended when its time is up.
//!
//! Input and output are files and not pipes: a helper that stays behind (a connection kept
//! open by ssh) may hold them for as long as it likes, and nothing can block on a full pipe.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How long a process may clean up (lock files, temporary files) after it was asked to end.
const GRACE: Duration = Duration::from_secs(2);

/// How a process ended.
#[derive(Debug)]
pub enum Ended {
    /// On its own.
    Itself {
        /// The exit code; `None` when a signal ended it.
        code: Option<i32>,
        /// All of its output.
        stdout: Vec<u8>,
        /// All of its messages.
        stderr: Vec<u8>,
    },
    /// It was stopped because its time was up.
    Stopped,
}

/// Runs a command to its end, or to the end of its time.
pub fn run(command: &mut Command, input: Option<&[u8]>, limit: Duration) -> io::Result<Ended> {
    let mut stdout = tempfile::tempfile()?;
    let mut stderr = tempfile::tempfile()?;
    let stdin = match input {
        None => Stdio::null(),
        Some(bytes) => {
            let mut file = tempfile::tempfile()?;
            file.write_all(bytes)?;
            file.rewind()?;
            file.into()
        }
    };
    let mut child = command
        .stdin(stdin)
        .stdout(stdout.try_clone()?)
        .stderr(stderr.try_clone()?)
        .process_group(0)
        .spawn()?;
    match wait(&mut child, limit)? {
        None => Ok(Ended::Stopped),
        Some(status) => Ok(Ended::Itself {
            code: status.code().filter(|_| status.signal().is_none()),
            stdout: contents(&mut stdout)?,
            stderr: contents(&mut stderr)?,
        }),
    }
}

/// `None` when the limit was reached; the child is gone in either case.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let pid = Pid::from_child(child);
    let ended = match watch(pid) {
        Ok(ended) => ended,
        Err(error) => {
            stop(pid, Signal::KILL);
            child.wait()?;
            return Err(error);
        }
    };
    if ended.recv_timeout(limit).is_ok() {
        return child.wait().map(Some);
    }
    stop(pid, Signal::TERM);
    // Either the process ended or its grace did; what is left of the group goes now.
    let _ = ended.recv_timeout(GRACE);
    stop(pid, Signal::KILL);
    child.wait()?;
    Ok(None)
}

/// Tells when a process has ended, without collecting it: until it is collected its id, and
/// the id of its group, cannot belong to anybody else.
fn watch(pid: Pid) -> io::Result<Receiver<()>> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new()
        .name("git-watch".to_owned())
        .spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            // An error means that the process is gone, which is what is waited for.
            let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
            // Nobody listens any more after the grace period.
            let _ = sender.send(());
        })?;
    Ok(receiver)
}

fn stop(group: Pid, signal: Signal) {
    // Fails only when nobody is left in the group.
    let _ = kill_process_group(group, signal);
}

fn contents(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
