//! The `/mcp` endpoint: rmcp's streamable HTTP service behind a guard of ours.
//!
//! One endpoint serves both eras: sessions for `initialize` clients, stateless requests
//! for 2026-07-28. Host and Origin are checked here; keys, limits and audit belong to the
//! HTTP surface, which puts the caller's `Principal` into the request's extensions.

mod batch;
mod guard;
mod reply;
mod sessions;

use std::{sync::Arc, time::Duration};

use axum::body::Body;
use http::request::Parts;
use rmcp::{
    RoleServer, ServerHandler,
    service::RequestContext,
    transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService},
};
use tokio_util::sync::CancellationToken;
use windlass_types::Principal;

pub use guard::McpEndpoint;
use sessions::Sessions;
pub use sessions::StreamHandle;

/// How the endpoint is served.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// `Host` values taken, with or without a port. Loopback names by default.
    pub allowed_hosts: Vec<String>,
    /// `Origin` values taken (`scheme://host:port`, `:*` for any port). A browser page from
    /// anywhere else is refused; a request without `Origin` comes from no browser.
    pub allowed_origins: Vec<String>,
    /// The largest request body taken, in bytes.
    pub max_body_bytes: usize,
    /// How long a session may lie idle.
    pub session_idle: Duration,
    /// Sessions kept at once; a quarter of them at most for one caller. The one idle longest makes
    /// room for a new one: the caller's own, or one of the caller who has most.
    pub max_sessions: usize,
    /// Cancelled to end every open stream and session.
    pub shutdown: CancellationToken,
}

impl Default for HttpOptions {
    fn default() -> Self {
        let hosts = ["localhost", "127.0.0.1", "[::1]"];
        Self {
            allowed_hosts: hosts.map(str::to_owned).to_vec(),
            allowed_origins: hosts.map(|host| format!("http://{host}:*")).to_vec(),
            max_body_bytes: 10 * 1024 * 1024,
            session_idle: Duration::from_secs(30 * 60),
            max_sessions: 1024,
            shutdown: CancellationToken::new(),
        }
    }
}

/// Builds the endpoint. `handlers` makes one handler for every session and every stateless
/// request, so making one must be cheap.
pub fn endpoint<H: ServerHandler>(
    handlers: impl Fn() -> H + Send + Sync + 'static,
    options: HttpOptions,
) -> McpEndpoint<H> {
    let sessions = Arc::new(Sessions::new(options.max_sessions, options.session_idle));
    // A terminal answer goes out as plain JSON where the era allows it: one frame less.
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(options.allowed_hosts)
        .with_allowed_origins(options.allowed_origins)
        .enforce_origin_validation()
        .with_json_response(true)
        .with_max_request_body_bytes(options.max_body_bytes)
        .with_cancellation_token(options.shutdown);
    let service = StreamableHttpService::new(move || Ok(handlers()), Arc::clone(&sessions), config);
    McpEndpoint::new(service, sessions, options.max_body_bytes)
}

/// Who sent a request that came over HTTP, as the HTTP surface's authentication found.
pub fn principal(context: &RequestContext<RoleServer>) -> Option<&Principal> {
    context.extensions.get::<Parts>()?.extensions.get()
}

/// The id the HTTP surface gave a request.
pub fn request_id(context: &RequestContext<RoleServer>) -> Option<&str> {
    context
        .extensions
        .get::<Parts>()?
        .headers
        .get("x-request-id")?
        .to_str()
        .ok()
}

type Request = http::Request<Body>;
type Response = http::Response<Body>;
