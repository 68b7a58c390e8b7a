//! A program that is spoken to over its standard streams.
//!
//! The SDK's own transport ends on what it does not understand. This one leaves out lines that are
//! no messages and counts them, splits batches, gives up on a line without end, and answers the
//! first question of the modern era itself when an old program keeps silent on it.

use std::{
    borrow::Cow,
    collections::VecDeque,
    ffi::OsString,
    io,
    path::PathBuf,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use rmcp::{
    RoleClient,
    model::{
        ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
        ServerJsonRpcMessage,
    },
    transport::Transport,
};
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::{ChildStderr, ChildStdin, ChildStdout},
    sync::watch,
    time::{Instant, sleep_until, timeout},
};
use windlass_process::{Bounds, Ended, Stragglers};

use crate::clean;

/// The longest message. A longer one ends the connection: what is left of it has no beginning.
const LONGEST_LINE: usize = 64 * 1024 * 1024;
/// How much of what a program writes to its error stream is kept.
const KEPT_ERRORS: usize = 4 * 1024;
/// How long a program may take to end by itself after its input was closed.
const FAREWELL: Duration = Duration::from_secs(2);
/// Longer than any program runs; the guard's arithmetic stays within its bounds.
const UNLIMITED: Duration = Duration::from_secs(100 * 365 * 86_400);

/// What to start.
pub(crate) struct Program {
    pub name: String,
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    pub directory: PathBuf,
}

/// A running program, seen from the side of who watches it.
#[derive(Clone)]
pub(crate) struct Child(Arc<Watched>);

struct Watched {
    stop: AtomicBool,
    malformed: AtomicU64,
    errors: Mutex<Vec<u8>>,
    /// Why the connection was given up, where that was this side's decision.
    given_up: Mutex<Option<String>>,
    ended: watch::Receiver<Option<String>>,
}

impl Child {
    /// Lines that were no messages.
    pub fn malformed_lines(&self) -> u64 {
        self.0.malformed.load(Ordering::Relaxed)
    }

