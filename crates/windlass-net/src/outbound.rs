//! The HTTP client behind the `Outbound` port.

use std::{
    error::Error,
    net::{IpAddr, SocketAddr},
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures::stream;
use reqwest::{
    Client, ClientBuilder, Method, Response, Url,
    header::{HeaderName, HeaderValue},
    redirect,
};
use tokio::time::{Instant, timeout_at};
use windlass_ports::{
    BoxFuture, Outbound, OutboundError, OutboundRequest, OutboundResponse, OutboundStream,
};

use crate::{
    OutboundPolicy,
    resolver::{Found, GuardedResolver, Lookup, Refused, SystemLookup, check_all},
};

/// Answers are kept for a log and for people; more than this helps neither.
const MAX_BODY: usize = 64 * 1024;
/// A host that takes longer to accept a connection is not there.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Outbound HTTP under a policy.
pub struct HttpOutbound {
    policy: OutboundPolicy,
    lookup: Arc<dyn Lookup>,
    found: Found,
    connect_timeout: Duration,
    reuses_connections: bool,
    /// Built at first use: loading certificates takes longer than most commands.
    client: OnceLock<Result<Client, String>>,
}

impl HttpOutbound {
    /// A client that resolves names as the operating system does.
    pub fn new(policy: OutboundPolicy) -> Self {
        Self::with_lookup(policy, SystemLookup)
    }

    /// A client with another lookup; for tests and split-horizon networks.
    pub fn with_lookup(policy: OutboundPolicy, lookup: impl Lookup) -> Self {
        Self {
            policy,
            lookup: Arc::new(lookup),
            found: Found::default(),
            connect_timeout: CONNECT_TIMEOUT,
            reuses_connections: true,
            client: OnceLock::new(),
        }
    }

    /// The same with a shorter timeout for a host that does not accept a connection.
    #[must_use]
    pub fn connecting_within(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// The same with a connection of its own for every request, so that names are looked up and
    /// judged every time.
    #[must_use]
    pub fn without_reuse(mut self) -> Self {
        self.reuses_connections = false;
        self
    }

    fn client(&self) -> Result<&Client, OutboundError> {
        let built = self.client.get_or_init(|| {
            let resolver = GuardedResolver {
                policy: self.policy.clone(),
                lookup: Arc::clone(&self.lookup),
                found: self.found.clone(),
            };
            guarded(resolver, self.connect_timeout)
                .pool_max_idle_per_host(if self.reuses_connections {
                    usize::MAX
                } else {
                    0
                })
                .build()
                .map_err(|error| error.to_string())
        });
        built.as_ref().map_err(|cause| {
            OutboundError::Unreachable(format!("the HTTP client cannot start: {cause}"))
        })
    }

    /// Sends; returns with the headers of the answer.
    async fn begin(&self, url: Url, request: OutboundRequest) -> Result<Response, OutboundError> {
        let method = Method::from_bytes(request.method.as_bytes()).map_err(|_| {
            OutboundError::InvalidUrl(format!("`{}` is not an HTTP method", request.method))
        })?;
        let mut builder = self.client()?.request(method, url).body(request.body);
        for (name, value) in &request.headers {
            let (name, value) = header(name, value)?;
            builder = builder.header(name, value);
        }
        builder.send().await.map_err(explain)
    }

    async fn exchange(
        &self,
        url: Url,
        request: OutboundRequest,
    ) -> Result<OutboundResponse, OutboundError> {
        let mut response = self.begin(url, request).await?;
        let (status, headers) = head(&response);
        let address = response.remote_addr();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(explain)? {
            body.extend_from_slice(&chunk[..chunk.len().min(MAX_BODY - body.len())]);
            if body.len() == MAX_BODY {
                break;
            }
        }
        Ok(OutboundResponse {
            status,
            headers,
            body,
            address,
        })
    }

    /// Every address of a name, or none when it has none in time.
    async fn addresses_of(&self, name: &str) -> Vec<IpAddr> {
        let answer = tokio::time::timeout(self.connect_timeout, self.lookup.lookup(name)).await;
        match answer {
            Ok(Ok(addresses)) => addresses,
            Ok(Err(_)) | Err(_) => Vec::new(),
        }
    }
}

impl Outbound for HttpOutbound {
    fn send(
        &self,
        request: OutboundRequest,
    ) -> BoxFuture<'_, Result<OutboundResponse, OutboundError>> {
        Box::pin(async move {
            let url = self.policy.check(&request.url)?;
            let timeout = request.timeout;
            match tokio::time::timeout(timeout, self.exchange(url, request)).await {
                Ok(result) => result,
                Err(_) => Err(OutboundError::TimedOut(timeout)),
            }
        })
    }

    fn send_streaming(
        &self,
        request: OutboundRequest,
        max_body: usize,
    ) -> BoxFuture<'_, Result<OutboundStream, OutboundError>> {
        Box::pin(async move {
            let url = self.policy.check(&request.url)?;
            let limit = request.timeout;
            let deadline = Instant::now() + limit;
            let response = match timeout_at(deadline, self.begin(url, request)).await {
                Ok(response) => response?,
                Err(_) => return Err(OutboundError::TimedOut(limit)),
            };
            let (status, headers) = head(&response);
            let body = Body {
                response,
                deadline,
                limit,
                max_body,
                room: max_body,
            };
            // The state is gone after an error, so nothing follows it.
            let body = stream::unfold(Some(body), async |body| {
                let mut body = body?;
                match body.next().await {
                    Ok(Some(piece)) => Some((Ok(piece), Some(body))),
                    Ok(None) => None,
                    Err(error) => Some((Err(error), None)),
                }
            });
            Ok(OutboundStream {
                status,
                headers,
                body: Box::pin(body),
            })
        })
    }

    fn check(&self, url: &str) -> Result<(), OutboundError> {
        self.policy.check(url).map(drop)
    }

    fn check_resolved<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<(), OutboundError>> {
        Box::pin(async move {
            let url = self.policy.check(url)?;
            let Some(name) = url.domain() else {
                return Ok(());
            };
            check_all(&self.policy, name, &self.addresses_of(name).await)
        })
    }

    fn last_addresses(&self, url: &str) -> Vec<SocketAddr> {
        let Ok(url) = self.policy.check(url) else {
            return Vec::new();
        };
        let port = url.port_or_known_default().unwrap_or_default();
        let host = url.host_str().unwrap_or_default();
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse();
        let addresses = match literal {
            Ok(address) => vec![address],
            Err(_) => self.found.addresses(host),
        };
        addresses
            .into_iter()
            .map(|address| SocketAddr::new(address, port))
            .collect()
    }
}

