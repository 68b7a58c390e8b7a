//! One command: started in a group of its own, both its streams read to their end, ended in time.
//!
//! Blocking, on a thread of its own. The leader is not collected before everything is over, so the
//! number of its group cannot belong to others.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read as _},
    os::fd::OwnedFd,
    path::PathBuf,
    sync::{Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid},
};
use tokio_util::sync::CancellationToken;
use windlass_process::{Bounds, Running, Stragglers, Workplace};

use super::{capture::Capture, escaped};
use crate::{Progress, Stream};

/// How long a stream that another process holds open may be silent after the command has ended.
const QUIET: Duration = Duration::from_millis(250);
/// How long processes may clean up after they were asked to end.
const GRACE: Duration = Duration::from_secs(2);
/// After this silence watchers are told.
const STALL: Duration = Duration::from_secs(5);
/// How often it is looked whether the call was cancelled.
const LOOK: Duration = Duration::from_millis(50);
/// A command that lives longer is ended with this program, however that ends.
const UNGUARDED: Duration = Duration::from_millis(50);
const PIECE: usize = 64 * 1024;

/// What is to be run.
pub(super) struct Job {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    pub directory: PathBuf,
    pub time: Option<Duration>,
    /// The value of [`escaped::MARK`] in the environment.
    pub mark: String,
}

/// Both streams.
pub(super) struct Captures {
    pub out: Mutex<Capture>,
    pub err: Mutex<Capture>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Code(i32),
    Signal(i32),
    TimedOut,
    Cancelled,
}

/// The end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finished {
    pub ended: Ended,
    /// Whether another process still held a stream open and was not waited for.
    pub was_held: bool,
}

impl Captures {
    fn of(&self, stream: Stream) -> std::sync::MutexGuard<'_, Capture> {
        let capture = match stream {
            Stream::Out => &self.out,
            Stream::Err => &self.err,
        };
        capture.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a command to its end, or to the end of its time.
pub(super) fn run(
    job: &Job,
    captures: &Captures,
    tell: &dyn Fn(Progress<'_>),
    cancel: &CancellationToken,
    guard: &Workplace,
) -> io::Result<Finished> {
    let (out, out_end) = io::pipe()?;
    let (err, err_end) = io::pipe()?;
    let mut command = windlass_process::command(&job.program);
    command
        .args(&job.arguments)
        .env_clear()
        .envs(job.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&job.directory);
    let running = windlass_process::start(&mut command, None, |command| {
        command.stdout(out_end).stderr(err_end).spawn()
    })?;
    // It holds the other ends of the pipes.
    drop(command);
    let (exit, status) = watch(running.pid())?;
    let mut loop_ = Loop {
        job,
        captures,
        tell,
        cancel,
        running: &running,
        streams: [reader(out.into())?, reader(err.into())?],
        exit: Some(exit),
        status,
        began: Instant::now(),
        heard: Instant::now(),
        buffer: vec![0; PIECE],
    };
    let finished = loop_.run(guard)?;
    for stream in [Stream::Out, Stream::Err] {
        captures
            .of(stream)
            .finish(|piece| tell_output(tell, stream, piece));
    }
    // What is left of the group ends, and the leader is collected.
    running.finish(&Bounds {
        time: Duration::from_secs(60),
        unwanted: &|| false,
        stragglers: Stragglers::End,
    })?;
    Ok(finished)
}

fn tell_output(tell: &dyn Fn(Progress<'_>), stream: Stream, piece: &[u8]) {
    if !piece.is_empty() {
        tell(Progress::Output(stream, piece));
    }
}

fn reader(end: OwnedFd) -> io::Result<Option<File>> {
    let flags = fcntl_getfl(&end)?;
    fcntl_setfl(&end, flags | OFlags::NONBLOCK)?;
    Ok(Some(end.into()))
}

/// A descriptor that hangs up when the process has ended, and then its status. The process is not
/// collected.
fn watch(pid: Pid) -> io::Result<(io::PipeReader, mpsc::Receiver<WaitIdStatus>)> {
    let (exit, exit_end) = io::pipe()?;
    let (sender, status) = mpsc::channel();
    thread::Builder::new()
        .name("command-watch".to_owned())
        .spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let ended = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
            if let Ok(Some(ended)) = ended {
                // Without a receiver no one wants to know any more.
                let _ = sender.send(ended);
            }
            drop(exit_end);
        })?;
    Ok((exit, status))
}

struct Loop<'a> {
    job: &'a Job,
    captures: &'a Captures,
    tell: &'a dyn Fn(Progress<'_>),
    cancel: &'a CancellationToken,
    running: &'a Running,
    streams: [Option<File>; 2],
    exit: Option<io::PipeReader>,
    status: mpsc::Receiver<WaitIdStatus>,
    began: Instant,
    /// When something was last written, or the leader ended.
    heard: Instant,
    buffer: Vec<u8>,
}

