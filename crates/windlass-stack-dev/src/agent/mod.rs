//! The HTTP API of a session: on loopback, with a token, one envelope for every answer.

mod cloud;
mod guard;
mod redis;
mod sql;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;
use windlass_stack_diagnose::guard::mask;
use windlass_types::{Problem, code};

use crate::envelope::Envelope;
use crate::lock::locked;
use crate::log::{LogQuery, read_page};
use crate::stack::Stack;
use crate::status::{Condition, Role};

/// The largest body that is read.
const BODY: usize = 4 << 20;

type App = Arc<Stack>;
type Parameters = BTreeMap<String, String>;

impl IntoResponse for Envelope {
    fn into_response(self) -> Response {
        // A failure of the domain is an answer like any other.
        axum::Json(self).into_response()
    }
}

fn answered(outcome: Result<Envelope, Problem>) -> Response {
    outcome.unwrap_or_else(Envelope::from).into_response()
}

/// Serves until the task is aborted.
pub(crate) fn serve(listener: TcpListener, stack: Arc<Stack>) -> Result<JoinHandle<()>, Problem> {
    let fault = |error| Problem::internal("dev agent", error);
    let listener = tokio::net::TcpListener::from_std(listener).map_err(fault)?;
    let router = Router::new()
        .route("/", get(index))
        .route("/status", get(status))
        .route("/logs", get(logs))
        .route("/rebuild/{*workload}", post(rebuild))
        .route("/stop", post(stop))
        .route("/health", get(health))
        .route("/health/{*resource}", get(health_of))
        .route("/env/{*workload}", get(env))
        .route("/postgres/{resource}/{verb}", any(sql::postgres))
        .route("/mysql/{resource}/{verb}", any(sql::mysql))
        .route("/redis/{resource}/{verb}", any(redis::ask))
        .route("/dynamodb/{resource}/{verb}", any(cloud::dynamodb))
        .route("/opensearch/{resource}/{verb}", any(cloud::opensearch))
        .route("/aws/sdk", post(cloud::aws_sdk))
        .route("/aws/sdk/services", get(cloud::services))
        .fallback(no_route)
        .method_not_allowed_fallback(no_route)
        .layer(DefaultBodyLimit::max(BODY))
        .layer(axum::middleware::from_fn_with_state(
            stack.clone(),
            guard::check,
        ))
        .with_state(stack);
    Ok(tokio::spawn(async move {
        // Accepting continues until the task is aborted.
        let _ = axum::serve(listener, router).await;
    }))
}

async fn no_route(method: Method, uri: axum::http::Uri) -> Response {
    let message = format!("there is no {method} {}; GET / lists the paths", uri.path());
    (
        StatusCode::NOT_FOUND,
        axum::Json(Envelope::failed("NOT_FOUND", message, None)),
    )
        .into_response()
}

const PATHS: [&str; 19] = [
    "GET /status",
    "GET /logs",
    "POST /rebuild/:workload",
    "POST /rebuild/all",
    "POST /stop",
    "GET /health",
    "GET /health/:resource",
    "GET /env/:workload",
    "POST /postgres/:resource/query",
    "POST /postgres/:resource/explain",
    "GET /postgres/:resource/schema|tables|indexes|stats|sample",
    "POST /mysql/:resource/query",
    "GET /mysql/:resource/schema|tables|indexes|stats|sample",
    "POST /redis/:resource/command",
    "GET /redis/:resource/keys|get|ttl|info|type",
    "POST /dynamodb/:resource/query|scan|get|put|delete|schema|sample",
    "POST /opensearch/:resource/search|get|put|delete|indices|mapping|analyze|count",
    "POST /aws/sdk",
    "GET /aws/sdk/services",
];

async fn index(State(stack): State<App>) -> Response {
    let data =
        json!({ "project": stack.plan.project_name, "stage": stack.plan.stage, "paths": PATHS });
    Envelope::ok("a development session of Windlass", data).into_response()
}

async fn status(State(stack): State<App>, Query(query): Query<Parameters>) -> Response {
    let phase = stack.phase();
    let mut data = stack.board.render(phase);
    if query.get("verbose").is_some_and(|value| value == "true") {
        let uptime = stack.outside.clock.now().since(stack.started_at);
        data["uptimeSeconds"] = json!(uptime.as_secs());
        data["localResources"] = stack.board.details();
        let processes: Vec<Value> = stack
            .host
            .ledger
            .entries()
            .iter()
            .map(|it| json!({ "name": it.name, "pid": it.process.pid }))
            .collect();
        data["processes"] = json!(processes);
        data["sizes"] = json!({
            "logBytes": size_of(stack.log.path()),
            "dataBytes": size_of(&stack.places.data()),
        });
    }
    let message = match stack.board.failure() {
        Some((name, why)) => format!("{name}: {why}"),
        None => format!("{phase:?}").to_lowercase(),
    };
    Envelope::ok(message, data).into_response()
}

fn size_of(path: &std::path::Path) -> u64 {
    let Ok(about) = fs_err::symlink_metadata(path) else {
        return 0;
    };
    if !about.is_dir() {
        return about.len();
    }
    fs_err::read_dir(path)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| size_of(&entry.path()))
        .sum()
}

async fn logs(State(stack): State<App>, Query(query): Query<Parameters>) -> Response {
    answered(log_query(&query).and_then(|query| {
        let query = LogQuery {
            since: stack.log.first(),
            ..query
        };
        let page = read_page(stack.log.path(), &query)?;
        Ok(log_envelope(&page))
    }))
}

