//! Finds runs, wherever they came from: lists, one run, its children, its events.

use serde_json::{Value, json};
use windlass_engine::operation::CallContext;
use windlass_launch_model::ids;
use windlass_types::{Problem, RunRecord, code};

use super::{
    Telemetry,
    own::OwnRun,
    reports::Filed,
    run::{JobType, Run, Status},
};
use crate::{fault, view};

/// The length of a launch's id; the ids of its children begin with it.
const LAUNCH_ID: usize = 49;

/// Which runs are wanted.
#[derive(Default)]
pub(super) struct Filter {
    pub(super) status: Option<Status>,
    pub(super) job_type: Option<JobType>,
    pub(super) parent_run_id: Option<String>,
    pub(super) product: Option<String>,
}

impl Filter {
    fn admits(&self, run: &Run) -> bool {
        self.status.is_none_or(|status| run.status == status)
            && self.job_type.is_none_or(|kind| run.job_type == kind)
            && (self.parent_run_id.is_none() || run.parent_run_id == self.parent_run_id)
            && (self.product.is_none() || run.product == self.product)
    }

    /// Whether a launch, or a child of it, can be among them.
    fn may_admit(&self, launch: &RunRecord) -> bool {
        let parent = self.parent_run_id.as_deref();
        let product = launch.input.pointer("/config/product_slug");
        parent.is_none_or(|parent| parent == launch.run_id.as_str())
            && (self.product.is_none() || product.and_then(Value::as_str) == self.product())
    }

    fn product(&self) -> Option<&str> {
        self.product.as_deref()
    }
}

/// A run that was found.
pub(super) enum Found {
    /// A launch or a child of one.
    Own(Box<(RunRecord, OwnRun)>),
    /// One that was reported.
    Reported(Box<Filed>),
}

impl Found {
    pub(super) fn run(&self) -> &Run {
        match self {
            Self::Own(found) => &found.1.run,
            Self::Reported(filed) => &filed.run,
        }
    }
}

impl Telemetry {
    /// Every run a caller may see that the filter admits, newest first.
    pub(super) async fn list(
        &self,
        context: &CallContext,
        filter: &Filter,
    ) -> Result<Vec<Run>, Problem> {
        let wanted = |launch: &RunRecord| filter.may_admit(launch);
        let launches = self.launches.visible(&self.desk, context, wanted).await?;
        let own = launches.iter().flat_map(|runs| runs.iter());
        let own = own.map(|own| &own.run).filter(|run| filter.admits(run));
        let mut runs: Vec<Run> = own.cloned().collect();
        let reported = self
            .reports
            .visible(&self.desk.engine, &context.principal, |run| {
                filter.admits(run)
            });
        runs.extend(reported.await?);
        runs.sort_by(|a, b| {
            b.start_time
                .cmp(&a.start_time)
                .then_with(|| a.run_id.cmp(&b.run_id))
                .then_with(|| a.event_id.cmp(&b.event_id))
        });
        Ok(runs)
    }

    /// A run by its id.
    pub(super) async fn find(&self, context: &CallContext, run_id: &str) -> Result<Found, Problem> {
        if let Some(own) = self.find_own(context, run_id).await? {
            return Ok(Found::Own(Box::new(own)));
        }
        let (engine, principal) = (&self.desk.engine, &context.principal);
        match self.reports.find(engine, principal, run_id).await? {
            Some(filed) => Ok(Found::Reported(Box::new(filed))),
            None => Err(not_found("run", run_id)),
        }
    }

