//! Runs that others reported: a journal of their own, folded as it grows.
//!
//! The first report of an event id counts; a later one changes nothing. That holds for any
//! number of callers and processes, because the journal has one order.

use std::collections::HashMap;

use serde_json::{Value, json};
use tokio::sync::{Mutex, MutexGuard};
use windlass_engine::{Engine, operation::CallContext};
use windlass_types::{
    Body, Event, Principal, Problem, RunId,
    journal::{TelemetryReported, TelemetryUpdated},
};

use super::run::{Changes, Run};

const JOURNAL: &str = "sys_telemetry";
const PAGE: usize = 1000;

/// Everything that was reported.
#[derive(Default)]
pub(super) struct Reports(Mutex<Index>);

/// What the journal says, up to a place.
#[derive(Default)]
struct Index {
    seq: u64,
    filed: Vec<Filed>,
    /// Places in `filed`; more than one where several reporters use the same id.
    by_event: HashMap<String, Vec<usize>>,
    by_run: HashMap<String, Vec<usize>>,
}

/// A reported run.
#[derive(Clone)]
pub(super) struct Filed {
    /// Who reported it.
    by: String,
    pub(super) run: Run,
    /// The places of the events behind it.
    seqs: Vec<u64>,
}

impl Filed {
    fn is_visible_to(&self, principal: &Principal) -> bool {
        principal.sees_all_runs() || self.by == principal.id()
    }
}

impl Index {
    fn place(&self, by: &str, event_id: &str) -> Option<usize> {
        let places = self.by_event.get(event_id)?;
        places.iter().copied().find(|at| self.filed[*at].by == by)
    }

    /// The report a caller means by an event id: its own, or any it may see.
    fn meant(&self, principal: &Principal, event_id: &str) -> Option<&Filed> {
        if let Some(own) = self.place(&principal.id(), event_id) {
            return self.filed.get(own);
        }
        let places = self.by_event.get(event_id)?;
        let mut filed = places.iter().map(|at| &self.filed[*at]);
        filed.find(|filed| filed.is_visible_to(principal))
    }

