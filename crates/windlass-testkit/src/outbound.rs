//! A network that answers as a test says and remembers what it was sent.

use std::{
    collections::{HashMap, VecDeque},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{StreamExt as _, stream};
use windlass_ports::{
    BoxFuture, Clock, Outbound, OutboundError, OutboundRequest, OutboundResponse, OutboundStream,
};
use windlass_types::Timestamp;

use crate::FakeClock;

/// Where every receiver is.
const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(203, 0, 113, 5)), 443);

/// How a receiver answers.
#[derive(Clone, Debug)]
pub enum Reply {
    /// With a status.
    Status(u16),
    /// With a status and headers.
    Headers(u16, Vec<(String, String)>),
    /// Not at all: the connection is refused.
    Unreachable,
    /// Not at all: the connection hangs until the caller's time is up.
    Hang,
    /// Late.
    After(Duration, u16),
    /// With a status and a body.
    Body(u16, String),
}

/// A request that was sent.
#[derive(Clone, Debug)]
pub struct SentRequest {
    /// When.
    pub at: Timestamp,
    /// The request.
    pub request: OutboundRequest,
}

impl SentRequest {
    /// A header's value.
    pub fn header(&self, name: &str) -> &str {
        let found = self
            .request
            .headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }
}

/// A recording network. Addresses without a script answer 200. Clones share everything.
#[derive(Clone)]
pub struct RecordingOutbound {
    clock: FakeClock,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    sent: Vec<SentRequest>,
    scripts: HashMap<String, VecDeque<Reply>>,
    forbidden: Vec<String>,
}

impl RecordingOutbound {
    /// A network whose slow answers take time on this clock.
    pub fn new(clock: &FakeClock) -> Self {
        Self {
            clock: clock.clone(),
            state: Arc::default(),
        }
    }

    /// The answers of an address, in order; the last one is repeated.
    pub fn script(&self, url: &str, replies: impl IntoIterator<Item = Reply>) {
        self.lock()
            .scripts
            .insert(url.to_owned(), replies.into_iter().collect());
    }

    /// Makes the address policy refuse everything that begins so.
    pub fn forbid(&self, prefix: &str) {
        self.lock().forbidden.push(prefix.to_owned());
    }

    /// Everything that was sent, in order.
    pub fn sent(&self) -> Vec<SentRequest> {
        self.lock().sent.clone()
    }

    /// What was sent to one address.
    pub fn sent_to(&self, url: &str) -> Vec<SentRequest> {
        self.lock()
            .sent
            .iter()
            .filter(|sent| sent.request.url == url)
            .cloned()
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_reply(&self, url: &str) -> Reply {
        let mut state = self.lock();
        match state.scripts.get_mut(url) {
            Some(replies) if replies.len() > 1 => replies.pop_front().unwrap_or(Reply::Status(200)),
            Some(replies) => replies.front().cloned().unwrap_or(Reply::Status(200)),
            None => Reply::Status(200),
        }
    }
}

impl Outbound for RecordingOutbound {
    fn send(
        &self,
        request: OutboundRequest,
    ) -> BoxFuture<'_, Result<OutboundResponse, OutboundError>> {
        Box::pin(async move {
            self.check(&request.url)?;
            let (url, timeout) = (request.url.clone(), request.timeout);
            let at = self.clock.now();
            self.lock().sent.push(SentRequest { at, request });
            let answer = |status, headers, body| {
                Ok(OutboundResponse {
                    status,
                    headers,
                    body,
                    address: Some(ADDRESS),
                })
            };
            match self.next_reply(&url) {
                Reply::Status(status) => answer(status, Vec::new(), Vec::new()),
                Reply::Headers(status, headers) => answer(status, headers, Vec::new()),
                Reply::Body(status, body) => answer(status, Vec::new(), body.into_bytes()),
                Reply::Unreachable => {
                    Err(OutboundError::Unreachable("connection refused".to_owned()))
                }
                Reply::Hang => {
                    self.clock.sleep_until(at.after(timeout)).await;
                    Err(OutboundError::Unreachable("the time ran out".to_owned()))
                }
                Reply::After(delay, status) => {
                    self.clock.sleep_until(at.after(delay)).await;
                    answer(status, Vec::new(), Vec::new())
                }
            }
        })
    }

    fn send_streaming(
        &self,
        request: OutboundRequest,
        max_body: usize,
    ) -> BoxFuture<'_, Result<OutboundStream, OutboundError>> {
        Box::pin(async move {
            let whole = self.send(request).await?;
            let piece = match whole.body.len() > max_body {
                true => Err(OutboundError::TooLarge(max_body)),
                false => Ok(whole.body),
            };
            Ok(OutboundStream {
                status: whole.status,
                headers: whole.headers,
                body: stream::iter([piece]).boxed(),
            })
        })
    }

    fn check(&self, url: &str) -> Result<(), OutboundError> {
        match self
            .lock()
            .forbidden
            .iter()
            .find(|prefix| url.starts_with(prefix.as_str()))
        {
            Some(prefix) => Err(OutboundError::Forbidden(format!("{prefix} is not allowed"))),
            None => Ok(()),
        }
    }
}
