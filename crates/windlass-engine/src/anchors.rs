//! Anchors: how far the history went, told now and then to places outside the home. Someone who can
//! write everything in the home can rewrite its history; not what was told before.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;
use windlass_ports::{AnchorSink, AnchorState, OutboundRequest, entropy::random};
use windlass_types::{Anchor, DeliveryId};

use crate::{
    Engine,
    outbox::{SigningSecrets, sign},
};

/// Where anchors go, and how often.
#[derive(Default)]
pub struct AnchorOptions {
    /// Files and logs.
    pub sinks: Vec<Arc<dyn AnchorSink>>,
    /// A receiver of webhooks.
    pub url: Option<String>,
    /// The time between two.
    pub interval: Duration,
}

impl AnchorOptions {
    const fn is_empty(&self) -> bool {
        self.sinks.is_empty() && self.url.is_none()
    }

    /// Every place, by name.
    fn places(&self) -> Vec<String> {
        let sinks = self.sinks.iter().map(|sink| sink.name());
        sinks.chain(self.url.clone()).collect()
    }
}

/// Writes anchors until told to stop, and a last one then.
pub(crate) async fn keep(engine: Engine, stop: watch::Sender<bool>) {
    if engine.anchors.is_empty() {
        return;
    }
    let mut stop = stop.subscribe();
    let mut last = None;
    loop {
        let stopped = tokio::select! {
            () = engine.clock.sleep_until(engine.now().after(engine.anchors.interval)) => false,
            _ = stop.wait_for(|stop| *stop) => true,
        };
        engine.write_anchor(&mut last).await;
        if stopped {
            return;
        }
    }
}

impl Engine {
    /// Tells every place how far the history went, unless it is where it was.
    async fn write_anchor(&self, last: &mut Option<(u64, u64)>) {
        let anchor = match self.maintenance.anchor(self.now()).await {
            Ok(Some(anchor)) => anchor,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "no anchor could be taken");
                return;
            }
        };
        if *last == Some((anchor.position, anchor.pruned)) {
            return;
        }
        // What one place misses, the next anchor brings: it covers everything before it.
        if self.keep_anchor(&anchor).await {
            *last = Some((anchor.position, anchor.pruned));
        }
    }

    /// Whether anchors are to be kept anywhere.
    pub fn has_anchors(&self) -> bool {
        !self.anchors.is_empty()
    }

    /// How each configured place took the last anchor, as far as one was sent there.
    pub async fn anchor_states(&self) -> Vec<AnchorState> {
        let places = self.anchors.places();
        if places.is_empty() {
            return Vec::new();
        }
        let mut states = self.maintenance.anchor_states().await.unwrap_or_default();
        states.retain(|state| places.contains(&state.place));
        states
    }

    /// Puts on record how the places took an anchor, for other processes too.
    async fn note_anchor(&self, outcomes: Vec<(String, Option<String>)>) {
        let (now, known) = (self.now(), self.anchor_states().await);
        let of = |place: &str| known.iter().find(|state| state.place == place);
        let states = outcomes
            .into_iter()
            .map(|(place, error)| {
                let before = of(&place);
                AnchorState {
                    kept_at: match error {
                        None => Some(now),
                        Some(_) => before.and_then(|state| state.kept_at),
                    },
                    failing_since: error
                        .as_ref()
                        .map(|_| before.and_then(|state| state.failing_since).unwrap_or(now)),
                    place,
                    error,
                }
            })
            .collect();
        if let Err(error) = self.maintenance.note_anchors(states).await {
            tracing::warn!(%error, "how anchors were kept is not on record");
        }
    }

    async fn keep_anchor(&self, anchor: &Anchor) -> bool {
        let line = match serde_json::to_string(anchor) {
            Ok(line) => line,
            Err(error) => {
                tracing::warn!(%error, "the anchor could not be written");
                return false;
            }
        };
        let mut outcomes = Vec::new();
        for sink in &self.anchors.sinks {
            let kept = sink.keep(line.clone()).await;
            outcomes.push((sink.name(), kept.err().map(|error| error.to_string())));
        }
        if let Some(url) = &self.anchors.url {
            let sent = self.send_anchor(url, line).await;
            outcomes.push((url.clone(), sent.err()));
        }
        for (place, error) in &outcomes {
            if let Some(error) = error {
                tracing::warn!(
                    error,
                    to = place,
                    "the anchor could not be kept; trying again"
                );
            }
        }
        let is_kept = outcomes.iter().all(|(_, error)| error.is_none());
        self.note_anchor(outcomes).await;
        is_kept
    }

    async fn send_anchor(&self, url: &str, line: String) -> Result<(), String> {
        let id = DeliveryId::from_random(random(&*self.entropy));
        let secrets = SigningSecrets::one(self.outbox.default_secret.clone());
        let request = OutboundRequest {
            method: "POST".to_owned(),
            url: url.to_owned(),
            headers: sign(&id, self.now(), &line, &secrets),
            body: line.into_bytes(),
            timeout: self.outbox.timeout,
        };
        match self.outbound.send(request).await {
            Ok(answer) if (200..300).contains(&answer.status) => Ok(()),
            Ok(answer) => Err(format!("the receiver answered {}", answer.status)),
            Err(error) => Err(error.to_string()),
        }
    }
}
