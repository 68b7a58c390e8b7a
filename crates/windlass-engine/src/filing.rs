//! Journals of the store's own that a domain keeps: what others reported, and the like.
//!
//! Not runs: nothing executes them, and their events mean what the domain says.

use windlass_ports::Expect;
use windlass_types::{Body, Event, Problem, RunId, event::SpanIds};

use crate::{Engine, engine::commit_problem, operation::CallContext};

/// What tells such journals apart from those of runs.
const PREFIX: &str = "sys_";

impl Engine {
    /// Appends bodies to one of these journals in one commit: all of them or none. Returns them
    /// as they were stored, once they are durable.
    pub async fn file(
        &self,
        journal: &RunId,
        context: &CallContext,
        bodies: Vec<Body>,
    ) -> Result<Vec<Event>, Problem> {
        if !journal.as_str().starts_with(PREFIX) {
            return Err(Problem::internal(
                "journal name",
                format!("{journal} is a run's, not one of the store's own"),
            ));
        }
        let spans = SpanIds {
            span_id: context.span_id(),
            parent_span_id: None,
        };
        let committed = self
            .append(journal, Expect::Any, bodies, spans, None)
            .await
            .map_err(commit_problem)?;
        Ok(committed.events)
    }
}
