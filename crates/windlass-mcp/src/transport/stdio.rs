//! The stdio connection: rules that need to know what came before.
//!
//! Built as an rmcp `Transport`. rmcp's own stdio transport drops malformed lines without
//! an answer, knows no batches and ends when a notification comes before `initialize`;
//! this one answers each of those and stays up. The lifecycle is kept here too, so both
//! eras can be used side by side in one process. Not here: parsing (`crate::wire`) and
//! what methods do (the handlers).

use std::{collections::VecDeque, io, ops::ControlFlow, time::Duration};

use rmcp::{
    RoleServer, ServerHandler,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta, ProtocolVersion,
        RequestId, ServerJsonRpcMessage, ServerResult,
    },
    service::{QuitReason, serve_directly_with_ct},
    transport::Transport,
};
use tokio::{
    io::AsyncReadExt,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    fds::{Input, Output, open_stdio},
    flight::{BatchKey, Flight, Release},
    outbox::Outbox,
};
use crate::wire::{Fault, Frame, FrameReader, Message, codes};

/// Requests being worked on at once; more are taken but wait their turn.
const MAX_IN_FLIGHT: usize = 1024;
/// Requests that may wait their turn; beyond it the client is told to slow down.
const MAX_DEFERRED: usize = 8192;

/// How a stdio connection is served.
#[derive(Clone, Debug)]
pub struct StdioOptions {
    /// The longest line taken, in bytes.
    pub max_line_bytes: usize,
    /// How long requests already taken may still be answered after the input ended.
    pub grace: Duration,
}

impl Default for StdioOptions {
    fn default() -> Self {
        Self {
            max_line_bytes: 10 * 1024 * 1024,
            grace: Duration::from_millis(500),
        }
    }
}

/// Serves `handler` on the process's standard input and output until the input ends or
/// `shutdown` is cancelled. Durable runs started by calls still in flight go on.
pub async fn serve_stdio<H: ServerHandler>(
    handler: H,
    options: StdioOptions,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let (input, output) = open_stdio();
    serve(handler, input, output, options, shutdown).await
}

/// Serves `handler` on any pair of streams.
pub async fn serve<H: ServerHandler>(
    handler: H,
    input: Input,
    output: Output,
    options: StdioOptions,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let grace = options.grace;
    // Cancels the handlers in flight; a child, so that ending here ends nothing else.
    let calls = shutdown.child_token();
    let connection = Connection::new(input, output, options, calls.clone());
    let outbox = connection.outbox.clone();
    let service = serve_directly_with_ct(handler, connection, None, calls.clone());
    let mut waiting = std::pin::pin!(service.waiting());
    let ended = tokio::select! {
        ended = &mut waiting => Some(ended),
        // The loop waits for handlers it cannot interrupt; a client that is gone does not.
        () = async { calls.cancelled().await; tokio::time::sleep(grace).await } => None,
    };
    let _ = timeout(grace, outbox.flushed()).await;
    match ended {
        Some(Err(error)) => Err(io::Error::other(error)),
        Some(Ok(QuitReason::JoinError(error))) => Err(io::Error::other(error)),
        Some(Ok(_)) | None => Ok(()),
    }
}

/// How far the connection has come.
#[derive(Debug, PartialEq, Eq)]
enum Lifecycle {
    /// No `initialize` yet. Requests must be self-contained (2026-07-28).
    Open,
    /// `initialize` is being answered; what follows it waits.
    Initializing(RequestId),
    /// `initialize` was answered with this version.
    Initialized(ProtocolVersion),
}

struct Connection {
    input: Input,
    frames: FrameReader,
    outbox: Outbox,
    lifecycle: Lifecycle,
    flight: Flight,
    /// Messages ready for the service loop.
    ready: VecDeque<ClientJsonRpcMessage>,
    /// Requests that wait for their turn.
    deferred: VecDeque<(RequestId, ClientRequest)>,
    /// Set when the input has ended: the moment by which answers must be out.
    ended: Option<Instant>,
    options: StdioOptions,
    calls: CancellationToken,
    _flusher: AbortOnDropHandle<()>,
}

