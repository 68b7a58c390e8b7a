//! The journal of a run, read directly from the store.

use std::path::Path;

use serde_json::Value;
use tokio::runtime::Runtime;
use windlass_types::{Body, RunId, RunState};

use crate::suite::support::library::{Library, runtime};

/// An event of a launch: its name and what it says.
pub(crate) type Event = (String, Value);

/// A home's journals, open for reading.
pub(crate) struct Journals {
    runtime: Runtime,
    library: Library,
}

impl Journals {
    pub(crate) fn open(home: &Path) -> Self {
        let runtime = runtime();
        let library = runtime
            .block_on(async { Library::open(home, None) })
            .unwrap();
        Self { runtime, library }
    }

    /// How many events a journal has.
    pub(crate) fn length(&self, run_id: &str) -> usize {
        self.bodies(run_id).len()
    }

    /// Whether a journal has that many.
    pub(crate) fn reaches(&self, run_id: &str, length: usize) -> bool {
        let run_id: RunId = run_id.parse().unwrap();
        let store = &self.library.engine.store;
        let found = self
            .runtime
            .block_on(store.events(&run_id, length as u64 - 1, 1));
        !found.unwrap().is_empty()
    }

    /// Whether a run waits or has ended.
    pub(crate) fn rests(&self, run_id: &str) -> bool {
        let run_id: RunId = run_id.parse().unwrap();
        let record = self
            .runtime
            .block_on(self.library.engine.store.run(&run_id));
        let state = record.unwrap().unwrap().state;
        state == RunState::Waiting || state.is_final()
    }

    /// The events of the launch itself, in order.
    pub(crate) fn events(&self, run_id: &str) -> Vec<Event> {
        self.bodies(run_id)
            .into_iter()
            .filter_map(|body| match body {
                Some(Body::Domain(name, domain)) => Some((name, domain.data)),
                _ => None,
            })
            .collect()
    }

    /// The events of one name.
    pub(crate) fn named(&self, run_id: &str, name: &str) -> Vec<Value> {
        let mut events = self.events(run_id);
        events.retain(|(known, _)| known == name);
        events.into_iter().map(|(_, data)| data).collect()
    }

    /// How often the run received a signal.
    pub(crate) fn signals(&self, run_id: &str) -> usize {
        let is_signal = |body: &Option<Body>| matches!(body, Some(Body::SignalReceived(_)));
        self.bodies(run_id)
            .iter()
            .filter(|body| is_signal(body))
            .count()
    }

    fn bodies(&self, run_id: &str) -> Vec<Option<Body>> {
        let run_id: RunId = run_id.parse().unwrap();
        let events = self.runtime.block_on(self.library.events(&run_id)).unwrap();
        events
            .iter()
            .map(|event| Body::decode(&event.event_type, &event.payload).unwrap())
            .collect()
    }
}
