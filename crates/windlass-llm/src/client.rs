//! The client: one question, as many tries as time and the server allow, one answer.

use std::{sync::Arc, time::Duration};

use futures::{
    FutureExt as _, StreamExt as _,
    future::{Either, select},
};
use windlass_ports::{
    BoxFuture, BoxStream, Clock, Entropy, LanguageModel, Listener, ModelAddress, ModelError,
    ModelReply, ModelRequest, Outbound, OutboundError, OutboundRequest, OutboundStream, Piece,
    WireFormat, entropy::random,
};

use crate::{
    MAX_ANSWER, backoff,
    events::EventReader,
    failure::{self, Failure, Scrub},
    reply::ReplyBuilder,
    wire::{
        self,
        dialect::{Dialect, Dialects},
    },
};

/// The longest stream: every few letters of an answer are wrapped in an event.
const MAX_STREAM: usize = 16 * MAX_ANSWER;
/// As much of an error body as is read.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// A stream that brings nothing for so long is dead; servers send pings far more often.
const IDLE: Duration = Duration::from_secs(90);

/// Models on servers, whatever their wire format.
pub struct ModelClient {
    outbound: Arc<dyn Outbound>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    dialects: Dialects,
}

/// What the tries of one question share.
struct Question<'a> {
    url: String,
    /// What is sent, as the bytes that a repetition sends again.
    body: Vec<u8>,
    address: &'a ModelAddress,
    request: &'a ModelRequest,
    scrub: Scrub,
    listener: Option<Listener<'a>>,
}

impl ModelClient {
    /// A client that sends through `outbound`, whose policy decides which servers are allowed.
    pub fn new(
        outbound: Arc<dyn Outbound>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self {
            outbound,
            clock,
            entropy,
            dialects: Dialects::default(),
        }
    }

    async fn answer(&self, mut question: Question<'_>) -> Result<ModelReply, ModelError> {
        let address = question.address;
        let deadline = self.clock.now().after(address.request_timeout);
        let known = self.dialects.of(address);
        let mut dialect = known;
        question.write(dialect);
        let mut first_rejection = None;
        let mut attempts = 0;
        loop {
            let left = deadline.since(self.clock.now());
            if left.is_zero() {
                return Err(ModelError::TimedOut(address.request_timeout));
            }
            let failure = match self.attempt(&mut question, left).await {
                Ok(reply) => {
                    if dialect != known {
                        self.dialects.remember(address, dialect);
                    }
                    return Ok(reply);
                }
                Err(failure) => failure,
            };
            if let Some(next) = dialect.after(&failure, address.wire, question.request) {
                dialect = next;
                question.write(dialect);
                first_rejection.get_or_insert(failure.error);
                continue;
            }
            attempts += 1;
            let left = deadline.since(self.clock.now());
            let wait = backoff::wait(
                attempts,
                failure.retry_after,
                u64::from_le_bytes(random(&*self.entropy)),
            );
            let is_final = !failure.error.is_retryable()
                || attempts >= backoff::MAX_ATTEMPTS
                || wait > backoff::LONGEST_ASKED
                || wait >= left;
            if is_final {
                // What the newest words were rejected for says more than what older ones were.
                return Err(match failure.error {
                    ModelError::Rejected { .. } => first_rejection.unwrap_or(failure.error),
                    other => other,
                });
            }
            question.tell(Piece::Retry {
                attempt: attempts,
                wait,
                reason: failure.error.reason(),
            });
            tracing::debug!(
                attempt = attempts,
                reason = failure.error.reason(),
                wait_ms = wait.as_millis(),
                "asking the model again"
            );
            self.clock.sleep_until(self.clock.now().after(wait)).await;
        }
    }

