//! `record`: several events and artifacts in one commit, each once.

use windlass_types::{
    Body,
    journal::{ArtifactStored, DomainEvent},
};

use super::super::{journal_context::JournalContext, lock};
use crate::run::{Entry, RunError};

pub(in super::super) async fn record(
    context: &JournalContext,
    entries: Vec<Entry>,
) -> Result<(), RunError> {
    let mut bodies = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry {
            Entry::Event { key, name, data } => {
                if !lock(&context.memo).emitted.contains(&key) {
                    let data = context.engine.redactor.redact_value(data);
                    bodies.push(Body::Domain(name, DomainEvent { key, data }));
                }
            }
            Entry::Artifact(artifact) => {
                let key = context.key(&format!("artifact:{}", artifact.name));
                if !lock(&context.memo).artifacts.contains_key(&key) {
                    bodies.push(ArtifactStored { key, artifact }.into());
                }
            }
        }
    }
    if bodies.is_empty() {
        return Ok(());
    }
    context.guard()?;
    context.journal(bodies, context.own_span()).await.map(drop)
}