impl Connection {
    fn new(input: Input, output: Output, options: StdioOptions, calls: CancellationToken) -> Self {
        let (outbox, flusher) = Outbox::new(output);
        Self {
            input,
            frames: FrameReader::new(options.max_line_bytes),
            outbox,
            lifecycle: Lifecycle::Open,
            flight: Flight::default(),
            ready: VecDeque::new(),
            deferred: VecDeque::new(),
            ended: None,
            options,
            calls,
            _flusher: flusher,
        }
    }

    fn accept_frame(&mut self, frame: Frame) {
        match frame {
            Frame::Single(message) => {
                if let Some(fault) = self.accept(message, None) {
                    self.refuse(&fault);
                }
            }
            Frame::Batch(messages) => self.accept_batch(messages),
        }
    }

    /// Batches exist in 2025-03-26 only.
    fn accept_batch(&mut self, messages: Vec<Message>) {
        if self.lifecycle != Lifecycle::Initialized(ProtocolVersion::V_2025_03_26) {
            let reason = "invalid request: batches exist in protocol 2025-03-26 only; send one message per line";
            self.refuse(&Fault::invalid_request(None, reason));
            return;
        }
        let key = self.flight.open_batch();
        for message in messages {
            if let Some(fault) = self.accept(message, Some(key)) {
                self.flight.add_answer(key, &fault);
            }
        }
        if let Some(answers) = self.flight.seal(key) {
            self.write(&answers);
        }
    }

    /// Takes one message in; gives the refusal when it cannot be taken.
    fn accept(&mut self, message: Message, batch: Option<BatchKey>) -> Option<Fault> {
        match message {
            Message::Request(id, request) => return self.accept_request(id, request, batch),
            Message::Refused(fault) => return Some(fault),
            Message::Ignored(reason) => tracing::debug!(reason, "ignored a message"),
            Message::Notification(note) => {
                if let ClientNotification::CancelledNotification(cancelled) = &note
                    && let Some(id) = cancelled.params.request_id.clone()
                    && self.cancel(&id).is_break()
                {
                    return None;
                }
                self.ready
                    .push_back(ClientJsonRpcMessage::notification(note));
            }
            Message::Response(id, Ok(result)) => {
                self.ready
                    .push_back(ClientJsonRpcMessage::response(result, id));
            }
            Message::Response(id, Err(error)) => {
                self.ready
                    .push_back(ClientJsonRpcMessage::error(error, Some(id)));
            }
        }
        None
    }

    fn accept_request(
        &mut self,
        id: RequestId,
        request: ClientRequest,
        batch: Option<BatchKey>,
    ) -> Option<Fault> {
        if self.flight.contains(&id) {
            let reason =
                format!("invalid request: id {id} is in use by a request not answered yet");
            return Some(Fault::invalid_request(Some(id), reason));
        }
        let opens = is_handshake(&request);
        if opens && batch.is_some() {
            let reason = "invalid request: initialize must not be part of a batch";
            return Some(Fault::invalid_request(Some(id), reason));
        }
        if self.lifecycle == Lifecycle::Open && !opens && !may_open(&request) {
            let reason = format!(
                "{} came before initialize; send initialize first, or put \
                 io.modelcontextprotocol/protocolVersion and /clientCapabilities in _meta",
                request.method()
            );
            return Some(Fault::invalid_params(Some(id), reason));
        }
        if self.deferred.len() >= MAX_DEFERRED {
            let reason = format!(
                "{} requests wait for an answer already; slow down",
                self.flight.len()
            );
            return Some(Fault::new(Some(id), codes::BUSY, reason));
        }
        self.flight.begin(id.clone(), batch);
        self.deferred.push_back((id, request));
        self.admit();
        None
    }

    /// Lets deferred requests in, as far as there is room and the handshake is over.
    fn admit(&mut self) {
        while self.flight.len() - self.deferred.len() < MAX_IN_FLIGHT
            && !matches!(self.lifecycle, Lifecycle::Initializing(_))
            && let Some((id, request)) = self.deferred.pop_front()
        {
            if is_handshake(&request) {
                self.lifecycle = Lifecycle::Initializing(id.clone());
            }
            self.ready
                .push_back(ClientJsonRpcMessage::request(request, id));
        }
    }

