//! The guard: what every request passes on its way in and every answer on its way out.
//!
//! One stage instead of a layer for each, because the parts need each other (a refusal still
//! carries rate-limit headers) and because each layer would cost every MCP call an allocation.

mod access;
mod held;
mod hosts;
mod identify;
mod inbound;
mod origins;
mod outdated;
mod rates;
mod request_id;
mod screen;
mod streams;

pub(crate) use hosts::Hosts;
pub(crate) use identify::is_probe;
pub(crate) use inbound::InboundError;
pub(crate) use origins::Origins;
pub(crate) use rates::Tiers;
pub(crate) use request_id::request_id;
pub(crate) use screen::too_large;
pub(crate) use streams::Streams;

use std::{
    net::IpAddr,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Router, body::HttpBody as _, extract::Request, response::Response};
use futures::FutureExt as _;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri,
    header::{
        ACCEPT, CACHE_CONTROL, CONNECTION, HOST, ORIGIN, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
    },
    request::Parts,
};
use tower::Service as _;
use tracing::Instrument as _;
use windlass_engine::{
    access::{Declined, Meter, Permit, RateStatus},
    contract::http::{Failures, Output, Route},
};
use windlass_telemetry::metrics::RATE_LIMITED;
use windlass_types::{Problem, Timestamp, code};

use self::{
    held::Held,
    identify::{Caller, identify, peer},
    inbound::Inbound,
    rates::NamedTier,
    request_id::REQUEST_ID,
};
use crate::{
    base::base_url,
    challenge::{Lack, challenge, is_mcp},
    failure::{Failure, RequiredScopes},
    paths,
    state::Shared,
    traffic::Part,
};

/// How much of a refused message is read, and for how long, to find out whom to answer.
const DECLINED_BODY: usize = 64 * 1024;
const DECLINED_TIMEOUT: Duration = Duration::from_secs(2);
const REFERRER_POLICY: HeaderName = HeaderName::from_static("referrer-policy");

/// The guard in front of the routes.
#[derive(Clone)]
pub(crate) struct Guard {
    shared: Arc<Shared>,
    routes: Router,
}

/// Where the sender of a request stands.
struct Standing<'a> {
    tier: &'a NamedTier,
    status: RateStatus,
    now: Timestamp,
    retry_after: Option<Duration>,
    meter: Meter,
}

/// A refusal before any route is reached.
struct Refusal {
    failure: Failure,
    lack: Option<Lack>,
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            lack: None,
        }
    }
}

impl Guard {
    pub(crate) const fn new(shared: Arc<Shared>, routes: Router) -> Self {
        Self { shared, routes }
    }

