//! A journal from another home: checked as a whole, then stored as it is.

use windlass_ports::{CommitError, StoreError};
use windlass_types::{
    Body, Event, RunId,
    event::{ChainHead, verify_chain},
};

use crate::{append::Work, index, writer::Writer};

/// Journals of the store itself begin so; no file may bring one.
const SYSTEM_PREFIX: &str = "sys_";

/// A journal that verifies and can be read.
pub(crate) struct PreparedImport {
    pub(crate) run_id: RunId,
    pub(crate) events: Vec<Event>,
    pub(crate) bodies: Vec<Option<Body>>,
    pub(crate) bytes: usize,
}

impl PreparedImport {
    pub(crate) fn new(events: Vec<Event>) -> Result<Self, StoreError> {
        let refuse =
            |why: String| StoreError::Damaged(format!("the imported journal is refused: {why}"));
        let Some(first) = events.first() else {
            return Err(refuse("it has no events".to_owned()));
        };
        let run_id = first.run_id.clone();
        if run_id.as_str().starts_with(SYSTEM_PREFIX) {
            return Err(refuse(format!("{run_id} is a journal of the store itself")));
        }
        if let Some(other) = events.iter().find(|event| event.run_id != run_id) {
            return Err(refuse(format!(
                "it holds events of {run_id} and of {}",
                other.run_id
            )));
        }
        verify_chain(ChainHead::default(), &events).map_err(|error| refuse(error.to_string()))?;
        let mut bodies = Vec::with_capacity(events.len());
        for event in &events {
            let body = Body::decode(&event.event_type, &event.payload)
                .map_err(|error| refuse(format!("event {} cannot be read: {error}", event.seq)))?;
            bodies.push(body.filter(index::is_indexed));
        }
        if !matches!(bodies.first(), Some(Some(Body::RunCreated(_)))) {
            return Err(refuse("it does not begin with run.created".to_owned()));
        }
        let bytes = events
            .iter()
            .map(|event| event.payload.as_str().len())
            .sum();
        Ok(Self {
            run_id,
            events,
            bodies,
            bytes,
        })
    }
}

/// Stores the journal with its hashes.
pub(crate) async fn import(writer: &Writer, events: Vec<Event>) -> Result<(), CommitError> {
    let import = PreparedImport::new(events)?;
    writer.write(Work::Import(import)).await.map(drop)
}
