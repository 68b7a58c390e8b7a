//! Tells the telemetry service of the configuration what has happened so far: where the run may
//! rest, and when it ends. What could not be sent is on record; a run never fails for it.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_engine::run::{RunError, Step};
use windlass_launch_model::repo_url::{Scheme, web_host};
use windlass_types::{Problem, RunId};

use super::{Launch, Tools};
use crate::{
    event,
    telemetry::{
        deliver::{OUTBOX, Service, bound},
        own::runs_of,
        run::{Run, Status},
    },
    view,
};

/// What the service has, and what it will never have.
#[derive(Clone, Debug, Default)]
pub(super) struct Outbox {
    flushes: u32,
    settled: BTreeSet<String>,
    /// How many were given up.
    dropped: usize,
}

/// What came of one flush; kept by its step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Flushed {
    sent: Vec<String>,
    dropped: Vec<String>,
    /// How many still wait.
    pending: usize,
    error: Option<String>,
}

/// How a run ends, for the last flush.
#[derive(Clone, Debug)]
pub(super) struct Ending {
    status: Status,
    error: Option<String>,
}

impl Ending {
    /// The pull request is open.
    pub(super) const fn well() -> Self {
        Self {
            status: Status::Success,
            error: None,
        }
    }

    /// Something failed.
    pub(super) fn failed(problem: &Problem) -> Self {
        Self {
            status: Status::Failure,
            error: Some(problem.message().to_owned()),
        }
    }

    const fn cancelled() -> Self {
        Self {
            status: Status::Cancelled,
            error: None,
        }
    }
}

impl Launch<'_> {
    /// Sends what is new, where the configuration names a service.
    pub(super) async fn flush_telemetry(&mut self, ending: Option<Ending>) -> Result<(), RunError> {
        if self.tools.telemetry_endpoint().is_none() {
            return Ok(());
        }
        self.outbox.flushes += 1;
        let key = format!("telemetry:{}:{}", self.outbox.flushes, self.state.as_str());
        self.take_up(&key);
        self.commit().await?;
        let (tools, run_id, outbox) = (&self.tools, self.context.run_id(), &self.outbox);
        let flushed: Flushed = Step::pure(&key)
            .run(self.context, async |_| {
                Ok(tools.flush(run_id, outbox, ending.clone()).await)
            })
            .await?;
        self.taken_up = self.context.resumptions(&key);
        self.outbox.dropped += flushed.dropped.len();
        if !flushed.dropped.is_empty() {
            let data = json!({
                "dropped": flushed.dropped.len(),
                "message": format!("telemetry: {} runs were dropped", flushed.dropped.len()),
            });
            let name = event::TELEMETRY_OUTBOX_TRUNCATED;
            self.queue(format!("truncated:{key}"), name, data);
        }
        let message = match &flushed.error {
            None => format!("telemetry: {} sent", flushed.sent.len()),
            Some(error) => format!("telemetry: {} wait: {error}", flushed.pending),
        };
        let data = json!({
            "state": self.state,
            "sent": flushed.sent.len(),
            "pending": flushed.pending,
            "dropped": self.outbox.dropped,
            "error": flushed.error,
            "message": message,
        });
        self.outbox.settled.extend(flushed.sent);
        self.outbox.settled.extend(flushed.dropped);
        self.queue(format!("flushed:{key}"), event::TELEMETRY_FLUSHED, data);
        self.commit().await
    }

    /// Sends what is new about a run that is being cancelled. Nothing can be put on record any
    /// more and nobody waits: the service may hear it twice, or not at all.
    pub(super) fn tell_of_cancelling(&self) {
        if self.tools.telemetry_endpoint().is_none() {
            return;
        }
        let (tools, run_id) = (self.tools.clone(), self.context.run_id().clone());
        let outbox = self.outbox.clone();
        tokio::spawn(async move {
            let flushed = tools
                .flush(&run_id, &outbox, Some(Ending::cancelled()))
                .await;
            if let Some(error) = flushed.error {
                tracing::warn!(%run_id, error, "telemetry of a cancelled run was not sent");
            }
        });
    }
}

impl Tools {
    fn telemetry_endpoint(&self) -> Option<&String> {
        let telemetry = self.accepted.config().telemetry.as_ref();
        telemetry.and_then(|telemetry| telemetry.endpoint_url.as_ref())
    }

    /// Never fails: what went wrong is part of what it returns.
    async fn flush(&self, run_id: &RunId, outbox: &Outbox, ending: Option<Ending>) -> Flushed {
        let mut runs = match self.waiting(run_id, outbox, ending.as_ref()).await {
            Ok(runs) => runs,
            Err(problem) => {
                return Flushed {
                    pending: 1,
                    error: Some(problem.message().to_owned()),
                    ..Flushed::default()
                };
            }
        };
        let dropped = bound(&mut runs, OUTBOX);
        let lost = outbox.dropped + dropped.len();
        let mut flushed = Flushed {
            pending: runs.len(),
            dropped,
            ..Flushed::default()
        };
        match self.service() {
            Ok(service) => self.send(&service, outbox, runs, lost, &mut flushed).await,
            Err(error) => flushed.error = Some(error),
        }
        flushed
    }