    /// A launch or a child of one, if the caller may see it.
    pub(super) async fn find_own(
        &self,
        context: &CallContext,
        run_id: &str,
    ) -> Result<Option<(RunRecord, OwnRun)>, Problem> {
        let launch = run_id.get(..LAUNCH_ID).and_then(ids::parse_run_id);
        let Some(launch) = launch else {
            return Ok(None);
        };
        let record = match self.desk.record(context, &launch).await {
            Ok(record) => record,
            Err(problem) if *problem.code() == code::RUN_NOT_FOUND => return Ok(None),
            Err(problem) => return Err(problem),
        };
        let runs = self.launches.of(&self.desk, &record).await?;
        let found = runs.iter().find(|own| own.run.run_id == run_id);
        Ok(found.map(|own| (record, own.clone())))
    }

    /// Whether an event id is that of a launch or a child of one.
    pub(super) async fn is_own_event(
        &self,
        context: &CallContext,
        event_id: &str,
    ) -> Result<bool, Problem> {
        let launches = self.launches.visible(&self.desk, context, |_| true).await?;
        let mut own = launches.iter().flat_map(|runs| runs.iter());
        Ok(own.any(|own| own.run.event_id == event_id))
    }

    /// What is on record about a run, event by event.
    pub(super) async fn events(&self, found: &Found) -> Result<Vec<Value>, Problem> {
        let (record, own) = match found {
            Found::Reported(filed) => {
                return self.reports.events(&self.desk.engine, filed).await;
            }
            Found::Own(found) => &**found,
        };
        let mut journal = view::journal(&self.desk.engine, &record.run_id).await?;
        if own.run.job_type != JobType::Launch {
            journal.retain(|event| own.seqs.contains(&event.seq));
        }
        let shown = view::events_of(record, &journal);
        shown
            .into_iter()
            .map(|event| {
                serde_json::to_value(event).map_err(|error| Problem::internal("event", error))
            })
            .collect()
    }
}

/// There is no such thing, for this caller.
pub(super) fn not_found(what: &str, given: &str) -> Problem {
    let shown: String = given.chars().filter(|c| !c.is_control()).take(64).collect();
    Problem::new(&code::RUN_NOT_FOUND, format!("no {what} {shown:?}")).next("GET /api/v1/runs")
}

/// What language models cost, over these runs.
pub(super) fn llm_totals<'a>(runs: impl Iterator<Item = &'a Run>) -> Value {
    let (mut calls, mut cost) = (0_u64, None::<f64>);
    let mut tokens = [0_u64; 3];
    for run in runs.filter(|run| run.job_type == JobType::LlmCall) {
        calls += 1;
        let figure = |name: &str| run.metrics_json.as_ref().and_then(|m| m.get(name));
        let names = ["prompt_tokens", "completion_tokens", "total_tokens"];
        for (total, name) in tokens.iter_mut().zip(names) {
            *total = total.saturating_add(figure(name).and_then(Value::as_u64).unwrap_or(0));
        }
        if let Some(known) = figure("api_cost_usd").and_then(Value::as_f64) {
            cost = Some(cost.unwrap_or(0.0) + known);
        }
    }
    json!({
        "calls": calls,
        "prompt_tokens": tokens[0],
        "completion_tokens": tokens[1],
        "total_tokens": tokens[2],
        "api_cost_usd": cost,
    })
}

/// Windlass keeps these itself: their journal says what happened.
pub(super) fn kept_by_windlass(event_id: &str) -> Problem {
    Problem::new(
        &code::ILLEGAL_STATE,
        format!("the run {event_id} is a launch of this home; its journal has its status"),
    )
    .with("event_id", event_id)
    .with("reason", "kept_by_windlass")
}

/// A number of a query.
pub(super) fn number(
    given: Option<Value>,
    name: &str,
    usual: u64,
    range: std::ops::RangeInclusive<u64>,
) -> Result<u64, Problem> {
    let Some(given) = given else { return Ok(usual) };
    let number = given.as_u64().filter(|number| range.contains(number));
    number.ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        let message = if *most == u64::MAX {
            format!("{name} is a whole number from {least}")
        } else {
            format!("{name} is a whole number from {least} to {most}")
        };
        fault::invalid(&format!("/{name}"), "range", message)
    })
}