/// A client that connects only to what the policy lets through.
pub(crate) fn guarded(resolver: GuardedResolver, connect_timeout: Duration) -> ClientBuilder {
    Client::builder()
        .redirect(redirect::Policy::none())
        // A proxy would resolve names itself, past the policy.
        .no_proxy()
        .referer(false)
        .connect_timeout(connect_timeout)
        .user_agent(concat!("Windlass/", env!("CARGO_PKG_VERSION")))
        .dns_resolver(resolver)
}

/// A body that is being read.
struct Body {
    response: Response,
    deadline: Instant,
    limit: Duration,
    max_body: usize,
    room: usize,
}

impl Body {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, OutboundError> {
        match timeout_at(self.deadline, self.response.chunk()).await {
            Err(_) => Err(OutboundError::TimedOut(self.limit)),
            Ok(Err(error)) => Err(explain(error)),
            Ok(Ok(None)) => Ok(None),
            Ok(Ok(Some(chunk))) => {
                self.room = self
                    .room
                    .checked_sub(chunk.len())
                    .ok_or(OutboundError::TooLarge(self.max_body))?;
                Ok(Some(chunk.to_vec()))
            }
        }
    }
}

fn head(response: &Response) -> (u16, Vec<(String, String)>) {
    let headers = response
        .headers()
        .iter()
        .map(|(name, value)| {
            (
                name.as_str().to_owned(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        })
        .collect();
    (response.status().as_u16(), headers)
}

/// A header that does not contradict what the client writes itself.
fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), OutboundError> {
    let unusable = || OutboundError::InvalidUrl(format!("the header `{name}` cannot be sent"));
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unusable())?;
    // `host` would name another site than the one that was checked; the others frame the message.
    if [
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "upgrade",
    ]
    .contains(&parsed.as_str())
    {
        return Err(unusable());
    }
    let mut value = HeaderValue::from_str(value).map_err(|_| unusable())?;
    value.set_sensitive(true);
    Ok((parsed, value))
}

/// The cause that helps, without the address: its query may hold a secret.
pub(crate) fn explain(error: reqwest::Error) -> OutboundError {
    let error = error.without_url();
    let mut causes = Vec::new();
    let mut next: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(cause) = next {
        if let Some(Refused(reason)) = cause.downcast_ref() {
            return OutboundError::Forbidden(reason.clone());
        }
        let text = cause.to_string();
        if causes.last() != Some(&text) {
            causes.push(text);
        }
        next = cause.source();
    }
    OutboundError::Unreachable(causes.join(": "))
}

#[cfg(test)]
#[path = "outbound_tests.rs"]
mod tests;
