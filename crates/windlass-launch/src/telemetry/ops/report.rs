//! Reporting runs, one or many, and what changes about them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use windlass_engine::operation::{CallContext, Operation};
use windlass_types::Problem;

use super::{
    super::{
        Telemetry,
        lookup::{kept_by_windlass, not_found},
        read,
        run::{Changes, CommitSource, Run},
    },
    Answered, MOST, answering, id_schema, shown, telling,
};
use crate::{
    arguments::{Arguments, kind, missing},
    fault::invalid,
};

const EXAMPLE_EVENT: &str = "0b5c2b1e-7a4f-4c1d-9e57-2f0a6b7c8d9e";

/// Whether a report is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kept {
    Created,
    Duplicate,
}

/// A run, and whether it is new.
#[derive(Serialize, JsonSchema)]
struct Reported {
    #[serde(flatten)]
    run: Run,
    result: Kept,
}

impl Reported {
    fn new((run, is_new): (Run, bool)) -> Self {
        let result = if is_new {
            Kept::Created
        } else {
            Kept::Duplicate
        };
        Self { run, result }
    }
}

fn example() -> Value {
    json!({
        "event_id": EXAMPLE_EVENT,
        "run_id": "nightly-docs-42",
        "agent_name": "docs-builder",
        "job_type": "worker",
        "start_time": "2026-01-21T10:00:00Z",
    })
}

pub(super) fn report(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
    let builder = telling(
        "telemetry_report",
        "Report a run",
        "Keeps a run that happened elsewhere, so that it is listed beside the launches. The same \
         event_id is kept once, however often it is reported.",
        read::run_schema(),
    )
    .example("A run that has started", example());
    answering::<Reported, _, _>(builder, telemetry, |telemetry, context, input| async move {
        let run = read::run(input)?;
        let mut kept = telemetry.keep(&context, vec![run]).await?;
        let kept = kept.pop().ok_or_else(|| not_found("run", ""))?;
        shown(Reported::new(kept))
    })
}

pub(super) fn update(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
    let mut properties = read::change_properties();
    properties.insert(
        "id".to_owned(),
        id_schema("The event_id it was reported with."),
    );
    let builder = telling(
        "telemetry_update",
        "Change a reported run",
        "Updates the status of a reported run. What is not given is unchanged.",
        json!({
            "type": "object",
            "properties": properties,
            "required": ["id"],
            "additionalProperties": false,
        }),
    )
    .example(
        "It ended well",
        json!({ "id": EXAMPLE_EVENT, "status": "success", "end_time": "2026-01-21T10:05:00Z" }),
    );
    answering::<Run, _, _>(
        builder,
        telemetry,
        |telemetry, context, mut input| async move {
            let id = take_id(&mut input)?;
            telemetry.change(&context, &id, read::changes(input)?).await
        },
    )
}

pub(super) fn associate_commit(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
    let builder = telling(
        "telemetry_associate_commit",
        "Name a run's commit",
        "Says which commit came of a reported run.",
        json!({
            "type": "object",
            "properties": {
                "id": id_schema("The event_id it was reported with."),
                "commit_hash": { "type": "string", "pattern": "^[0-9A-Fa-f]{7,40}$" },
                "commit_source": { "enum": CommitSource::ALL },
            },
            "required": ["id", "commit_hash", "commit_source"],
            "additionalProperties": false,
        }),
    )
    .example(
        "A commit made by hand",
        json!({ "id": EXAMPLE_EVENT, "commit_hash": "4f2a9c1", "commit_source": "manual" }),
    );
    answering::<Run, _, _>(
        builder,
        telemetry,
        |telemetry, context, mut input| async move {
            let id = take_id(&mut input)?;
            telemetry.change(&context, &id, read::commit(input)?).await
        },
    )
}

/// What came of a batch.
#[derive(Serialize, JsonSchema)]
struct BatchAnswer {
    /// The runs that are kept, new or not, in the order given.
    runs: Vec<Reported>,
    /// How many were given.
    total: usize,
    created: usize,
    existing: usize,
    failed: usize,
    errors: Vec<ItemError>,
}

/// Why one of them is not kept.
#[derive(Serialize, JsonSchema)]
struct ItemError {
    /// Its place, from 0.
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
    field: Value,
    message: String,
}