    fn fold(&mut self, event: &Event) -> Result<(), serde_json::Error> {
        self.seq = event.seq;
        match Body::decode(&event.event_type, &event.payload)? {
            Some(Body::TelemetryReported(reported)) => {
                let run: Run = serde_json::from_value(reported.run)?;
                if self.place(&reported.principal, &run.event_id).is_some() {
                    return Ok(());
                }
                let at = self.filed.len();
                let by_event = self.by_event.entry(run.event_id.clone());
                by_event.or_default().push(at);
                self.by_run.entry(run.run_id.clone()).or_default().push(at);
                self.filed.push(Filed {
                    by: reported.principal,
                    run,
                    seqs: vec![event.seq],
                });
            }
            Some(Body::TelemetryUpdated(updated)) => {
                // Without its report, which was pruned, a change says nothing.
                if let Some(at) = self.place(&updated.reported_by, &updated.event_id) {
                    let changes: Changes = serde_json::from_value(updated.changes)?;
                    self.filed[at].run.apply(changes);
                    self.filed[at].seqs.push(event.seq);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Reports {
    /// The index, with everything in it that is in the journal.
    async fn current(&self, engine: &Engine) -> Result<MutexGuard<'_, Index>, Problem> {
        let mut index = self.0.lock().await;
        let journal = journal()?;
        loop {
            let page = engine.store.events(&journal, index.seq, PAGE).await?;
            for event in &page {
                index
                    .fold(event)
                    .map_err(|error| Problem::internal("reported run", error))?;
            }
            if page.len() < PAGE {
                return Ok(index);
            }
        }
    }

    /// Keeps runs, all in one commit. Says of each whether it is new.
    pub(super) async fn keep(
        &self,
        engine: &Engine,
        context: &CallContext,
        runs: Vec<Run>,
    ) -> Result<Vec<(Run, bool)>, Problem> {
        let by = context.principal.id();
        let mut bodies = Vec::new();
        let mut event_ids = Vec::with_capacity(runs.len());
        {
            let index = self.current(engine).await?;
            let mut taken: HashMap<String, usize> = HashMap::new();
            for run in runs {
                let event_id = run.event_id.clone();
                let is_known =
                    taken.contains_key(&event_id) || index.place(&by, &event_id).is_some();
                let body = (!is_known).then_some(bodies.len());
                if body.is_some() {
                    taken.insert(event_id.clone(), bodies.len());
                    bodies.push(reported(engine, &by, &run)?);
                }
                event_ids.push((event_id, body));
            }
        }
        let stored = if bodies.is_empty() {
            Vec::new()
        } else {
            engine.file(&journal()?, context, bodies).await?
        };
        let index = self.current(engine).await?;
        event_ids
            .into_iter()
            .map(|(event_id, body)| {
                let filed = index.place(&by, &event_id).map(|at| &index.filed[at]);
                let filed =
                    filed.ok_or_else(|| Problem::internal("reported run", "it was not kept"))?;
                // Another caller may have reported the same in between.
                let own = body.and_then(|at| stored.get(at)).map(|event| event.seq);
                Ok((
                    filed.run.clone(),
                    own.is_some() && filed.seqs.first() == own.as_ref(),
                ))
            })
            .collect()
    }

    /// Changes a reported run; `None` when there is none.
    pub(super) async fn change(
        &self,
        engine: &Engine,
        context: &CallContext,
        event_id: &str,
        changes: &Changes,
    ) -> Result<Option<Run>, Problem> {
        let found = {
            let index = self.current(engine).await?;
            index.meant(&context.principal, event_id).cloned()
        };
        let Some(filed) = found else { return Ok(None) };
        if *changes == Changes::default() {
            return Ok(Some(filed.run));
        }
        let changes = redacted(engine, changes)?;
        let updated = TelemetryUpdated {
            principal: context.principal.id(),
            reported_by: filed.by.clone(),
            event_id: event_id.to_owned(),
            changes,
        };
        engine
            .file(&journal()?, context, vec![updated.into()])
            .await?;
        let index = self.current(engine).await?;
        let at = index.place(&filed.by, event_id);
        Ok(at.map(|at| index.filed[at].run.clone()))
    }

    /// The reported runs a caller may see.
    pub(super) async fn visible(
        &self,
        engine: &Engine,
        principal: &Principal,
        wanted: impl Fn(&Run) -> bool,
    ) -> Result<Vec<Run>, Problem> {
        let index = self.current(engine).await?;
        let seen = index.filed.iter().filter(|f| f.is_visible_to(principal));
        Ok(seen
            .map(|filed| &filed.run)
            .filter(|run| wanted(run))
            .cloned()
            .collect())
    }

    /// The newest report of a run that a caller may see.
    pub(super) async fn find(
        &self,
        engine: &Engine,
        principal: &Principal,
        run_id: &str,
    ) -> Result<Option<Filed>, Problem> {
        let index = self.current(engine).await?;
        let places = index.by_run.get(run_id).map_or(&[][..], Vec::as_slice);
        let mut newest = places.iter().rev().map(|at| &index.filed[*at]);
        Ok(newest.find(|filed| filed.is_visible_to(principal)).cloned())
    }

    /// What the journal says about a reported run, event by event.
    pub(super) async fn events(
        &self,
        engine: &Engine,
        filed: &Filed,
    ) -> Result<Vec<Value>, Problem> {
        let journal = journal()?;
        let mut shown = Vec::with_capacity(filed.seqs.len());
        for seq in &filed.seqs {
            let events = engine.store.events(&journal, seq - 1, 1).await?;
            let Some(event) = events.first() else {
                continue;
            };
            let body = Body::decode(&event.event_type, &event.payload)
                .map_err(|error| Problem::internal("reported run", error))?;
            let (name, payload) = match body {
                Some(Body::TelemetryReported(reported)) => ("RUN_REPORTED", reported.run),
                Some(Body::TelemetryUpdated(updated)) => ("RUN_UPDATED", updated.changes),
                _ => continue,
            };
            shown.push(json!({
                "event_id": format!("{}:{}", event.run_id, event.seq),
                "run_id": filed.run.run_id,
                "ts": event.time,
                "type": name,
                "payload": payload,
                "trace_id": filed.run.context_json.as_ref().and_then(|c| c.get("trace_id")),
                "span_id": event.span_id,
                "prev_hash": event.prev_hash,
                "event_hash": event.hash,
            }));
        }
        Ok(shown)
    }
}

fn journal() -> Result<RunId, Problem> {
    JOURNAL
        .parse()
        .map_err(|error| Problem::internal("journal name", error))
}

fn reported(engine: &Engine, by: &str, run: &Run) -> Result<Body, Problem> {
    let run = redacted(engine, run)?;
    Ok(TelemetryReported {
        principal: by.to_owned(),
        run,
    }
    .into())
}

/// What goes into the journal: without secrets that were reported by mistake.
fn redacted<T: serde::Serialize>(engine: &Engine, value: &T) -> Result<Value, Problem> {
    let value = serde_json::to_value(value);
    let value = value.map_err(|error| Problem::internal("reported run", error))?;
    Ok(engine.redactor.redact_value(value))
}