pub(crate) fn log_envelope(page: &crate::log::Page) -> Envelope {
    let lines: Vec<String> = page.lines.iter().map(crate::log::Line::render).collect();
    let noun = if lines.len() == 1 { "line" } else { "lines" };
    let data =
        json!({ "logs": lines.join("\n"), "count": lines.len(), "nextCursor": page.next_cursor });
    Envelope::ok(format!("{} {noun}", lines.len()), data)
}

fn log_query(parameters: &Parameters) -> Result<LogQuery, Problem> {
    let number = |name: &str| -> Result<Option<u64>, Problem> {
        let Some(text) = parameters.get(name) else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|_| {
            Problem::invalid(
                name,
                "a whole number",
                format!("{name} '{text}' is not a whole number"),
            )
        })
    };
    let limit = number("limit")?.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
    if limit.is_some_and(|limit| limit == 0 || limit > crate::log::MAX_LIMIT) {
        return Err(Problem::invalid(
            "limit",
            "1 to 1000",
            "limit must be from 1 to 1000",
        ));
    }
    Ok(LogQuery {
        workload: parameters.get("workload").cloned(),
        cursor: number("cursor")?,
        limit,
        since: 0,
    })
}

async fn rebuild(State(stack): State<App>, Path(workload): Path<String>) -> Response {
    // Finished even if the caller goes away: half a rebuild would be nobody's.
    let work = tokio::spawn(async move {
        if workload == "all" {
            return match stack.rebuild_all().await {
                Ok(data) => Envelope::ok("all workloads were rebuilt", data),
                Err((data, message)) => Envelope::failed("INTERNAL_ERROR", message, Some(data)),
            };
        }
        match stack.rebuild(&workload).await {
            Ok(data) => Envelope::ok(format!("{workload} was rebuilt"), data),
            Err(problem) => Envelope::from(problem),
        }
    });
    match work.await {
        Ok(envelope) => envelope.into_response(),
        Err(error) => {
            let envelope = Envelope::failed("INTERNAL_ERROR", error.to_string(), None);
            (StatusCode::INTERNAL_SERVER_ERROR, axum::Json(envelope)).into_response()
        }
    }
}

async fn stop(State(stack): State<App>) -> Response {
    // The manager ends once this answer is on its way.
    stack.stop.cancel();
    Envelope::ok(
        "stopping",
        json!({ "pid": locked(&stack.session).manager.pid }),
    )
    .into_response()
}

async fn health() -> Response {
    Envelope::bare().into_response()
}

async fn health_of(State(stack): State<App>, Path(resource): Path<String>) -> Response {
    let Some((_, kind, condition)) = stack.board.get(&resource) else {
        return Envelope::from(unknown(&stack, &resource)).into_response();
    };
    let data = json!({ "resource": resource, "type": kind, "status": condition.shown() });
    match condition {
        Condition::Failed(why) => {
            Envelope::failed("INTERNAL_ERROR", why, Some(data)).into_response()
        }
        _ => Envelope::ok(condition.shown(), data).into_response(),
    }
}

async fn env(State(stack): State<App>, Path(workload): Path<String>) -> Response {
    if stack
        .board
        .get(&workload)
        .is_none_or(|(role, ..)| role != Role::Workload)
    {
        return Envelope::from(unknown(&stack, &workload)).into_response();
    }
    let variables = Stack::variables(
        &stack.outside,
        &stack.log,
        &stack.plan,
        &stack.params,
        &workload,
    );
    answered(variables.map(|variables| {
        let masked: Map<String, Value> = variables
            .into_iter()
            .map(|(name, value)| (name, mask::secret(value.expose_secret()).into()))
            .collect();
        Envelope::ok(
            format!("{} variables, values masked", masked.len()),
            json!({ "workload": workload, "env": masked }),
        )
    }))
}

/// Nothing of that name is in this session.
fn unknown(stack: &Stack, name: &str) -> Problem {
    let known: Vec<String> = stack.plan.config.resources.keys().cloned().collect();
    Problem::new(
        &code::NOT_FOUND,
        format!(
            "there is no '{name}' in this session; there are {}",
            known.join(", ")
        ),
    )
    .with("kind", "resource")
}

/// Parameters of the query and of a JSON body, together. The body is not JSON: 400.
fn arguments(query: Parameters, body: &Bytes) -> Result<Map<String, Value>, Box<Response>> {
    let mut all: Map<String, Value> = query
        .into_iter()
        .map(|(name, value)| (name, value.into()))
        .collect();
    if !body.is_empty() {
        match serde_json::from_slice(body) {
            Ok(Value::Object(more)) => all.extend(more),
            Ok(_) | Err(_) => {
                let envelope =
                    Envelope::failed("VALIDATION_ERROR", "the body is not a JSON object", None);
                return Err(Box::new(
                    (StatusCode::BAD_REQUEST, axum::Json(envelope)).into_response(),
                ));
            }
        }
    }
    Ok(all)
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

fn required<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str, Problem> {
    text(arguments, name)
        .filter(|value| !value.is_empty())
        .ok_or_else(|| {
            Problem::invalid(name, "required", format!("{name} is missing"))
                .with("reason", "missing_argument")
        })
}

fn limit(arguments: &Map<String, Value>, otherwise: usize) -> usize {
    let written = arguments.get("limit");
    let number = written.and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()));
    number
        .and_then(|number| usize::try_from(number).ok())
        .unwrap_or(otherwise)
        .clamp(1, 10_000)
}
