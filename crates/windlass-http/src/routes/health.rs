//! `/v1/health`, `/v1/ready`, `/v1/metrics`: for operators of this process.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    response::Response,
};
use http::{HeaderValue, StatusCode, header::CONTENT_TYPE};
use serde_json::{Value, json};
use windlass_engine::{Engine, Finding};
use windlass_ports::{DeliveryFilter, DeliveryState};
use windlass_types::{Problem, code};

use crate::{
    call::context,
    failure::{self, Failure},
    guard::request_id,
    state::Shared,
    traffic::figure,
};

/// Deliveries counted at most; beyond that the figure says "at least".
const COUNTED: usize = 10_000;

/// The process answers.
pub(super) async fn health() -> Response {
    failure::json(
        StatusCode::OK,
        &json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }),
    )
}

/// Work can be done: the store can be read and written, and some process drives the runs. What is
/// wrong besides is said too, and does not make the server unready.
pub(super) async fn ready(State(shared): State<Arc<Shared>>) -> Response {
    let engine = shared.state.catalogue.engine();
    let findings = engine.health().await;
    let closing = shared.state.closing.is_cancelled();
    let ready = !closing && !findings.iter().any(|finding| finding.blocks);
    let status = if ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let server = if closing { "stopping" } else { "ok" };
    let mut checks = json!({ "store": "ok", "driver": "ok", "server": server });
    for finding in &findings {
        checks[finding.check] = finding.state.into();
    }
    let mut answer = json!({ "ready": ready, "checks": checks });
    if !findings.is_empty() {
        answer["reasons"] = findings.iter().map(reason).collect();
    }
    failure::json(status, &answer)
}

fn reason(finding: &Finding) -> Value {
    json!({
        "check": finding.check,
        "code": finding.code.name,
        "message": finding.message,
        "next_action": finding.next,
    })
}

/// Counters in Prometheus text, for a key with the scope `metrics` or `admin`.
pub(super) async fn metrics(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let id = request_id(request.headers()).to_owned();
    try_metrics(&shared, request)
        .await
        .unwrap_or_else(|failure| failure.respond(&id))
}

async fn try_metrics(shared: &Shared, request: Request) -> Result<Response, Failure> {
    let (parts, _) = request.into_parts();
    let principal = context(&parts)?.principal;
    if !principal.has_scope("metrics") && !principal.has_scope("admin") {
        let message =
            format!("metrics need the scope \"metrics\", which {principal} does not have");
        return Err(Problem::new(&code::FORBIDDEN, message)
            .with("required_scopes", json!(["metrics"]))
            .into());
    }
    let engine = shared.state.catalogue.engine();
    let mut text = engine.metrics().render();
    text.push_str(&shared.state.traffic.text());
    add_engine_figures(engine, &mut text).await?;
    let mut response = Response::new(Body::from(text));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}

async fn add_engine_figures(engine: &Engine, text: &mut String) -> Result<(), Problem> {
    let unfinished = engine.store.unfinished().await?;
    figure(
        text,
        "windlass_runs_unfinished",
        "gauge",
        "Runs that have not ended.",
        unfinished,
    );
    let position = engine.store.position().await?;
    figure(
        text,
        "windlass_store_position",
        "counter",
        "The place of the newest event of all.",
        position,
    );
    let driving = u8::from(engine.lease.holder().is_some());
    figure(
        text,
        "windlass_driver_present",
        "gauge",
        "Whether some process drives the runs.",
        driving,
    );
    let pending = DeliveryFilter {
        state: Some(DeliveryState::Pending),
        limit: COUNTED,
        ..DeliveryFilter::default()
    };
    let pending = engine.store.deliveries(pending).await?.len();
    figure(
        text,
        "windlass_webhooks_pending",
        "gauge",
        "Webhook deliveries not yet made.",
        pending,
    );
    Ok(())
}