    async fn attempt(
        &self,
        question: &mut Question<'_>,
        left: Duration,
    ) -> Result<ModelReply, Failure> {
        let address = question.address;
        let limit = address.request_timeout;
        let is_streamed = question.listener.is_some();
        let accept = match is_streamed {
            true => "text/event-stream",
            false => "application/json",
        };
        let mut headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), accept.to_owned()),
        ];
        headers.extend(wire::headers(address));
        if let Some(key) = &question.request.idempotency_key {
            headers.push(("idempotency-key".to_owned(), key.clone()));
        }
        let sent = OutboundRequest {
            method: "POST".to_owned(),
            url: question.url.clone(),
            headers,
            body: question.body.clone(),
            timeout: left,
        };
        let answer = self
            .outbound
            .send_streaming(sent, MAX_STREAM)
            .await
            .map_err(|error| failure::before_answer(error, limit))?;
        if !(200..300).contains(&answer.status) {
            return Err(self.refusal(answer, address.wire, &question.scrub).await);
        }
        let is_stream = answer
            .header("content-type")
            .is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"));
        let calls = question.request.messages.iter();
        let calls = calls.flat_map(|message| message.tool_calls());
        let builder = ReplyBuilder::among(
            address.wire,
            &address.model,
            calls.map(|call| call.id.clone()).collect(),
            question.scrub.clone(),
        );
        match is_stream {
            true => self.streamed(answer.body, builder, question).await,
            false => whole(answer.body, builder, question, limit).await,
        }
    }

    async fn streamed(
        &self,
        pieces: Pieces,
        mut builder: ReplyBuilder,
        question: &mut Question<'_>,
    ) -> Result<ModelReply, Failure> {
        match self.follow(pieces, &mut builder, question).await {
            Ok(()) => Ok(builder.finish()?),
            // What was said is worth keeping when this was the last try.
            Err(ModelError::Cut { cause, .. }) => Err(Failure::from(ModelError::Cut {
                cause,
                so_far: builder.text(),
            })),
            Err(error) => Err(error.into()),
        }
    }

    async fn follow(
        &self,
        mut pieces: Pieces,
        builder: &mut ReplyBuilder,
        question: &mut Question<'_>,
    ) -> Result<(), ModelError> {
        let limit = question.address.request_timeout;
        let mut reader = EventReader::new(MAX_ANSWER);
        let mut events = Vec::new();
        loop {
            let idle = self.clock.sleep_until(self.clock.now().after(IDLE));
            let piece = match select(pieces.next(), idle).await {
                Either::Left((Some(piece), _)) => piece,
                Either::Left((None, _)) => break,
                Either::Right(_) => {
                    let idle = IDLE.as_secs();
                    return Err(ModelError::cut(format!("nothing arrived for {idle} s")));
                }
            };
            let piece = piece.map_err(|error| failure::amid_answer(error, limit))?;
            let read = reader.push(&piece, &mut events);
            for event in events.drain(..) {
                builder.event(&event, &mut |piece| question.tell(piece))?;
            }
            if builder.is_over() {
                // The end of the transfer usually came along; reading it keeps the connection.
                let _ = pieces.next().now_or_never();
                return Ok(());
            }
            read.map_err(|too_long| ModelError::TooLarge { limit: too_long.0 })?;
        }
        match reader.finish() {
            Some(open) => builder.last_event(&open, &mut |piece| question.tell(piece)),
            None => Ok(()),
        }
    }

    /// What an answer that is no success means.
    async fn refusal(
        &self,
        mut answer: OutboundStream,
        wire: WireFormat,
        scrub: &Scrub,
    ) -> Failure {
        let retry_after = backoff::retry_after(|name| answer.header(name), self.clock.now());
        let mut body = Vec::new();
        // The status counts, also when the explanation is long or breaks off.
        while let Some(Ok(piece)) = answer.body.next().await {
            let room = MAX_ERROR_BODY - body.len();
            body.extend_from_slice(&piece[..piece.len().min(room)]);
            if body.len() == MAX_ERROR_BODY {
                break;
            }
        }
        failure::from_status(wire, answer.status, &body, retry_after, scrub)
    }
}

type Pieces = BoxStream<'static, Result<Vec<u8>, OutboundError>>;

async fn whole(
    mut pieces: Pieces,
    builder: ReplyBuilder,
    question: &mut Question<'_>,
    limit: Duration,
) -> Result<ModelReply, Failure> {
    let mut body = Vec::new();
    while let Some(piece) = pieces.next().await {
        body.extend(piece.map_err(|error| failure::amid_answer(error, limit))?);
        if body.len() > MAX_ANSWER {
            return Err(ModelError::TooLarge { limit: MAX_ANSWER }.into());
        }
    }
    // Servers that do not stream answer so although asked to.
    Ok(builder.whole(&body, &mut |piece| question.tell(piece))?)
}

impl Question<'_> {
    /// Writes what is sent.
    fn write(&mut self, dialect: Dialect) {
        let is_streamed = self.listener.is_some();
        self.body = wire::body(self.address, self.request, dialect, is_streamed);
    }

    fn tell(&mut self, piece: Piece<'_>) {
        if let Some(listener) = &mut self.listener {
            listener(piece);
        }
    }
}

impl LanguageModel for ModelClient {
    fn complete<'a>(
        &'a self,
        address: &'a ModelAddress,
        request: &'a ModelRequest,
        listener: Option<Listener<'a>>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(async move {
            let question = Question {
                url: wire::endpoint(address, listener.is_some())?,
                body: Vec::new(),
                address,
                request,
                scrub: Scrub::new(address.api_key.as_ref()),
                listener,
            };
            self.answer(question).await
        })
    }
}