    /// The launch, then what has ended and the service does not have, oldest first.
    async fn waiting(
        &self,
        run_id: &RunId,
        outbox: &Outbox,
        ending: Option<&Ending>,
    ) -> Result<Vec<Run>, Problem> {
        let engine = self.engine.upgrade()?;
        let record = engine.store.run(run_id).await?;
        let record = record.ok_or_else(|| Problem::internal("telemetry", "the run is gone"))?;
        let events = view::journal(&engine, run_id).await?;
        let mut runs = runs_of(&record, &events).into_iter().map(|own| own.run);
        let Some(mut launch) = runs.next() else {
            return Err(Problem::internal("telemetry", "the journal is empty"));
        };
        if let Some(ending) = ending {
            launch.end(ending.status, engine.now());
            launch.error_summary.clone_from(&ending.error);
        }
        let is_end = ending.is_some();
        let mut waiting = vec![launch];
        waiting.extend(runs.filter(|run| {
            (is_end || run.end_time.is_some()) && !outbox.settled.contains(&run.event_id)
        }));
        Ok(waiting)
    }

    fn service(&self) -> Result<Service, String> {
        let config = self.accepted.config();
        let endpoint = self.telemetry_endpoint().ok_or("no service is named")?;
        let host = web_host(endpoint, Scheme::HttpToo)?;
        if !config.allowed_hosts().contains(&host) {
            return Err(format!("NETWORK_BLOCKED: {host} is not an allowed host"));
        }
        let variable = config.telemetry.as_ref();
        let variable = variable.and_then(|telemetry| telemetry.auth_token_env.as_ref());
        let token = match variable {
            Some(variable) => {
                let token = self.outside.tokens.token(variable, &host);
                Some(token.map_err(|error| error.to_string())?)
            }
            None => None,
        };
        let engine = self.engine.upgrade();
        let engine = engine.map_err(|problem| problem.message().to_owned())?;
        Ok(Service {
            outbound: Arc::clone(&self.outside.outbound),
            clock: Arc::clone(&engine.clock),
            endpoint: endpoint.clone(),
            token,
        })
    }

    /// The parts first, so that the last word about the launch can say whether all arrived.
    async fn send(
        &self,
        service: &Service,
        outbox: &Outbox,
        mut runs: Vec<Run>,
        lost: usize,
        flushed: &mut Flushed,
    ) {
        let mut launch = runs.remove(0);
        let is_known = outbox.settled.contains(&launch.event_id);
        let redactor = match self.engine.upgrade() {
            Ok(engine) => Arc::clone(&engine.redactor),
            Err(_) => return,
        };
        let shown = |run: &Run| reportable(redactor.redact_value(json!(run)));
        if !is_known {
            // Before its parts, so that no part is without its parent.
            let mut begun = launch.clone();
            begun.status = Status::Running;
            (begun.end_time, begun.duration_ms) = (None, None);
            let delivery = service.report(&[shown(&begun)]).await;
            flushed.sent.extend(delivery.sent);
            if delivery.error.is_some() {
                flushed.error = delivery.error;
                return;
            }
        }
        let parts: Vec<Value> = runs.iter().map(shown).collect();
        let delivery = service.report(&parts).await;
        flushed.pending -= delivery.sent.len();
        flushed.sent.extend(delivery.sent);
        flushed.error = delivery.error;
        if delivery.broken_off {
            return;
        }
        let all_arrived = flushed.error.is_none() && lost == 0;
        if launch.status == Status::Success && !all_arrived {
            launch.status = Status::Partial;
        }
        let changes = changes_of(&shown(&launch));
        match service.update(&launch.event_id, &changes).await {
            Ok(()) => flushed.pending -= 1,
            Err(error) => {
                flushed.error.get_or_insert(error);
            }
        }
    }
}

/// A run as it is reported: what is not known is left out, and so are commits, which have a call
/// of their own.
fn reportable(run: Value) -> Value {
    let Value::Object(mut fields) = run else {
        return run;
    };
    fields.retain(|name, value| !value.is_null() && !name.starts_with("commit_"));
    Value::Object(fields)
}

/// The fields of a run that may change.
fn changes_of(run: &Value) -> Value {
    let names = [
        "status",
        "end_time",
        "duration_ms",
        "items_discovered",
        "items_succeeded",
        "items_failed",
        "output_summary",
        "error_summary",
        "error_details",
        "metrics_json",
        "context_json",
    ];
    let given = names
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), run.get(name)?.clone())));
    Value::Object(given.collect())
}