    /// Answers a request.
    pub(crate) async fn handle(self, request: Request) -> Response {
        let started = Instant::now();
        let shared = &*self.shared;
        let traffic = &shared.state.traffic;
        let in_flight = traffic.request_begins();
        let (mut parts, body) = request.into_parts();
        let entropy = &*shared.state.catalogue.engine().entropy;
        let id = request_id::adopt(&mut parts.headers, entropy);
        let host = parts.headers.get(HOST).cloned();
        let uri = parts.uri.clone();
        let method = parts.method.clone();
        let part = if is_mcp(uri.path()) {
            Part::Mcp
        } else {
            Part::Api
        };
        let origin = if shared.state.cors {
            parts.headers.get(ORIGIN).cloned()
        } else {
            None
        };

        let found = self.screen_and_identify(&parts).await;
        let (permit, mut standing, found) = self.admit(&parts, found);
        let (place, found) = match found {
            Ok(caller) if self.opens_stream(&parts) => {
                match shared.streams.open(standing.meter.caller()) {
                    Ok(place) => (Some(place), Ok(caller)),
                    Err(problem) => (None, Err(Failure::from(problem).into())),
                }
            }
            found => (None, found),
        };
        if part == Part::Mcp {
            parts.extensions.insert(standing.meter.clone());
        }
        let mut lack = None;
        let mut response = match found {
            Err(refusal) => {
                lack = refusal.lack;
                if part == Part::Mcp && standing.retry_after.is_some() {
                    self.decline(refusal.failure, parts, body, &id).await
                } else {
                    self.refuse(refusal.failure, uri.path(), &id)
                }
            }
            Ok(caller) => match shared
                .state
                .cors
                .then(|| origins::preflight(&parts.method, &parts.headers))
                .flatten()
            {
                Some(answer) => answer,
                None => self.pass(caller, parts, body, &id).await,
            },
        };

        self.add_challenge(&mut response, host.as_ref(), &uri, lack);
        if part == Part::Mcp {
            // A batch counted as its messages.
            standing.status = standing.meter.status();
        }
        if response.status() == StatusCode::PAYLOAD_TOO_LARGE {
            // The rest of the body is not read as a request.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        let headers = response.headers_mut();
        rates::write_headers(headers, &standing);
        outdated::write_headers(headers, &shared.state.deprecations, uri.path());
        headers.insert(REQUEST_ID, id);
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers
            .entry(CACHE_CONTROL)
            .or_insert(HeaderValue::from_static("no-store"));
        if let Some(origin) = origin
            && response.status() != StatusCode::FORBIDDEN
        {
            origins::allow(origin, response.headers_mut());
        }
        traffic.answered(part, response.status().as_u16(), started.elapsed());
        drop(in_flight);
        access::log(&access::Answered {
            request_id: response.headers().get(REQUEST_ID),
            method: &method,
            path: uri.path(),
            status: response.status(),
            caller: standing.meter.caller(),
            took: started.elapsed(),
        });
        if response.body().size_hint().exact().is_some() {
            return response;
        }
        let stream = traffic.stream_begins();
        response.map(|body| Held::hold(body, permit, stream, place))
    }

    /// The checks that need no count, cheapest first.
    async fn screen_and_identify(&self, parts: &Parts) -> Result<Caller, Refusal> {
        let shared = &*self.shared;
        shared.hosts.check(&parts.headers, &parts.uri)?;
        shared.origins.check(&parts.headers)?;
        screen::sizes(
            &parts.method,
            &parts.uri,
            &parts.headers,
            shared.state.body_limit,
        )?;
        if screen::has_key_in_address(&parts.uri) {
            let (failure, lack) = identify::refuse(Lack::ValidToken);
            return Err(Refusal { failure, lack });
        }
        if shared.state.cors && origins::preflight(&parts.method, &parts.headers).is_some() {
            return Ok(Caller::Anonymous);
        }
        identify(shared, parts)
            .await
            .map_err(|(failure, lack)| Refusal { failure, lack })
    }

    /// Whether the answer will be a stream that stays open without anything under way.
    fn opens_stream(&self, parts: &Parts) -> bool {
        let is_run_events = |route: &Route| route.output == Output::RunEvents;
        let catalogue = &self.shared.state.catalogue;
        parts.method == Method::GET
            && (wants_events(&parts.headers)
                || paths::route_of_path(catalogue, parts.uri.path()).is_some_and(is_run_events))
    }

    /// Counts the request for its sender; refused ones count for their address, so that
    /// guessing keys is limited too.
    fn admit(
        &self,
        parts: &Parts,
        found: Result<Caller, Refusal>,
    ) -> (Option<Permit>, Standing<'_>, Result<Caller, Refusal>) {
        let shared = &*self.shared;
        let (name, tier) = match &found {
            Ok(Caller::Key(principal, tier)) => (principal.id(), shared.tiers.of_key(tier)),
            Ok(Caller::Local(principal)) => (principal.id(), shared.tiers.local()),
            // Apart from what needs no key, so that neither uses up the other.
            Err(Refusal { lack: Some(_), .. }) => (
                format!("unauthorized {}", neighbourhood(peer(parts))),
                shared.tiers.unauthorized(),
            ),
            Ok(Caller::Anonymous | Caller::Signed(_)) | Err(_) => {
                (neighbourhood(peer(parts)), shared.tiers.anonymous())
            }
        };
        let engine = shared.state.catalogue.engine();
        let now = engine.now();
        let limits = &shared.state.limits;
        let admitted = limits.admit(&name, tier.tier, now);
        let meter = Meter::new(limits, name, tier.tier, Arc::clone(&engine.clock));
        let standing = |status: RateStatus, retry_after| Standing {
            tier,
            status,
            now,
            retry_after,
            meter,
        };
        match admitted {
            Ok(permit) => {
                let standing = standing(permit.status(), None);
                (Some(permit), standing, found)
            }
            Err(refused) if is_probe(parts.uri.path()) => {
                (None, standing(refused.status, None), found)
            }
            Err(refused) => {
                engine.metrics().count(&RATE_LIMITED, &[tier.name()]);
                let standing = standing(refused.status, Some(refused.retry_after));
                (None, standing, Err(Failure::from(refused.problem).into()))
            }
        }
    }

    /// Hands the request to its route.
    async fn pass(
        &self,
        caller: Caller,
        mut parts: Parts,
        body: axum::body::Body,
        id: &HeaderValue,
    ) -> Response {
        let state = &self.shared.state;
        if let Caller::Local(principal) | Caller::Key(principal, _) | Caller::Signed(principal) =
            caller
        {
            parts.extensions.insert(principal);
        }
        let uri = parts.uri.clone();
        let is_stream = is_mcp(uri.path())
            || wants_events(&parts.headers)
            || paths::is_patient(&state.catalogue, &parts.method, uri.path());
        let body = Inbound::guard(body, state.body_limit, state.request_timeout / 2);
        let mut routes = self.routes.clone();
        let span = tracing::info_span!(
            "request",
            request_id = id.to_str().unwrap_or_default(),
            http.request.method = parts.method.as_str(),
            url.path = uri.path(),
            otel.kind = "server",
        );
        let answer = routes
            .call(Request::from_parts(parts, body))
            .instrument(span);
        let answer = AssertUnwindSafe(answer).catch_unwind();
        let answer = if is_stream {
            answer.await
        } else {
            match tokio::time::timeout(state.request_timeout, answer).await {
                Ok(answer) => answer,
                Err(_) => {
                    return self.refuse(timed_out(state.request_timeout).into(), uri.path(), id);
                }
            }
        };
        match answer {
            Ok(Ok(response)) => response,
            Ok(Err(never)) => match never {},
            Err(_) => {
                state.traffic.panicked();
                tracing::error!(
                    request_id = id.to_str().unwrap_or_default(),
                    path = uri.path(),
                    "a request handler panicked"
                );
                let problem =
                    Problem::internal("request handler", "it panicked; the log has the place");
                self.refuse(problem.into(), uri.path(), id)
            }
        }
    }

    fn refuse(&self, failure: Failure, path: &str, id: &HeaderValue) -> Response {
        let id = id.to_str().unwrap_or_default();
        tracing::debug!(
            request_id = id,
            path,
            status = failure.status().as_u16(),
            "refused"
        );
        paths::dress(&self.shared, failure, path).respond(id)
    }

    /// Lets the MCP endpoint say in its own protocol that there were too many requests.
    async fn decline(
        &self,
        failure: Failure,
        mut parts: Parts,
        body: axum::body::Body,
        id: &HeaderValue,
    ) -> Response {
        let id = id.to_str().unwrap_or_default();
        let catalogue = &self.shared.state.catalogue;
        let failure = match catalogue
            .declared()
            .contract_of_path(parts.uri.path(), Failures::RateLimit)
        {
            Some(contract) => failure.in_contract(contract),
            None => failure,
        };
        parts.extensions.insert(Declined {
            message: failure.problem().message().to_owned(),
            body: failure.body(id),
        });
        let body = Inbound::guard(body, DECLINED_BODY, DECLINED_TIMEOUT);
        let mut routes = self.routes.clone();
        let answer = routes.call(Request::from_parts(parts, body)).await;
        match answer {
            Ok(response) if response.status() == StatusCode::TOO_MANY_REQUESTS => response,
            // Nobody there who knows how to say it.
            Ok(_) => failure.respond(id),
            Err(never) => match never {},
        }
    }

    /// Tells a caller without the right key what kind of key it needs.
    fn add_challenge(
        &self,
        response: &mut Response,
        host: Option<&HeaderValue>,
        uri: &Uri,
        lack: Option<Lack>,
    ) {
        let required = response.extensions_mut().remove::<RequiredScopes>();
        let (lack, scopes) = match (lack, required) {
            (_, Some(RequiredScopes(scopes))) => (Lack::Scope, scopes),
            (Some(lack), None) => (lack, paths::scopes_of_path(&self.shared, uri.path())),
            (None, None) => return,
        };
        let url = base_url(self.shared.state.public_url.as_deref(), host, uri);
        if let Some(value) = challenge(&url, uri.path(), lack, &scopes) {
            response.headers_mut().insert(WWW_AUTHENTICATE, value);
        }
    }
}

fn timed_out(after: Duration) -> Problem {
    Problem::new(
        &code::TIMEOUT,
        format!("no answer within {} seconds", after.as_secs()),
    )
    .with("timeout_seconds", after.as_secs())
    .next("windlass runs list")
}

/// Whom a request without a caller is counted for: its address, or the network of an IPv6
/// address, since one machine has as many of those as it likes.
fn neighbourhood(peer: Option<IpAddr>) -> String {
    match peer {
        Some(IpAddr::V4(address)) => format!("address:{address}"),
        Some(IpAddr::V6(address)) => {
            let [a, b, c, d, ..] = address.segments();
            format!("address:{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
        None => "address:unknown".to_owned(),
    }
}

/// Whether the sender wants an event stream.
pub(crate) fn wants_events(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|kind| {
            kind.split(';')
                .next()
                .unwrap_or_default()
                .trim()
                .eq_ignore_ascii_case("text/event-stream")
        })
}
