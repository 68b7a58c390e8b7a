//! `admin.webhooks_deliveries` and `admin.webhooks_replay`: the delivery log.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    Engine,
    operation::{Operation, operation as define},
};
use windlass_ports::{AttemptRecord, DeliveryFilter, DeliveryRecord, DeliveryState};
use windlass_types::{DeliveryId, EffectClass, RunId, Timestamp};

use crate::TOOLSET;

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum StateName {
    Pending,
    Delivered,
    Dead,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Only deliveries in this state.
    #[serde(default)]
    state: Option<StateName>,
    /// Only deliveries of this run.
    #[serde(default)]
    run_id: Option<RunId>,
    /// How many at most.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: usize,
}

const fn default_limit() -> usize {
    50
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The deliveries, oldest due first.
    deliveries: Vec<DeliveryView>,
}

#[derive(Serialize, JsonSchema)]
struct DeliveryView {
    /// The same on every attempt.
    id: DeliveryId,
    /// The run that enqueued it.
    run_id: RunId,
    /// Where to.
    url: String,
    /// The event's name.
    event: String,
    /// `pending`, `delivered` or `dead`.
    state: String,
    /// When it is due.
    due_at: Timestamp,
    /// When it was enqueued.
    created_at: Timestamp,
    /// Every attempt.
    attempts: Vec<AttemptView>,
}

#[derive(Serialize, JsonSchema)]
struct AttemptView {
    /// When.
    time: Timestamp,
    /// Which try.
    attempt: u32,
    /// The answer's status.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// Why there was no answer, or a refusing one.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// How long it took.
    duration_ms: u64,
    /// The address that was connected to, or would have been.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    /// The beginning of what the receiver said.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReplayInput {
    /// The delivery.
    delivery_id: DeliveryId,
}

#[derive(Serialize, JsonSchema)]
struct ReplayOutput {
    /// The delivery that will be sent again, with the same id and body.
    requeued: DeliveryId,
}

pub(crate) fn operations(engine: &Engine) -> Vec<Arc<dyn Operation>> {
    vec![deliveries(engine), replay(engine)]
}

fn deliveries(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "webhooks_deliveries")
        .describe(
            "List webhook deliveries",
            "Lists webhook deliveries with every attempt and its outcome.",
        )
        .example("What was given up", json!({ "state": "dead" }))
        .handle(move |_, input: Input| {
            let engine = engine.clone();
            async move {
                let state = input.state.map(|state| match state {
                    StateName::Pending => DeliveryState::Pending,
                    StateName::Delivered => DeliveryState::Delivered,
                    StateName::Dead => DeliveryState::Dead,
                });
                let filter = DeliveryFilter {
                    state,
                    run_id: input.run_id,
                    due_by: None,
                    limit: input.limit,
                };
                let mut deliveries = Vec::new();
                for record in engine.deliveries(filter).await? {
                    let attempts = engine.store.attempts(&record.id).await?;
                    deliveries.push(view(record, attempts));
                }
                Ok(Output { deliveries })
            }
        })
}

fn view(record: DeliveryRecord, attempts: Vec<AttemptRecord>) -> DeliveryView {
    DeliveryView {
        id: record.id,
        run_id: record.run_id,
        url: record.url,
        event: record.event,
        state: record.state.as_str().to_owned(),
        due_at: record.due_at,
        created_at: record.created_at,
        attempts: attempts
            .into_iter()
            .map(|attempt| AttemptView {
                time: attempt.time,
                attempt: attempt.attempt,
                status: attempt.status,
                error: attempt.error,
                duration_ms: attempt.duration_ms,
                address: attempt.address,
                answer: attempt.answer,
            })
            .collect(),
    }
}

fn replay(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "webhooks_replay")
        .describe(
            "Replay a webhook delivery",
            "Sends a delivery again, whatever happened to it; same id, same body.",
        )
        .command(EffectClass::Write)
        .example(
            "One delivery",
            json!({ "delivery_id": "msg_0123456789abcdef0123456789abcdef" }),
        )
        .handle(move |context, input: ReplayInput| {
            let engine = engine.clone();
            async move {
                engine
                    .replay_delivery(&context.principal, &input.delivery_id)
                    .await?;
                Ok(ReplayOutput {
                    requeued: input.delivery_id,
                })
            }
        })
}
