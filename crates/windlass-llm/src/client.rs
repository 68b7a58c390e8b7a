//! The client: one question, as many tries as time and the server allow, one answer.

use std::{sync::Arc, time::Duration};

use futures::StreamExt as _;
use windlass_ports::{
    BoxFuture, BoxStream, Clock, Entropy, LanguageModel, Listener, ModelAddress, ModelError,
    ModelReply, ModelRequest, Outbound, OutboundError, OutboundRequest, OutboundStream, Piece,
    entropy::random,
};

use crate::{
    backoff,
    dialect::{Dialect, Dialects},
    events::EventReader,
    failure::{self, Failure, Scrub},
    reply::ReplyBuilder,
    request,
};

/// The longest answer, and the longest event of one.
const MAX_BODY: usize = 16 * 1024 * 1024;
/// As much of an error body as is read.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// Models on servers with a chat-completions API.
pub struct ChatCompletions {
    outbound: Arc<dyn Outbound>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    dialects: Dialects,
}

/// What the tries of one question share.
struct Question<'a> {
    url: String,
    address: &'a ModelAddress,
    request: &'a ModelRequest,
    scrub: Scrub,
    listener: Option<Listener<'a>>,
}

impl ChatCompletions {
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
        let mut first_rejection = None;
        let mut attempts = 0;
        loop {
            let left = deadline.since(self.clock.now());
            if left.is_zero() {
                return Err(ModelError::TimedOut(address.request_timeout));
            }
            let failure = match self.attempt(&mut question, dialect, left).await {
                Ok(reply) => {
                    if dialect != known {
                        self.dialects.remember(address, dialect);
                    }
                    return Ok(reply);
                }
                Err(failure) => failure,
            };
            if let Some(next) = dialect.after(&failure, question.request) {
                dialect = next;
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
            let is_final =
                !failure.error.is_retryable() || attempts >= backoff::MAX_ATTEMPTS || wait >= left;
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
        dialect: Dialect,
        left: Duration,
    ) -> Result<ModelReply, Failure> {
        let address = question.address;
        let limit = address.request_timeout;
        let is_streamed = question.listener.is_some();
        let body = request::body(&address.model, question.request, dialect, is_streamed);
        let accept = match is_streamed {
            true => "text/event-stream",
            false => "application/json",
        };
        let mut headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), accept.to_owned()),
        ];
        if let Some(key) = &address.api_key {
            let key = key.expose_secret().trim();
            headers.push(("authorization".to_owned(), format!("Bearer {key}")));
        }
        if let Some(key) = &question.request.idempotency_key {
            headers.push(("idempotency-key".to_owned(), key.clone()));
        }
        let sent = OutboundRequest {
            method: "POST".to_owned(),
            url: question.url.clone(),
            headers,
            body: body.to_string().into_bytes(),
            timeout: left,
        };
        let answer = self
            .outbound
            .send_streaming(sent, MAX_BODY)
            .await
            .map_err(|error| failure::before_answer(error, limit))?;
        if !(200..300).contains(&answer.status) {
            return Err(self.refusal(answer, &question.scrub).await);
        }
        let is_stream = answer
            .header("content-type")
            .is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"));
        let builder = ReplyBuilder::scrubbed(&address.model, question.scrub.clone());
        match is_stream {
            true => streamed(answer.body, builder, question, limit).await,
            false => whole(answer.body, builder, question, limit).await,
        }
    }

    /// What an answer that is no success means.
    async fn refusal(&self, mut answer: OutboundStream, scrub: &Scrub) -> Failure {
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
        failure::from_status(answer.status, &body, retry_after, scrub)
    }
}

type Pieces = BoxStream<'static, Result<Vec<u8>, OutboundError>>;

async fn streamed(
    mut pieces: Pieces,
    mut builder: ReplyBuilder,
    question: &mut Question<'_>,
    limit: Duration,
) -> Result<ModelReply, Failure> {
    let mut reader = EventReader::new(MAX_BODY);
    let mut events = Vec::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| failure::amid_answer(error, limit))?;
        let read = reader.push(&piece, &mut events);
        for event in events.drain(..) {
            let text = builder.event(&event)?;
            question.hear(&text);
        }
        read.map_err(|too_long| ModelError::TooLarge { limit: too_long.0 })?;
    }
    if let Some(open) = reader.finish() {
        let text = builder.last_event(&open)?;
        question.hear(&text);
    }
    Ok(builder.finish()?)
}

async fn whole(
    mut pieces: Pieces,
    builder: ReplyBuilder,
    question: &mut Question<'_>,
    limit: Duration,
) -> Result<ModelReply, Failure> {
    let mut body = Vec::new();
    while let Some(piece) = pieces.next().await {
        body.extend(piece.map_err(|error| failure::amid_answer(error, limit))?);
    }
    let reply = builder.whole(&body)?;
    // Servers that do not stream answer so although asked to.
    question.hear(&reply.text());
    Ok(reply)
}

impl Question<'_> {
    fn hear(&mut self, text: &str) {
        if !text.is_empty() {
            self.tell(Piece::Text(text));
        }
    }

    fn tell(&mut self, piece: Piece<'_>) {
        if let Some(listener) = &mut self.listener {
            listener(piece);
        }
    }
}

impl LanguageModel for ChatCompletions {
    fn complete<'a>(
        &'a self,
        address: &'a ModelAddress,
        request: &'a ModelRequest,
        listener: Option<Listener<'a>>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(async move {
            let question = Question {
                url: request::endpoint(address)?,
                address,
                request,
                scrub: Scrub::new(address.api_key.as_ref()),
                listener,
            };
            self.answer(question).await
        })
    }
}
