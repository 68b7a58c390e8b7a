//! One entry of a journal and the hash chain that binds it to the one before.

use serde::{Deserialize, Serialize};

use crate::{Digest, Json, RunId, SpanId, Timestamp};

/// The span an event belongs to, and that span's parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanIds {
    /// The span.
    pub span_id: SpanId,
    /// Its parent; absent at the root of a run.
    pub parent_span_id: Option<SpanId>,
}

/// An event before the store has given it a place in the chain.
#[derive(Clone, Debug)]
pub struct NewEvent {
    /// When it happened.
    pub time: Timestamp,
    /// What happened, e.g. `step.completed`.
    pub event_type: String,
    /// The particulars.
    pub payload: Json,
    /// Where it belongs in the trace.
    pub spans: SpanIds,
}

/// A stored event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Event {
    /// The journal.
    pub run_id: RunId,
    /// The place in the journal, from 1 without gaps.
    pub seq: u64,
    /// When it happened.
    pub time: Timestamp,
    /// What happened.
    #[serde(rename = "type")]
    pub event_type: String,
    /// The particulars, exactly as hashed.
    pub payload: Json,
    /// The span it belongs to.
    pub span_id: SpanId,
    /// That span's parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_span_id: Option<SpanId>,
    /// The hash of the event before; zero for the first.
    pub prev_hash: Digest,
    /// The hash of this event, which covers `prev_hash` and every field above.
    pub hash: Digest,
}

impl Event {
    /// Gives a new event its place after `(seq, prev_hash)`.
    pub fn chain(run_id: RunId, seq: u64, prev_hash: Digest, new: NewEvent) -> Self {
        let mut event = Self {
            run_id,
            seq,
            time: new.time,
            event_type: new.event_type,
            payload: new.payload,
            span_id: new.spans.span_id,
            parent_span_id: new.spans.parent_span_id,
            prev_hash,
            hash: Digest::ZERO,
        };
        event.hash = event.compute_hash();
        event
    }

    /// The hash this event must have.
    pub fn compute_hash(&self) -> Digest {
        let parent = self.parent_span_id.unwrap_or_default();
        Digest::of_parts(&[
            b"windlass.event.v1",
            self.run_id.as_str().as_bytes(),
            &self.seq.to_be_bytes(),
            &self.time.as_millis().to_be_bytes(),
            self.event_type.as_bytes(),
            self.payload.as_str().as_bytes(),
            self.span_id.as_bytes(),
            parent.as_bytes(),
            self.prev_hash.as_bytes(),
        ])
    }
}

/// Where a chain breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// A place is missing or doubled.
    #[error("event {expected} is missing (found {found})")]
    Gap {
        /// The place that should come next.
        expected: u64,
        /// The place that came.
        found: u64,
    },
    /// The event names another predecessor.
    #[error("event {seq} does not follow from the event before it")]
    Unlinked {
        /// The place of the event.
        seq: u64,
    },
    /// The event's content does not match its hash.
    #[error("event {seq} was altered: its content does not match its hash")]
    Altered {
        /// The place of the event.
        seq: u64,
    },
}

/// The end of a verified stretch of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainHead {
    /// The last verified place; 0 before the first event.
    pub seq: u64,
    /// The hash there.
    pub hash: Digest,
}

impl Default for ChainHead {
    fn default() -> Self {
        Self {
            seq: 0,
            hash: Digest::ZERO,
        }
    }
}

/// Follows the chain from `head` over `events`.
pub fn verify_chain<'a>(
    mut head: ChainHead,
    events: impl IntoIterator<Item = &'a Event>,
) -> Result<ChainHead, ChainError> {
    for event in events {
        if event.seq != head.seq + 1 {
            return Err(ChainError::Gap {
                expected: head.seq + 1,
                found: event.seq,
            });
        }
        if event.prev_hash != head.hash {
            return Err(ChainError::Unlinked { seq: event.seq });
        }
        if event.compute_hash() != event.hash {
            return Err(ChainError::Altered { seq: event.seq });
        }
        head = ChainHead {
            seq: event.seq,
            hash: event.hash,
        };
    }
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(length: u64) -> Vec<Event> {
        let run_id: RunId = "run_1".parse().unwrap();
        let mut head = ChainHead::default();
        (1..=length)
            .map(|seq| {
                let event = Event::chain(
                    run_id.clone(),
                    seq,
                    head.hash,
                    NewEvent {
                        time: Timestamp::from_millis(seq as i64),
                        event_type: "step.completed".into(),
                        payload: serde_json::json!({ "n": seq }).into(),
                        spans: SpanIds::default(),
                    },
                );
                head = ChainHead {
                    seq,
                    hash: event.hash,
                };
                event
            })
            .collect()
    }

    #[test]
    fn an_honest_journal_verifies() {
        let events = journal(5);
        assert_eq!(verify_chain(ChainHead::default(), &events).unwrap().seq, 5);
    }

    #[test]
    fn tampering_is_always_found() {
        let mut altered = journal(5);
        altered[2].payload = serde_json::json!({ "n": 99 }).into();
        assert_eq!(
            verify_chain(ChainHead::default(), &altered),
            Err(ChainError::Altered { seq: 3 })
        );
        let mut rehashed = altered;
        rehashed[2].hash = rehashed[2].compute_hash();
        assert_eq!(
            verify_chain(ChainHead::default(), &rehashed),
            Err(ChainError::Unlinked { seq: 4 })
        );
        let mut missing = journal(5);
        missing.remove(1);
        assert_eq!(
            verify_chain(ChainHead::default(), &missing),
            Err(ChainError::Gap {
                expected: 2,
                found: 3
            })
        );
    }

    #[test]
    fn export_keeps_the_hash() {
        let event = journal(1).remove(0);
        let text = serde_json::to_string_pretty(&event).unwrap();
        let back: Event = serde_json::from_str(&text).unwrap();
        assert_eq!(back.compute_hash(), event.hash);
    }
}
