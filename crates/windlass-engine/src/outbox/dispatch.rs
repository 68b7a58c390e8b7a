//! The dispatcher: sends what is due, several receivers at once, one slow one never in the way.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use tokio::{sync::watch, task::JoinSet};
use windlass_ports::{CommitError, DeliveryFilter, DeliveryRecord, Expect, OutboundRequest, entropy::random};
use windlass_types::{
    DeliveryId, Timestamp,
    event::SpanIds,
    journal::{DeliveryAttempted, EndpointDisabled},
};

use super::{judge, sign};
use crate::Engine;

/// Attempts under way at once, in all and to one receiver.
const AT_ONCE: usize = 64;
const AT_ONCE_PER_RECEIVER: usize = 4;
const PAGE: usize = 512;
/// How long a failing store is left alone.
const STORE_PAUSE: Duration = Duration::from_secs(1);

#[derive(Default)]
struct UnderWay {
    deliveries: HashSet<DeliveryId>,
    receivers: HashMap<String, usize>,
}

/// Sends deliveries until told to stop.
pub async fn dispatch(engine: Engine, epoch: u64, mut stop: watch::Receiver<bool>) {
    let engine = Arc::new(engine);
    let mut changes = engine.store.changes();
    let mut under_way = UnderWay::default();
    let mut attempts: JoinSet<(DeliveryId, String)> = JoinSet::new();
    loop {
        changes.mark_unchanged();
        let wake_at = match start_due(&engine, epoch, &mut under_way, &mut attempts).await {
            Ok(next_due) => next_due,
            Err(error) => {
                tracing::error!(%error, "the outbox cannot be read");
                Some(engine.now().after(STORE_PAUSE))
            }
        };
        let timer = async {
            match wake_at {
                Some(moment) => engine.clock.sleep_until(moment).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            _ = stop.wait_for(|stop| *stop) => break,
            Some(ended) = attempts.join_next() => if let Ok((delivery, receiver)) = ended {
                under_way.deliveries.remove(&delivery);
                if let Some(count) = under_way.receivers.get_mut(&receiver) {
                    *count -= 1;
                    if *count == 0 {
                        under_way.receivers.remove(&receiver);
                    }
                }
            },
            () = timer => {}
        }
    }
    // What is under way is finished and recorded; if that takes too long the driver's own
    // patience ends it, and the delivery is repeated with the same id.
    while attempts.join_next().await.is_some() {}
}

/// Starts attempts for what is due and free to be sent; when to look again otherwise.
async fn start_due(
    engine: &Arc<Engine>,
    epoch: u64,
    under_way: &mut UnderWay,
    attempts: &mut JoinSet<(DeliveryId, String)>,
) -> Result<Option<Timestamp>, windlass_ports::StoreError> {
    let Some(next_due) = engine.store.next_delivery_due().await? else {
        return Ok(None);
    };
    let now = engine.now();
    if next_due > now {
        return Ok(Some(next_due));
    }
    let filter = DeliveryFilter { due_by: Some(now), limit: PAGE, ..DeliveryFilter::default() };
    for delivery in engine.store.deliveries(filter).await? {
        if attempts.len() >= AT_ONCE {
            break;
        }
        let receiver = receiver_of(&delivery.url);
        let busy = under_way.receivers.get(&receiver).copied().unwrap_or(0);
        if busy >= AT_ONCE_PER_RECEIVER || !under_way.deliveries.insert(delivery.id.clone()) {
            continue;
        }
        *under_way.receivers.entry(receiver.clone()).or_insert(0) += 1;
        let engine = Arc::clone(engine);
        attempts.spawn(async move {
            let id = delivery.id.clone();
            attempt(&engine, epoch, delivery).await;
            (id, receiver)
        });
    }
    // Whatever was not started waits for an attempt to end, which wakes the loop.
    Ok(None)
}

async fn attempt(engine: &Engine, epoch: u64, delivery: DeliveryRecord) {
    let started = engine.now();
    let attempt = delivery.attempts + 1;
    let secret = delivery.secret_name.as_deref().map_or(Some(&engine.outbox.default_secret), |name| {
        engine.outbox.secrets.get(name)
    });
    let outcome = match secret {
        None => Err(windlass_ports::OutboundError::Unreachable(format!(
            "the signing secret {:?} is not in the settings",
            delivery.secret_name.as_deref().unwrap_or_default()
        ))),
        Some(secret) => {
            let request = OutboundRequest {
                method: "POST".to_owned(),
                url: delivery.url.clone(),
                headers: sign(&delivery.id, started, &delivery.body, secret),
                body: delivery.body.clone().into_bytes(),
                timeout: engine.outbox.timeout,
            };
            engine.outbound.send(request).await
        }
    };
    let now = engine.now();
    let [chance] = random(&*engine.entropy);
    let judged = judge(&outcome, attempt, now, &engine.outbox.schedule, chance);
    let mut bodies = vec![
        DeliveryAttempted {
            delivery_id: delivery.id.clone(),
            attempt,
            status: judged.status,
            error: judged.error.map(|error| engine.redactor.redact(&error).into_owned()),
            duration_ms: u64::try_from(now.since(started).as_millis()).unwrap_or(u64::MAX),
            verdict: judged.verdict,
        }
        .into(),
    ];
    if judged.disable_endpoint {
        bodies.push(EndpointDisabled { url: delivery.url }.into());
    }
    let Ok(journal) = super::journal() else { return };
    match engine.append(&journal, Expect::Any, bodies, SpanIds::default(), Some(epoch)).await {
        Ok(_) | Err(CommitError::Fenced) => {}
        // Not recorded means sent again with the same id: at least once.
        Err(error) => {
            tracing::error!(delivery = %delivery.id, %error, "an attempt could not be recorded");
            engine.clock.sleep_until(engine.now().after(STORE_PAUSE)).await;
        }
    }
}

/// Scheme, host and port: what one slow receiver is told apart by.
fn receiver_of(url: &str) -> String {
    let after_scheme = url.find("://").map_or(0, |at| at + 3);
    let end = url[after_scheme..].find(['/', '?', '#']).map_or(url.len(), |at| after_scheme + at);
    url[..end].to_ascii_lowercase()
}
