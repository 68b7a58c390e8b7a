//! The dispatcher: sends what is due, several receivers at once, one slow one never in the way.

use std::{
    collections::{HashMap, HashSet},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use tokio::task::JoinSet;
use windlass_ports::{
    Commit, CommitError, Committed, DeliveryFilter, DeliveryRecord, Expect, Fence, LeaseName,
    LeaseUse, OutboundError, OutboundRequest, OutboundResponse, entropy::random,
};
use windlass_telemetry::metrics;
use windlass_types::{
    Body, DeliveryId, Timestamp,
    event::SpanIds,
    journal::{DeliveryAttempted, DeliveryVerdict, EndpointDisabled},
};

use super::{judge, sign};
use crate::{driver::Shared, store_retry};

/// Attempts under way at once, in all and to one receiver.
const AT_ONCE: usize = 64;
const AT_ONCE_PER_RECEIVER: usize = 4;
const PAGE: usize = 512;
/// How much of an answer, and how many addresses, the log of attempts keeps.
const ANSWER_LOGGED: usize = 1024;
const ADDRESSES_LOGGED: usize = 4;
/// How long a receiver is left alone at most because of one answer.
const LONGEST_REST: Duration = Duration::from_secs(5 * 60);
/// How long one look at the outbox lasts while attempts are under way or the store fails: what
/// becomes due behind a receiver that hangs must not wait for it.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

#[derive(Default)]
struct UnderWay {
    deliveries: HashSet<DeliveryId>,
    receivers: HashMap<String, usize>,
    /// Receivers that have too much to do, and until when they are left alone.
    resting: HashMap<String, Timestamp>,
}

impl UnderWay {
    fn ended(&mut self, ended: Ended) {
        self.deliveries.remove(&ended.delivery);
        if let Some(count) = self.receivers.get_mut(&ended.receiver) {
            *count -= 1;
            if *count == 0 {
                self.receivers.remove(&ended.receiver);
            }
        }
        if let Some(until) = ended.rest_until {
            self.resting.insert(ended.receiver, until);
        }
    }

    fn is_resting(&mut self, receiver: &str, now: Timestamp) -> bool {
        self.resting.retain(|_, until| *until > now);
        self.resting.contains_key(receiver)
    }
}

/// An attempt that is over.
struct Ended {
    delivery: DeliveryId,
    receiver: String,
    rest_until: Option<Timestamp>,
}

/// Sends the deliveries of the runs that the driver is for, until told to stop.
pub(crate) async fn dispatch(driver: Arc<Shared>) {
    let engine = driver.engine.clone();
    let mut stop = driver.stop.subscribe();
    let sender = Arc::new(Sender { driver });
    let mut changes = engine.store.turns();
    let mut under_way = UnderWay::default();
    let mut attempts: JoinSet<Ended> = JoinSet::new();
    loop {
        changes.mark_unchanged();
        let wake_at = match start_due(&sender, &mut under_way, &mut attempts).await {
            Ok(next_due) => next_due,
            Err(error) => {
                tracing::error!(%error, "the outbox cannot be read");
                Some(engine.steady().after(LOOK_AGAIN))
            }
        };
        let timer = async {
            match wake_at {
                Some(moment) => engine.until(moment).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            _ = stop.wait_for(|stop| *stop) => break,
            Some(ended) = attempts.join_next() => if let Ok(ended) = ended {
                under_way.ended(ended);
            },
            () = timer => {}
        }
    }
    // What is under way is finished and recorded; if that takes too long the driver's own
    // the timeout ends it, and the delivery is repeated with the same id.
    while attempts.join_next().await.is_some() {}
}

/// Starts attempts for what is due and free to be sent; when to look again otherwise.
async fn start_due(
    sender: &Arc<Sender>,
    under_way: &mut UnderWay,
    attempts: &mut JoinSet<Ended>,
) -> Result<Option<Timestamp>, windlass_ports::StoreError> {
    let engine = &sender.driver.engine;
    let Some(next_due) = engine.store.next_delivery_due().await? else {
        return Ok(None);
    };
    let now = engine.steady();
    if next_due > now {
        return Ok(Some(next_due));
    }
    let mut limit = PAGE;
    loop {
        let filter = DeliveryFilter {
            due_by: Some(now),
            limit,
            ..DeliveryFilter::default()
        };
        let due = engine.store.deliveries(filter).await?;
        let seen = due.len();
        for delivery in due {
            if attempts.len() >= AT_ONCE {
                break;
            }
            if !sender.driver.drives(&delivery.run_id) {
                continue;
            }
            let receiver = receiver_of(&delivery.url);
            let busy = under_way.receivers.get(&receiver).copied().unwrap_or(0);
            if busy >= AT_ONCE_PER_RECEIVER
                || under_way.is_resting(&receiver, now)
                || !under_way.deliveries.insert(delivery.id.clone())
            {
                continue;
            }
            *under_way.receivers.entry(receiver.clone()).or_insert(0) += 1;
            let sender = Arc::clone(sender);
            attempts.spawn(async move {
                let id = delivery.id.clone();
                let rest_until = sender.attempt(delivery).await;
                Ended {
                    delivery: id,
                    receiver,
                    rest_until,
                }
            });
        }
        // A page full of deliveries to receivers that hang may hide others behind it.
        if seen < limit || attempts.len() >= AT_ONCE {
            return Ok(Some(now.after(LOOK_AGAIN)));
        }
        limit *= 4;
    }
}

/// What an attempt is made with.
struct Sender {
    driver: Arc<Shared>,
}

impl Sender {
    /// Tries once, unless another process does; until when the receiver is to be left alone, if
    /// it is.
    async fn attempt(&self, delivery: DeliveryRecord) -> Option<Timestamp> {
        let engine = &self.driver.engine;
        let Some(fence) = self.take(&delivery).await else {
            return Some(engine.steady().after(LOOK_AGAIN));
        };
        let started = engine.now();
        let attempt = delivery.attempts + 1;
        let name = delivery.secret_name.as_deref();
        let outcome = match engine.signing_secrets(name).await {
            Err(problem) => Err(OutboundError::Unreachable(problem.message().to_owned())),
            Ok(None) => Err(OutboundError::Unreachable(format!(
                "there is no signing secret {:?}",
                name.unwrap_or_default()
            ))),
            Ok(Some(secrets)) => {
                let request = OutboundRequest {
                    method: "POST".to_owned(),
                    url: delivery.url.clone(),
                    headers: sign(&delivery.id, started, &delivery.body, &secrets),
                    body: delivery.body.clone().into_bytes(),
                    timeout: engine.outbox.timeout,
                };
                engine.outbound.send(request).await
            }
        };
        let now = engine.steady();
        let [chance] = random(&*engine.entropy);
        let judged = judge(&outcome, attempt, now, &engine.outbox.schedule, chance);
        let verdict = match judged.verdict {
            DeliveryVerdict::Delivered => "delivered",
            DeliveryVerdict::Retry { .. } => "retry",
            DeliveryVerdict::Dead => "dead",
        };
        engine.metrics().count(&metrics::DELIVERIES, &[verdict]);
        let mut bodies = vec![
            DeliveryAttempted {
                delivery_id: delivery.id.clone(),
                attempt,
                status: judged.status,
                error: judged
                    .error
                    .map(|error| engine.redactor.redact(&error).into_owned()),
                duration_ms: u64::try_from(now.since(started).as_millis()).unwrap_or(u64::MAX),
                verdict: judged.verdict,
                address: self.address_used(&delivery.url, &outcome),
                answer: self.beginning_of(&outcome),
            }
            .into(),
        ];
        if judged.disable_endpoint {
            let gone = EndpointDisabled {
                url: delivery.url,
                // Without a name the home's own secret signs; the receiver is gone for that.
                owner: Some(delivery.secret_name.unwrap_or_default()),
            };
            bodies.push(gone.into());
        }
        self.record(&delivery.id, bodies, fence).await;
        match judged.verdict {
            DeliveryVerdict::Retry { due_at } if judged.slow_down => {
                Some(due_at.min(now.after(LONGEST_REST)))
            }
            _ => None,
        }
    }

    /// Where the request went, or where the receiver is when nothing answered there.
    fn address_used(
        &self,
        url: &str,
        outcome: &Result<OutboundResponse, OutboundError>,
    ) -> Option<String> {
        match outcome {
            Ok(response) => response.address.map(|address| address.to_string()),
            Err(_) => {
                let found = self.driver.engine.outbound.last_addresses(url);
                let shown: Vec<String> = found
                    .iter()
                    .take(ADDRESSES_LOGGED)
                    .map(SocketAddr::to_string)
                    .collect();
                (!shown.is_empty()).then(|| shown.join(", "))
            }
        }
    }

    /// The beginning of what the receiver said, fit to be kept.
    fn beginning_of(&self, outcome: &Result<OutboundResponse, OutboundError>) -> Option<String> {
        let body = &outcome.as_ref().ok()?.body;
        // Redacted before it is cut: half a secret is not recognised.
        let text = String::from_utf8_lossy(body);
        let text = self.driver.engine.redactor.redact(&text);
        let end = text.floor_char_boundary(ANSWER_LOGGED.min(text.len()));
        (end > 0).then(|| text[..end].to_owned())
    }

    /// Takes the delivery, if it is still as it was seen and no other process has it. What cannot
    /// be taken now is looked at again later.
    async fn take(&self, delivery: &DeliveryRecord) -> Option<Fence> {
        let engine = &self.driver.engine;
        let name = LeaseName::Delivery(delivery.id.clone());
        let taken = match self.take_replacing(&name, None).await {
            Err(CommitError::Leased) => {
                let held = engine.store.lease(name.clone()).await.ok()??;
                if held.is_alive && held.driver != self.driver.id {
                    return None;
                }
                self.take_replacing(&name, Some(held.epoch)).await
            }
            taken => taken,
        };
        let fence = Fence {
            name,
            epoch: taken.ok()?.epoch?,
        };
        // Another process may have made the attempt between the look at it and this.
        let due = DeliveryFilter {
            run_id: Some(delivery.run_id.clone()),
            due_by: Some(engine.steady()),
            limit: usize::MAX,
            ..DeliveryFilter::default()
        };
        let due = engine.store.deliveries(due).await.unwrap_or_default();
        if due.contains(delivery) {
            return Some(fence);
        }
        let commit = Commit {
            writes: Vec::new(),
            lease: Some(LeaseUse::Release(fence)),
        };
        if let Err(error) = engine.store.commit(commit).await {
            tracing::warn!(delivery = %delivery.id, %error, "a delivery cannot be given back");
        }
        None
    }

    async fn take_replacing(
        &self,
        name: &LeaseName,
        replaces: Option<u64>,
    ) -> Result<Committed, CommitError> {
        let lease = LeaseUse::Take {
            name: name.clone(),
            driver: self.driver.id,
            replaces,
        };
        let commit = Commit {
            writes: Vec::new(),
            lease: Some(lease),
        };
        self.driver.engine.store.commit(commit).await
    }

    /// Records an attempt. A store that fails for now is asked again, so that the receiver is not;
    /// what is not recorded in the end is sent again with the same id: at least once.
    async fn record(&self, delivery: &DeliveryId, bodies: Vec<Body>, fence: Fence) {
        let Ok(journal) = super::journal() else {
            return;
        };
        loop {
            let spans = SpanIds::default();
            match self
                .driver
                .engine
                .append(
                    &journal,
                    Expect::Any,
                    bodies.clone(),
                    spans,
                    Some(LeaseUse::Release(fence.clone())),
                )
                .await
            {
                Ok(_) => return,
                Err(CommitError::Fenced) => {
                    tracing::warn!(%delivery, "another process has the delivery now");
                    return;
                }
                Err(error) => {
                    tracing::error!(%delivery, %error, "an attempt could not be recorded; trying again")
                }
            }
            if !store_retry::pause(&self.driver.engine, &self.driver.stop).await {
                return;
            }
        }
    }
}

/// Scheme, host and port: what one slow receiver is told apart by.
fn receiver_of(url: &str) -> String {
    let after_scheme = url.find("://").map_or(0, |at| at + 3);
    let end = url[after_scheme..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| after_scheme + at);
    url[..end].to_ascii_lowercase()
}