    /// Ends the program, and waits for it.
    pub async fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
        let mut ended = self.0.ended.clone();
        // The sender goes with the thread that waits for the program.
        let _ = ended.wait_for(Option::is_some).await;
    }

    /// Why there is nothing more to hear: how the program ended, and the end of what it complained.
    pub async fn obituary(&self) -> String {
        let mut ended = self.0.ended.clone();
        let how = match timeout(FAREWELL, ended.wait_for(Option::is_some)).await {
            Ok(Ok(how)) => how.clone().unwrap_or_default(),
            _ => "it closed its output".to_owned(),
        };
        let given_up = lock(&self.0.given_up).clone();
        let errors = lock(&self.0.errors).clone();
        let said = String::from_utf8_lossy(&errors);
        let said: Vec<&str> = said.trim().lines().rev().take(5).collect();
        let said: Vec<String> = said
            .iter()
            .rev()
            .map(|line| clean::line(line, 300))
            .collect();
        let cause = given_up.unwrap_or(how);
        match said.is_empty() {
            true => cause,
            false => format!("{cause}; it wrote: {}", said.join(" / ")),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The streams of a program.
pub(crate) struct StdioTransport {
    output: ChildStdout,
    input: Arc<tokio::sync::Mutex<Option<ChildStdin>>>,
    buffer: Vec<u8>,
    /// How far the search for the end of a line has come.
    scanned: usize,
    /// Messages of a batch that are still to be handed out.
    batch: VecDeque<ServerJsonRpcMessage>,
    /// The modern era's first question while it is unanswered, and when silence is an answer.
    discover: Option<(RequestId, Instant)>,
    /// Questions that were answered for the program; its own answer comes too late.
    answered: Vec<RequestId>,
    patience: Duration,
    child: Child,
}

/// Starts a program. `patience` is how long it may keep silent on the modern era's first question.
pub(crate) fn start(program: &Program, patience: Duration) -> io::Result<(StdioTransport, Child)> {
    let mut command = windlass_process::command(&program.path);
    command
        .args(&program.arguments)
        .env_clear()
        .envs(
            program
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .current_dir(&program.directory);
    let mut streams = None;
    let running = windlass_process::start(&mut command, None, |command: &mut Command| {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        streams = Some((child.stdin.take(), child.stdout.take(), child.stderr.take()));
        Ok(child)
    })?;
    let Some((Some(input), Some(output), Some(errors))) = streams else {
        return Err(io::Error::other("the program has no streams"));
    };
    let (input, output, errors) = (
        ChildStdin::from_std(input)?,
        ChildStdout::from_std(output)?,
        ChildStderr::from_std(errors)?,
    );
    let (announce, ended) = watch::channel(None);
    let child = Child(Arc::new(Watched {
        stop: AtomicBool::new(false),
        malformed: AtomicU64::new(0),
        errors: Mutex::new(Vec::new()),
        given_up: Mutex::new(None),
        ended,
    }));
    let watched = child.clone();
    std::thread::Builder::new()
        .name(format!("mcp-{}", program.name))
        .spawn(move || {
            let ended = running.finish(&Bounds {
                time: UNLIMITED,
                unwanted: &|| watched.0.stop.load(Ordering::Relaxed),
                stragglers: Stragglers::End,
            });
            announce.send_replace(Some(match ended {
                Ok(Ended::Itself {
                    code: Some(code), ..
                }) => format!("it ended with code {code}"),
                Ok(Ended::Itself { code: None, .. }) => "it was ended by a signal".to_owned(),
                Ok(Ended::Stopped) => "it was stopped".to_owned(),
                Err(error) => format!("it could not be watched: {error}"),
            }));
        })?;
    tokio::spawn(keep_errors(errors, child.clone()));
    let transport = StdioTransport {
        output,
        input: Arc::new(tokio::sync::Mutex::new(Some(input))),
        buffer: Vec::new(),
        scanned: 0,
        batch: VecDeque::new(),
        discover: None,
        answered: Vec::new(),
        patience,
        child: child.clone(),
    };
    Ok((transport, child))
}

async fn keep_errors(mut errors: ChildStderr, child: Child) {
    let mut chunk = vec![0; 4 * 1024];
    while let Ok(count) = errors.read(&mut chunk).await {
        if count == 0 {
            return;
        }
        let mut kept = lock(&child.0.errors);
        kept.extend_from_slice(&chunk[..count]);
        let surplus = kept.len().saturating_sub(KEPT_ERRORS);
        kept.drain(..surplus);
    }
}

impl StdioTransport {
    /// The next line, without its end. None at the end of the output.
    async fn line(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(end) = self.buffer[self.scanned..]
                .iter()
                .position(|byte| *byte == b'\n')
            {
                let end = self.scanned + end;
                let line = self.buffer[..end].to_vec();
                self.buffer.drain(..=end);
                self.scanned = 0;
                return Some(line);
            }
            self.scanned = self.buffer.len();
            if self.scanned > LONGEST_LINE {
                *lock(&self.child.0.given_up) = Some(format!(
                    "it sent a message of more than {LONGEST_LINE} bytes"
                ));
                return None;
            }
            // Reading into the buffer loses nothing when it is interrupted.
            match self.output.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => {
                    self.scanned = 0;
                    let rest = std::mem::take(&mut self.buffer);
                    return (!rest.is_empty()).then_some(rest);
                }
                Ok(_) => {}
            }
        }
    }

    /// What a line says; nothing when it is no message.
    fn read(&mut self, line: &[u8]) {
        let line = line
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(line)
            .trim_ascii();
        if line.is_empty() {
            return;
        }
        if line.first() == Some(&b'[') {
            // The revision 2025-03-26 sends several messages at once.
            match serde_json::from_slice::<Vec<&RawValue>>(line) {
                Ok(parts) => parts
                    .iter()
                    .for_each(|part| self.one(part.get().as_bytes())),
                Err(_) => self.malformed(),
            }
        } else {
            self.one(line);
        }
    }

    fn one(&mut self, text: &[u8]) {
        let Ok(message) = serde_json::from_slice::<ServerJsonRpcMessage>(text) else {
            self.malformed();
            return;
        };
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if id.is_some_and(|id| self.answered.contains(id)) {
            return;
        }
        if self
            .discover
            .as_ref()
            .is_some_and(|(question, _)| Some(question) == id)
        {
            self.discover = None;
        }
        self.batch.push_back(message);
    }

    fn malformed(&self) {
        let before = self.child.0.malformed.fetch_add(1, Ordering::Relaxed);
        if before == 0 {
            tracing::warn!("an MCP server wrote something that is no message to its output");
        }
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn name() -> Cow<'static, str> {
        "stdio".into()
    }

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message
            && matches!(request.request, ClientRequest::DiscoverRequest(_))
        {
            self.discover = Some((request.id.clone(), Instant::now() + self.patience));
        }
        let input = Arc::clone(&self.input);
        let line = serde_json::to_vec(&message).map(|mut line| {
            line.push(b'\n');
            line
        });
        async move {
            let line = line?;
            match input.lock().await.as_mut() {
                Some(input) => {
                    input.write_all(&line).await?;
                    input.flush().await
                }
                None => Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.batch.pop_front() {
                return Some(message);
            }
            let line = match &self.discover {
                None => self.line().await,
                Some((_, deadline)) => {
                    let deadline = *deadline;
                    tokio::select! {
                        line = self.line() => line,
                        () = sleep_until(deadline) => {
                            let (id, _) = self.discover.take()?;
                            self.answered.push(id.clone());
                            let silence = ErrorData::new(
                                ErrorCode::METHOD_NOT_FOUND,
                                "no answer: taken for a server of the older era",
                                None,
                            );
                            return Some(ServerJsonRpcMessage::error(silence, Some(id)));
                        }
                    }
                }
            };
            let line = line?;
            self.read(&line);
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        // A program ends when its input does; one that does not is ended.
        let held = timeout(FAREWELL, self.input.lock()).await;
        if let Ok(mut input) = held {
            input.take();
        }
        let mut ended = self.child.0.ended.clone();
        let _ = timeout(FAREWELL, ended.wait_for(Option::is_some)).await;
        self.child.0.stop.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for StdioTransport {
    fn drop(&mut self) {
        self.child.0.stop.store(true, Ordering::Relaxed);
    }
}
