//! One program run to its end: its lines as they come, redacted, without terminal escapes. It ends
//! when its time is up or nobody waits any more; whatever it leaves behind ends with it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use windlass_process::{Bounds, Ended, Following, Stragglers, start};
use windlass_secrets::Redactor;

use crate::lines::{LONGEST_MESSAGE, Level, without_escapes};
use crate::script::environment::Environment;
use crate::script::tail::Tail;

/// Hears lines: what a program prints is news, what it says on standard error is a warning.
pub type Listener<'a> = dyn Fn(Level, &str) + Send + Sync + 'a;

/// The longest line that is looked at; the rest of a longer one is dropped.
const LONGEST_LINE: usize = 1 << 20;

/// What is run.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Where it runs.
    pub directory: PathBuf,
    /// All of its variables.
    pub environment: Environment,
}

impl Program {
    /// A command of a shell.
    pub fn shell(command: &str, directory: PathBuf, environment: Environment) -> Self {
        Self {
            path: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".into(), command.into()],
            directory,
            environment,
        }
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this code; none when a signal ended it.
    Code(Option<i32>),
    /// Its time was up.
    Late,
}

/// Runs a program to its end. Dropping the future ends it.
pub async fn follow(
    program: Program,
    time: Duration,
    redactor: &Redactor,
    tail: &mut Tail,
    lines: &Listener<'_>,
) -> std::io::Result<Ending> {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let unwanted = Unwanted::default();
    let flag = Arc::clone(&unwanted.0);
    let work = tokio::task::spawn_blocking(move || blocking(program, time, &flag, &sender));
    while let Some((level, line)) = receiver.recv().await {
        pass_on(level, &line, redactor, tail, lines);
    }
    work.await.map_err(std::io::Error::other)?
}

/// Passes a line on: without terminal escapes and secrets, bounded.
pub(crate) fn pass_on(
    level: Level,
    line: &str,
    redactor: &Redactor,
    tail: &mut Tail,
    lines: &Listener<'_>,
) {
    let plain = without_escapes(line);
    let redacted = redactor.redact(&plain);
    let short: String = redacted.chars().take(LONGEST_MESSAGE).collect();
    tail.push(&short);
    lines(level, &short);
}

/// Says on drop that nobody waits any more.
#[derive(Default)]
struct Unwanted(Arc<AtomicBool>);

impl Drop for Unwanted {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

type Lines = mpsc::UnboundedSender<(Level, String)>;

fn blocking(
    program: Program,
    time: Duration,
    unwanted: &AtomicBool,
    sender: &Lines,
) -> std::io::Result<Ending> {
    let mut command = windlass_process::command(&program.path);
    command
        .args(&program.arguments)
        .current_dir(&program.directory)
        .env_clear()
        .envs(program.environment.pairs());
    let running = start(&mut command, None, Command::spawn)?;
    let reader = Mutex::new(Reader {
        following: running.following()?,
        stdout: Pending::default(),
        stderr: Pending::default(),
    });
    let look = || {
        reader
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .look(sender)
    };
    let ended = running.finish(&Bounds {
        time,
        unwanted: &|| {
            look();
            unwanted.load(Ordering::Relaxed)
        },
        stragglers: Stragglers::End,
    })?;
    look();
    let reader = reader.into_inner().unwrap_or_else(PoisonError::into_inner);
    reader.stdout.finish(Level::Info, sender);
    reader.stderr.finish(Level::Warn, sender);
    Ok(match ended {
        Ended::Itself { code, .. } => Ending::Code(code),
        Ended::Stopped => Ending::Late,
    })
}

struct Reader {
    following: Following,
    stdout: Pending,
    stderr: Pending,
}

impl Reader {
    fn look(&mut self, sender: &Lines) {
        // Output that cannot be read is lost to the log; the program is not to blame.
        if let Ok((stdout, stderr)) = self.following.more() {
            self.stdout.feed(&stdout, Level::Info, sender);
            self.stderr.feed(&stderr, Level::Warn, sender);
        }
    }
}

/// A line that has not ended yet.
#[derive(Default)]
struct Pending {
    line: Vec<u8>,
}

impl Pending {
    fn feed(&mut self, bytes: &[u8], level: Level, sender: &Lines) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST_LINE.saturating_sub(self.line.len());
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            self.line
                .extend_from_slice(text.get(..text.len().min(room)).unwrap_or_default());
            if piece.ends_with(b"\n") {
                self.send(level, sender);
            }
        }
    }

    fn finish(mut self, level: Level, sender: &Lines) {
        if !self.line.is_empty() {
            self.send(level, sender);
        }
    }

    fn send(&mut self, level: Level, sender: &Lines) {
        let line = String::from_utf8_lossy(&self.line).trim_end().to_owned();
        self.line.clear();
        // Nobody listens once the caller has gone.
        let _ = sender.send((level, line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_assembled_and_bounded() {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let mut pending = Pending::default();
        for chunk in ["on", "e\ntw", "o\n\nthr"] {
            pending.feed(chunk.as_bytes(), Level::Info, &sender);
        }
        pending.finish(Level::Info, &sender);
        let mut long = Pending::default();
        long.feed(&vec![b'x'; LONGEST_LINE + 5], Level::Warn, &sender);
        long.feed(b"y\nnext\n", Level::Warn, &sender);
        drop(sender);
        let mut lines = Vec::new();
        while let Ok((_, line)) = receiver.try_recv() {
            lines.push(line);
        }
        assert_eq!(lines[..4], ["one", "two", "", "thr"]);
        assert_eq!(lines[4].len(), LONGEST_LINE);
        assert_eq!(lines[5], "next");
    }
}
