//! The listeners: one request in, one function or port asked, one response out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{Response, StatusCode, header};
use axum::response::IntoResponse as _;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use windlass_ports::Clock;
use windlass_stack_config::model::common::Cors;
use windlass_stack_config::model::events::PayloadFormat;

use super::answer::{Reading, api_failure, balancer_failure, message, response};
use super::balancer::Listener;
use super::forward::{Targets, to_port};
use super::request::Incoming;
use super::{cors, event, matching};
use crate::log::{Level, Log};
use crate::routes::{HttpRoute, Target};
use crate::runtime_api::InvokeFailure;

/// The most that an HTTP API takes.
const API_BODY: usize = 10 << 20;
/// The most that a function takes.
const FUNCTION_EVENT: usize = 6 << 20;

/// An HTTP API.
pub(crate) struct HttpApi {
    pub name: String,
    pub routes: Vec<HttpRoute>,
    pub cors: Option<Cors>,
}

/// What listeners share.
#[derive(Clone)]
pub(crate) struct Behind {
    pub targets: Arc<Targets>,
    pub log: Arc<Log>,
    pub clock: Arc<dyn Clock>,
    pub client: reqwest::Client,
    pub requests: Arc<AtomicU64>,
}

impl Behind {
    async fn take_in(&self, request: Request) -> Result<Incoming, Response<Body>> {
        let (parts, body) = request.into_parts();
        let body = axum::body::to_bytes(body, API_BODY)
            .await
            .map_err(|_| message(StatusCode::PAYLOAD_TOO_LARGE, "Request Entity Too Large"))?;
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        Ok(Incoming {
            method: parts.method,
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            headers: parts.headers,
            body,
            at: self.clock.now(),
            id: format!("local-{number:08}"),
            source_ip: "127.0.0.1".to_owned(),
        })
    }

    async fn function(&self, name: &str, event: &Value) -> Result<Bytes, InvokeFailure> {
        let Some(function) = self.targets.functions.get(name) else {
            return Err(InvokeFailure::Unavailable(format!(
                "function {name} does not run here"
            )));
        };
        function.invoke(Bytes::from(event.to_string())).await
    }

    async fn port(&self, place: &str, port: u16, incoming: &Incoming) -> Response<Body> {
        let answer = match self.targets.ports.get(&(place.to_owned(), port)) {
            Some(local) => to_port(&self.client, *local, incoming).await,
            None => Err(format!("{place} has no port {port} here")),
        };
        answer.unwrap_or_else(|why| {
            self.log.write(place, Level::Error, &why);
            message(StatusCode::BAD_GATEWAY, "Bad Gateway")
        })
    }

    fn log_request(&self, source: &str, incoming: &Incoming, response: &Response<Body>) {
        let took = self.clock.now().since(incoming.at).as_millis();
        self.log.write(
            source,
            Level::Info,
            &format!(
                "{} {} {} {took} ms",
                incoming.method,
                incoming.path,
                response.status().as_u16()
            ),
        );
    }
}

/// Serves an HTTP API until it is cancelled.
pub(crate) fn serve_api(
    listener: TcpListener,
    api: HttpApi,
    behind: Behind,
    until: CancellationToken,
) {
    let state = Arc::new((api, behind));
    let router = Router::new()
        .fallback(at_api)
        .layer(DefaultBodyLimit::disable())
        .with_state(state);
    run(listener, router, until);
}

/// Serves a load balancer's listener until it is cancelled.
pub(crate) fn serve_listener(
    listener: TcpListener,
    balancer: Listener,
    behind: Behind,
    until: CancellationToken,
) {
    let state = Arc::new((balancer, behind));
    let router = Router::new()
        .fallback(at_listener)
        .layer(DefaultBodyLimit::disable())
        .with_state(state);
    run(listener, router, until);
}

fn run(listener: TcpListener, router: Router, until: CancellationToken) {
    tokio::spawn(async move {
        tokio::select! {
            // Accepting continues until the session ends; requests in progress end with it.
            _ = async { axum::serve(listener, router).await } => {}
            () = until.cancelled() => {}
        }
    });
}

async fn at_api(State(state): State<Arc<(HttpApi, Behind)>>, request: Request) -> Response<Body> {
    let (api, behind) = &*state;
    let incoming = match behind.take_in(request).await {
        Ok(incoming) => incoming,
        Err(refusal) => return refusal,
    };
    let mut response = match api
        .cors
        .as_ref()
        .and_then(|cors| cors::preflight(cors, &incoming))
    {
        Some(preflight) => preflight,
        None => {
            let mut response = by_route(api, behind, &incoming).await;
            if let Some(cors) = &api.cors {
                cors::dress(cors, &incoming, response.headers_mut());
            }
            response
        }
    };
    if let Ok(id) = incoming.id.parse() {
        response.headers_mut().insert("apigw-requestid", id);
    }
    behind.log_request(&api.name, &incoming, &response);
    response
}

async fn by_route(api: &HttpApi, behind: &Behind, incoming: &Incoming) -> Response<Body> {
    let Some(matched) = matching::best(&api.routes, incoming.method.as_str(), &incoming.path)
    else {
        return message(StatusCode::NOT_FOUND, "Not Found");
    };
    let name = match &matched.route.target {
        Target::Port(place, port) => return behind.port(place, *port, incoming).await,
        Target::Function(name) => name,
    };
    if incoming.body.len() > FUNCTION_EVENT {
        return message(StatusCode::PAYLOAD_TOO_LARGE, "Request Entity Too Large");
    }
    let format = matched.route.payload;
    let event = match format {
        PayloadFormat::V1 => event::version_1(incoming, &matched, &api.name),
        PayloadFormat::V2 => event::version_2(incoming, &matched, &api.name),
    };
    match behind.function(name, &event).await {
        Err(failure) => api_failure(&failure),
        Ok(result) => response(&result, Reading::Api(format)).unwrap_or_else(|why| {
            behind.log.write(
                name,
                Level::Error,
                &format!("{why}, so the API answers 500"),
            );
            message(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error")
        }),
    }
}

async fn at_listener(
    State(state): State<Arc<(Listener, Behind)>>,
    request: Request,
) -> Response<Body> {
    let (listener, behind) = &*state;
    let incoming = match behind.take_in(request).await {
        Ok(incoming) => incoming,
        Err(refusal) => return refusal,
    };
    let answer = match listener.rule(&incoming).map(|rule| &rule.target) {
        Some(Target::Port(place, port)) => behind.port(place, *port, &incoming).await,
        Some(Target::Function(name)) => match behind
            .function(name, &event::balancer(&incoming, name))
            .await
        {
            Err(failure) => balancer_failure(&failure),
            Ok(result) => response(&result, Reading::Balancer).unwrap_or_else(|why| {
                behind.log.write(
                    name,
                    Level::Error,
                    &format!("{why}, so the balancer answers 502"),
                );
                (StatusCode::BAD_GATEWAY, "502 Bad Gateway\n").into_response()
            }),
        },
        None => match listener.redirect(&incoming) {
            Some((status, location)) => {
                let status = StatusCode::from_u16(status).unwrap_or(StatusCode::FOUND);
                (status, [(header::LOCATION, location)]).into_response()
            }
            None => (StatusCode::NOT_FOUND, "no rule of the listener fits\n").into_response(),
        },
    };
    behind.log_request(&listener.balancer, &incoming, &answer);
    answer
}
