//! What is served: the paths, and which file answers each.

mod answers;
mod approvals;
mod artifact;
mod describe;
mod events;
mod health;
mod idempotency;
mod operations;
mod rendered;
mod resources;

pub(crate) use rendered::Rendered;

use std::{convert::Infallible, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::{MethodFilter, get, on},
};
use http::StatusCode;
use tower::Service;
use windlass_engine::{
    contract::http::{Output, Verb},
    operation::Catalogue,
};

use crate::{
    HttpState,
    challenge::{MCP_PATHS, METADATA_PATH},
    failure::Failure,
    guard::{Guard, request_id},
    paths::{self, HEALTH_ALIAS, METRICS_ALIAS},
    state::Shared,
};

/// The HTTP API behind its guard.
pub fn router(state: HttpState) -> Router {
    let shared = Shared::new(state);
    let routes = api(&shared.state.catalogue, Router::new());
    guarded(shared, routes)
}

/// The HTTP API with an MCP endpoint at `/mcp`, `/v1/mcp` and `/v1` behind the same guard. The
/// service finds the caller as a `Principal` in the request's extensions, or what to tell it
/// instead of serving it as a `Declined`.
pub fn router_with_mcp<S>(state: HttpState, mcp: S) -> Router
where
    S: Service<Request, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Response: IntoResponse,
    S::Future: Send + 'static,
{
    let shared = Shared::new(state);
    let routes = api(&shared.state.catalogue, with_mcp(mcp));
    guarded(shared, routes)
}

/// The MCP endpoint alone, behind the guard: no operation is reachable but its tools.
pub fn mcp_router<S>(state: HttpState, mcp: S) -> Router
where
    S: Service<Request, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Response: IntoResponse,
    S::Future: Send + 'static,
{
    guarded(Shared::new(state), with_mcp(mcp))
}

fn with_mcp<S>(mcp: S) -> Router<Arc<Shared>>
where
    S: Service<Request, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Response: IntoResponse,
    S::Future: Send + 'static,
{
    MCP_PATHS.into_iter().fold(Router::new(), |routes, path| {
        routes.route_service(path, mcp.clone())
    })
}

fn api(catalogue: &Catalogue, routes: Router<Arc<Shared>>) -> Router<Arc<Shared>> {
    let mut routes = routes
        .route("/v1/metrics", get(health::metrics))
        .route(METRICS_ALIAS, get(health::metrics))
        .route("/v1/openapi.json", get(describe::document))
        .route("/v1/operations", get(operations::list))
        .route(
            "/v1/operations/{name}",
            get(operations::describe).post(operations::call),
        );
    for route in catalogue.declared().routes().iter().copied() {
        let handler = on(filter(route.verb), move |state, request| {
            resources::answer(state, route, request)
        });
        // An artifact's name may have several segments.
        let path = match route.output {
            Output::Bytes => route.path.replace("{name}", "{*name}"),
            _ => route.path.to_owned(),
        };
        routes = routes.route(&path, handler);
    }
    routes
}

const fn filter(verb: Verb) -> MethodFilter {
    match verb {
        Verb::Get => MethodFilter::GET,
        Verb::Post => MethodFilter::POST,
        Verb::Patch => MethodFilter::PATCH,
        Verb::Delete => MethodFilter::DELETE,
    }
}

/// Puts what every server has, and the guard, around the routes.
fn guarded(shared: Arc<Shared>, routes: Router<Arc<Shared>>) -> Router {
    let routes = MCP_PATHS.into_iter().fold(routes, |routes, path| {
        let metadata = get(move |state, request| describe::mcp_metadata(state, request, path));
        routes.route(&format!("{METADATA_PATH}{path}"), metadata)
    });
    let routes = routes
        .route("/v1/health", get(health::health))
        .route(HEALTH_ALIAS, get(health::health))
        .route("/v1/ready", get(health::ready))
        .route(METADATA_PATH, get(describe::api_metadata))
        .fallback(no_such_path)
        .method_not_allowed_fallback(wrong_method)
        .with_state(Arc::clone(&shared));
    let guard = Guard::new(shared, routes);
    Router::new().fallback(move |request: Request| guard.clone().handle(request))
}

async fn no_such_path(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let path = request.uri().path();
    paths::dress(&shared, Failure::no_such_path(path), path).respond(request_id(request.headers()))
}

/// The router adds `Allow`.
async fn wrong_method(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let message = format!(
        "{} cannot be done at {}",
        request.method(),
        request.uri().path()
    );
    let failure = Failure::request(StatusCode::METHOD_NOT_ALLOWED, "method", "allowed", message);
    paths::dress(&shared, failure, request.uri().path()).respond(request_id(request.headers()))
}