    /// Forgets a request. Breaks when the service loop must not hear of it: the handshake
    /// cannot be cancelled, everything behind it waits for its answer.
    fn cancel(&mut self, id: &RequestId) -> ControlFlow<()> {
        if self.lifecycle == Lifecycle::Initializing(id.clone()) {
            return ControlFlow::Break(());
        }
        self.deferred.retain(|(deferred, _)| deferred != id);
        if let Some(answers) = self.flight.cancel(id) {
            self.write(&answers);
        }
        self.admit();
        ControlFlow::Continue(())
    }

    fn answer(&mut self, id: &RequestId, message: &ServerJsonRpcMessage) -> io::Result<()> {
        if self.lifecycle == Lifecycle::Initializing(id.clone()) {
            self.lifecycle = match message {
                ServerJsonRpcMessage::Response(response) => match &response.result {
                    ServerResult::InitializeResult(result) => {
                        Lifecycle::Initialized(result.protocol_version.clone())
                    }
                    _ => Lifecycle::Open,
                },
                _ => Lifecycle::Open,
            };
        }
        let written = match self.flight.end(id, message) {
            Release::Alone => self.outbox.write(message),
            Release::Batch(answers) => self.outbox.write(&answers),
            Release::Held | Release::Unwanted => Ok(()),
        };
        self.admit();
        written
    }

    fn refuse(&self, fault: &Fault) {
        self.write(fault);
    }

    fn write(&self, message: &impl serde::Serialize) {
        if let Err(error) = self.outbox.write(message) {
            tracing::debug!(%error, "could not write to the client");
        }
    }

    /// The input has ended. Waits for answers still due, within the grace period.
    async fn drain(&mut self, deadline: Instant) {
        if !self.flight.is_empty() && !self.outbox.is_broken() {
            // Every answer ends the service loop's wait for this future, and it comes back
            // with one request less in flight.
            tokio::select! {
                () = sleep_until(deadline) => {}
                () = self.outbox.broken() => {}
            }
        }
        self.calls.cancel();
    }
}

/// Whether the request opens a session: `initialize` without the modern `_meta`.
fn is_handshake(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::InitializeRequest(_)) && !is_self_contained(request)
}

/// Whether the request says by itself which protocol it speaks (2026-07-28).
fn is_self_contained(request: &ClientRequest) -> bool {
    request
        .get_meta()
        .missing_required_keys(&ProtocolVersion::V_2026_07_28)
        .is_empty()
}

/// Whether the request may come before `initialize`. Discovery answers for itself when its
/// `_meta` is incomplete, and a ping has always been allowed.
fn may_open(request: &ClientRequest) -> bool {
    matches!(
        request,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_)
    ) || is_self_contained(request)
}

impl Transport<RoleServer> for Connection {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let id = match &message {
            ServerJsonRpcMessage::Response(response) => Some(response.id.clone()),
            ServerJsonRpcMessage::Error(error) => error.id.clone(),
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => None,
        };
        std::future::ready(match id {
            Some(id) => self.answer(&id, &message),
            None => self.outbox.write(&message),
        })
    }

    // Cancel safe: all progress is kept in `self`, and a read that is dropped took nothing.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if self.outbox.is_congested() {
                self.outbox.uncongested().await;
            }
            if let Some(frame) = self.frames.next_frame() {
                self.accept_frame(frame);
                continue;
            }
            if let Some(deadline) = self.ended {
                self.drain(deadline).await;
                return None;
            }
            let read = tokio::select! {
                read = self.input.read_buf(self.frames.room()) => read,
                () = self.outbox.broken() => Ok(0),
            };
            if !read.is_ok_and(|count| count > 0) {
                self.ended = Some(Instant::now() + self.options.grace);
                if let Some(frame) = self.frames.finish() {
                    self.accept_frame(frame);
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        let _ = timeout(self.options.grace, self.outbox.flushed()).await;
        Ok(())
    }
}
