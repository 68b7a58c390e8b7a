//! Events as they are sent, shared by all streams that send them.
//!
//! A run's plan can be large, and many may watch it. Each event is read, redacted and written down
//! once while anyone still has it to send; the streams keep a reference. Few events are written
//! down at a time, so that many readers who begin at once do not each hold a copy.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use axum::body::Bytes;
use tokio::sync::{Semaphore, SemaphorePermit};
use windlass_engine::{Engine, run::EventView};
use windlass_types::{Event, Json, Problem, RunId};

/// How many streams read and write down events at the same time.
const AT_ONCE: usize = 2;

/// An event's text.
struct Text(String);

struct Held(Arc<Text>);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        self.0.0.as_bytes()
    }
}

/// The events that streams have to send.
pub(crate) struct Rendered {
    texts: Mutex<HashMap<RunId, HashMap<u64, Weak<Text>>>>,
    turns: Semaphore,
}

impl Default for Rendered {
    fn default() -> Self {
        Self {
            texts: Mutex::default(),
            turns: Semaphore::new(AT_ONCE),
        }
    }
}

impl Rendered {
    /// Waits for a turn to read events.
    pub(super) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.turns.acquire().await.ok()
    }

    /// The event at a place, if a stream has it.
    pub(super) fn known(&self, run_id: &RunId, seq: u64) -> Option<Bytes> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let text = texts.get(run_id)?.get(&seq)?.upgrade()?;
        Some(Bytes::from_owner(Held(text)))
    }

    /// Writes an event down, without its secrets.
    pub(super) fn render(&self, engine: &Engine, event: Event) -> Result<Bytes, Problem> {
        let (run_id, seq) = (event.run_id.clone(), event.seq);
        if let Some(known) = self.known(&run_id, seq) {
            return Ok(known);
        }
        let mut view = EventView::from(event);
        view.payload = Json::from(engine.redactor.redact_value(view.payload.value()));
        let data =
            serde_json::to_string(&view).map_err(|error| Problem::internal("event", error))?;
        let text = Arc::new(Text(format!(
            "id: {seq}\nevent: {}\ndata: {data}\n\n",
            view.event_type
        )));
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.retain(|_, of_run| {
            of_run.retain(|_, text| text.strong_count() > 0);
            !of_run.is_empty()
        });
        let of_run = texts.entry(run_id).or_default();
        of_run.insert(seq, Arc::downgrade(&text));
        Ok(Bytes::from_owner(Held(text)))
    }
}
