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
    context
        .engine
        .outbound
        .check(&request.url)
        .map_err(|error| {
            Problem::new(&code::TARGET_FORBIDDEN, format!("webhook target: {error}"))
        })?;
    let id = DeliveryId::from_random(random(&*context.engine.entropy));
    let body = context.engine.redactor.redact_value(request.body);
    let delivery = WebhookDelivery {
        id: id.clone(),
        url: request.url,
        event: request.event,
        body: body.to_string(),
        secret_name: request.secret_name,
    };
    context
        .journal(
            vec![WebhookEnqueued { key, delivery }.into()],
            context.own_span(),
        )
        .await?;
    Ok(id)
}