impl Loop<'_> {
    fn run(&mut self, guard: &Workplace) -> io::Result<Finished> {
        let (mut stopped, mut asked_at) = (None, Instant::now());
        let (mut is_guarded, mut is_killed, mut is_silent) = (false, false, false);
        loop {
            if self.wait()? {
                is_silent = false;
            }
            let now = Instant::now();
            if !is_guarded && self.exit.is_some() && now - self.began > UNGUARDED {
                is_guarded = true;
                // Without it, the command only outlives a crash.
                let _ = guard.note(self.running);
            }
            if stopped.is_none()
                && let Some(why) = self.unwanted(now)
            {
                stopped = Some(why);
                asked_at = now;
                self.signal(Signal::TERM);
            }
            let is_over = self.exit.is_none() && self.streams.iter().all(Option::is_none);
            let is_quiet = self.exit.is_none() && now - self.heard >= QUIET;
            let is_due = self.exit.is_none() || now - asked_at >= GRACE;
            if stopped.is_some() && !is_killed && is_due {
                is_killed = true;
                self.heard = now;
                self.signal(Signal::KILL);
                escaped::end(&self.job.mark);
                continue;
            }
            if is_over || is_quiet {
                return Ok(Finished {
                    ended: stopped.unwrap_or_else(|| self.ended()),
                    was_held: !is_over,
                });
            }
            if !is_silent && self.exit.is_some() && now - self.heard >= STALL {
                is_silent = true;
                (self.tell)(Progress::Silent);
            }
        }
    }

    /// Why it has to end; none when it need not.
    fn unwanted(&self, now: Instant) -> Option<Ended> {
        if self.cancel.is_cancelled() {
            return Some(Ended::Cancelled);
        }
        let is_late = self.job.time.is_some_and(|time| now - self.began >= time);
        // A command that has ended is not too late, but what it left behind is not waited for.
        is_late.then(|| match self.exit {
            Some(_) => Ended::TimedOut,
            None => self.ended(),
        })
    }

    /// How the leader ended; to be asked once.
    fn ended(&self) -> Ended {
        let Ok(status) = self.status.try_recv() else {
            return Ended::Signal(0);
        };
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Ended::Code(code),
            (None, signal) => Ended::Signal(signal.unwrap_or(0)),
        }
    }

    fn signal(&self, signal: Signal) {
        // Fails only when no process is left in the group.
        let _ = kill_process_group(self.running.pid(), signal);
    }

    /// Waits for something to happen and takes it in. Says whether something was written.
    fn wait(&mut self) -> io::Result<bool> {
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(LOOK.subsec_nanos()),
        };
        let mut ready = [false; 3];
        {
            let mut watched = Vec::with_capacity(3);
            for (index, stream) in self.streams.iter().enumerate() {
                if let Some(stream) = stream {
                    watched.push((index, PollFd::new(stream, PollFlags::IN)));
                }
            }
            if let Some(exit) = &self.exit {
                watched.push((2, PollFd::new(exit, PollFlags::IN)));
            }
            let (indices, mut fds): (Vec<_>, Vec<_>) = watched.into_iter().unzip();
            match poll(&mut fds, Some(&timeout)) {
                Err(rustix::io::Errno::INTR) => return Ok(false),
                result => result?,
            };
            for (index, fd) in indices.into_iter().zip(&fds) {
                ready[index] = !fd.revents().is_empty();
            }
        }
        let mut has_heard = false;
        for (index, stream) in [Stream::Out, Stream::Err].into_iter().enumerate() {
            if ready[index] {
                has_heard |= self.read(index, stream)?;
            }
        }
        if ready[2] {
            self.exit = None;
            self.heard = Instant::now();
        }
        if has_heard {
            self.heard = Instant::now();
        }
        Ok(has_heard)
    }

    fn read(&mut self, index: usize, stream: Stream) -> io::Result<bool> {
        let Some(file) = self.streams.get_mut(index).and_then(Option::as_mut) else {
            return Ok(false);
        };
        match file.read(&mut self.buffer) {
            Ok(0) => {
                self.streams[index] = None;
                Ok(false)
            }
            Ok(count) => {
                let piece = self.buffer.get(..count).unwrap_or_default();
                let tell = self.tell;
                self.captures
                    .of(stream)
                    .push(piece, |piece| tell_output(tell, stream, piece));
                Ok(true)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}
