//! `notify`: a delivery into the outbox, in the same commit as the event that says so.

use windlass_ports::entropy::random;
use windlass_types::{
    DeliveryId, Problem, code,
    journal::{WebhookDelivery, WebhookEnqueued},
};

use super::super::{journal_context::JournalContext, lock};
use crate::run::{RunError, WebhookRequest};

pub(in super::super) async fn enqueue(
    context: &JournalContext,
    request: WebhookRequest,
) -> Result<DeliveryId, RunError> {
    let key = context.key(&request.name);
    if let Some(delivery) = lock(&context.memo).webhooks.get(&key) {
        return Ok(delivery.clone());
    }
    context.guard()?;
    let enqueued = WebhookEnqueued {
        key,
        ..delivery(context, request)?
    };
    let id = enqueued.delivery.id.clone();
    context
        .journal(vec![enqueued.into()], context.own_span())
        .await?;
    Ok(id)
}

/// The event that puts a delivery into the outbox.
pub(in super::super) fn delivery(
    context: &JournalContext,
    request: WebhookRequest,
) -> Result<WebhookEnqueued, Problem> {
    let engine = &context.engine;
    engine.outbound.check(&request.url).map_err(|error| {
        Problem::new(&code::TARGET_FORBIDDEN, format!("webhook target: {error}"))
    })?;
    let body = engine.redactor.redact_value(request.body);
    let delivery = WebhookDelivery {
        id: DeliveryId::from_random(random(&*engine.entropy)),
        url: request.url,
        event: request.event,
        body: body.to_string(),
        secret_name: request.secret_name,
    };
    Ok(WebhookEnqueued {
        key: request.name,
        delivery,
    })
}