pub(super) fn batch(telemetry: &Arc<Telemetry>, all_or_none: bool) -> Arc<dyn Operation> {
    let (verb, title, description) = if all_or_none {
        (
            "telemetry_batch_transactional",
            "Report runs, all or none",
            "Keeps up to 1000 runs in one go. If one of them is wrong, none is kept.",
        )
    } else {
        (
            "telemetry_batch",
            "Report runs",
            "Keeps up to 1000 runs in one go; says of each that is wrong what is wrong with it.",
        )
    };
    let builder = telling(
        verb,
        title,
        description,
        json!({
            "type": "object",
            "properties": {
                "runs": { "type": "array", "maxItems": MOST, "items": read::run_schema() },
            },
            "required": ["runs"],
            "additionalProperties": false,
        }),
    )
    .example("One run", json!({ "runs": [example()] }));
    if all_or_none {
        answering::<BatchAnswer, _, _>(builder, telemetry, |telemetry, context, input| async move {
            telemetry.keep_batch(&context, input, true).await
        })
    } else {
        answering::<BatchAnswer, _, _>(builder, telemetry, |telemetry, context, input| async move {
            telemetry.keep_batch(&context, input, false).await
        })
    }
}

impl Telemetry {
    /// Keeps runs. What is already told by the journal of a launch is not kept a second time.
    async fn keep(
        &self,
        context: &CallContext,
        runs: Vec<Run>,
    ) -> Result<Vec<(Run, bool)>, Problem> {
        let mut known: Vec<Option<Run>> = Vec::with_capacity(runs.len());
        let mut others = Vec::new();
        for run in runs {
            let own = self.find_own(context, &run.run_id).await?;
            let own = own.map(|(_, own)| own.run);
            let own = own.filter(|own| own.event_id == run.event_id);
            if own.is_none() {
                others.push(run);
            }
            known.push(own);
        }
        let kept = self.reports.keep(&self.desk.engine, context, others);
        let mut kept = kept.await?.into_iter();
        Ok(known
            .into_iter()
            .filter_map(|own| own.map(|run| (run, false)).or_else(|| kept.next()))
            .collect())
    }

    async fn change(&self, context: &CallContext, id: &str, changes: Changes) -> Answered {
        // A text that cannot be an id names no run.
        let Ok(event_id) = read::event_id(id) else {
            return Err(not_found("run with the event_id", id));
        };
        let engine = &self.desk.engine;
        let changed = self.reports.change(engine, context, &event_id, &changes);
        match changed.await? {
            Some(run) => shown(run),
            None if self.is_own_event(context, &event_id).await? => {
                Err(kept_by_windlass(&event_id))
            }
            None => Err(not_found("run with the event_id", &event_id)),
        }
    }

    async fn keep_batch(&self, context: &CallContext, input: Value, all_or_none: bool) -> Answered {
        let given = Arguments::read(input, &["runs"])?.take("runs");
        let given = match given.ok_or_else(|| missing("runs"))? {
            Value::Array(given) => given,
            other => {
                let message = format!("runs is {}, not a list", kind(&other));
                return Err(invalid("/runs", "type", message));
            }
        };
        if given.len() > MOST {
            let message = format!(
                "a batch has at most {MOST} runs; this one has {}",
                given.len()
            );
            return Err(invalid("/runs", "length", message));
        }
        let total = given.len();
        let (mut runs, mut errors) = (Vec::new(), Vec::new());
        for (index, item) in given.into_iter().enumerate() {
            let event_id = item.get("event_id").and_then(Value::as_str);
            let event_id = event_id.map(|id| id.chars().take(64).collect());
            match read::run(item) {
                Ok(run) => runs.push(run),
                Err(problem) => errors.push(ItemError {
                    index,
                    event_id,
                    field: problem.details().get("field").cloned().unwrap_or_default(),
                    message: problem.message().to_owned(),
                }),
            }
        }
        if let (true, Some(first)) = (all_or_none, errors.first()) {
            let place = format!("/runs/{}", first.index);
            let message = format!("nothing was kept: run {}: {}", first.index, first.message);
            return Err(invalid(&place, "batch", message).with("errors", shown(&errors)?));
        }
        let kept = self.keep(context, runs).await?;
        let runs: Vec<Reported> = kept.into_iter().map(Reported::new).collect();
        let created = runs.iter().filter(|run| run.result == Kept::Created);
        let created = created.count();
        shown(BatchAnswer {
            total,
            created,
            existing: runs.len() - created,
            failed: errors.len(),
            runs,
            errors,
        })
    }
}

/// Takes the id that the path names out of the rest.
fn take_id(input: &mut Value) -> Result<String, Problem> {
    let given = input.as_object_mut().and_then(|fields| fields.remove("id"));
    match given {
        Some(Value::String(id)) if !id.is_empty() => Ok(id),
        _ => Err(missing("id")),
    }
}
