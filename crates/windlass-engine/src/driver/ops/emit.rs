//! `emit`: something for watchers, redacted before it is written.

use serde_json::Value;
use windlass_types::{Body, journal::DomainEvent};

use super::super::{journal_context::JournalContext, lock};
use crate::run::RunError;

pub(in super::super) async fn emit(
    context: &JournalContext,
    name: &str,
    data: Value,
) -> Result<(), RunError> {
    let key = context.key(name);
    if lock(&context.memo).emitted.contains(&key) {
        return Ok(());
    }
    context.guard()?;
    let data = context.engine.redactor.redact_value(data);
    let body = Body::Domain(name.to_owned(), DomainEvent { key, data });
    context
        .journal(vec![body], context.own_span())
        .await
        .map(drop)
}
