//! The operations of the telemetry interface.

use std::{
    collections::BTreeSet,
    sync::{Arc, PoisonError},
    time::Duration,
};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use windlass_engine::operation::{CallContext, Operation, OperationBuilder, operation};
use windlass_types::{Problem, RunId};

use super::{
    Telemetry,
    lookup::{Filter, kept_by_windlass, llm_totals, not_found, number},
    read,
    run::{Changes, CommitSource, JobType, Run, Status},
};
use crate::{
    arguments::{Arguments, kind, missing},
    fault::invalid,
};

/// The most runs in one batch, and in one list.
const MOST: usize = 1000;
const USUAL: u64 = 100;
/// How long distinct values are not gathered again.
const FRESH_FOR: Duration = Duration::from_secs(5 * 60);
const EXAMPLE_EVENT: &str = "0b5c2b1e-7a4f-4c1d-9e57-2f0a6b7c8d9e";
const EXAMPLE_RUN: &str = "r_2026-01-21T10-00-00Z_o5uw4zdmmfzxgllxnfxgi3dbom";

type Answered = Result<Value, Problem>;

/// Everything that can be asked.
pub(super) fn operations(telemetry: &Arc<Telemetry>) -> Vec<Arc<dyn Operation>> {
    vec![
        report(telemetry),
        update(telemetry),
        associate_commit(telemetry),
        batch(telemetry, false),
        batch(telemetry, true),
        list(telemetry),
        get(telemetry),
        events(telemetry),
        show(telemetry),
        metadata(telemetry),
    ]
}

fn reading(verb: &str, title: &str, description: &str, input: Value) -> OperationBuilder {
    operation("launch", verb)
        .describe(title, description)
        .not_a_tool()
        .validates_itself()
        .input_schema(input)
}

/// An operation that keeps what it is told. The call itself says exactly what.
fn telling(verb: &str, title: &str, description: &str, input: Value) -> OperationBuilder {
    reading(verb, title, description, input)
        .signal()
        .confirmed_by_call()
}

/// Finishes a definition: what it answers, and by which function.
fn answering<O, F, Fut>(
    builder: OperationBuilder,
    telemetry: &Arc<Telemetry>,
    function: F,
) -> Arc<dyn Operation>
where
    O: JsonSchema + 'static,
    F: Fn(Arc<Telemetry>, CallContext, Value) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Answered> + Send + 'static,
{
    let telemetry = Arc::clone(telemetry);
    builder.output::<O>().handle_json(move |context, input| {
        let answer = function(Arc::clone(&telemetry), context, input);
        async move { Ok((answer.await?, None::<RunId>)) }
    })
}

fn shown<T: Serialize>(value: T) -> Answered {
    serde_json::to_value(value).map_err(|error| Problem::internal("telemetry", error))
}

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
        let result = if is_new { Kept::Created } else { Kept::Duplicate };
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

fn report(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
    let builder = telling(
        "telemetry_report",
        "Report a run",
        "Keeps a run that happened elsewhere, so that it is listed beside the launches. The same \
         event_id is kept once, however often it is reported.",
        read::run_schema(),
    )
    .example("A run that has begun", example());
    answering::<Reported, _, _>(builder, telemetry, |telemetry, context, input| async move {
        let run = read::run(input)?;
        let mut kept = telemetry.keep(&context, vec![run]).await?;
        let kept = kept.pop().ok_or_else(|| not_found("run", ""))?;
        shown(Reported::new(kept))
    })
}

fn update(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
    let mut properties = read::change_properties();
    properties.insert("id".to_owned(), id_schema("The event_id it was reported with."));
    let builder = telling(
        "telemetry_update",
        "Change a reported run",
        "Says how a reported run stands now. What is not given stays as it is.",
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
    answering::<Run, _, _>(builder, telemetry, |telemetry, context, mut input| async move {
        let id = take_id(&mut input)?;
        telemetry.change(&context, &id, read::changes(input)?).await
    })
}

fn associate_commit(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
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
    answering::<Run, _, _>(builder, telemetry, |telemetry, context, mut input| async move {
        let id = take_id(&mut input)?;
        telemetry.change(&context, &id, read::commit(input)?).await
    })
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

fn batch(telemetry: &Arc<Telemetry>, all_or_none: bool) -> Arc<dyn Operation> {
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

    async fn keep_batch(
        &self,
        context: &CallContext,
        input: Value,
        all_or_none: bool,
    ) -> Answered {
        let given = Arguments::read(input, &["runs"])?.take("runs");
        let given = match given.ok_or_else(|| missing("runs"))? {
            Value::Array(given) => given,
            other => {
                let message = format!("runs is {}, not a list", kind(&other));
                return Err(invalid("/runs", "type", message));
            }
        };
        if given.len() > MOST {
            let message = format!("a batch has at most {MOST} runs; this one has {}", given.len());
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

/// A page of runs.
#[derive(Serialize, JsonSchema)]
struct RunsAnswer {
    runs: Vec<Run>,
    /// How many there are on all pages.
    total: usize,
    limit: u64,
    offset: u64,
}

fn list(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
    let builder = reading(
        "telemetry_list",
        "List runs and their parts",
        "Launches, their workers, gates, model calls, tool calls and commits, and runs that others \
         reported; newest first.",
        json!({
            "type": "object",
            "properties": {
                "limit": limit_schema(),
                "offset": { "type": "integer", "minimum": 0, "default": 0 },
                "status": { "enum": status_words() },
                "job_type": { "enum": JobType::ALL },
                "parent_run_id": { "type": "string" },
                "product": { "type": "string" },
            },
            "additionalProperties": false,
        }),
    )
    .example("The newest", json!({}))
    .example(
        "What a launch is made of",
        json!({ "parent_run_id": EXAMPLE_RUN, "job_type": "gate" }),
    );
    answering::<RunsAnswer, _, _>(builder, telemetry, |telemetry, context, input| async move {
        let mut arguments = Arguments::read(
            input,
            &["limit", "offset", "status", "job_type", "parent_run_id", "product"],
        )?;
        let (limit, offset) = page(&mut arguments, USUAL)?;
        let status = arguments.text("status")?;
        let job_type = arguments.text("job_type")?;
        let filter = Filter {
            status: status.map(|word| read::status(&word)).transpose()?,
            job_type: job_type.map(|word| read::job_type(&word)).transpose()?,
            parent_run_id: arguments.text("parent_run_id")?,
            product: arguments.text("product")?,
        };
        let runs = telemetry.list(&context, &filter).await?;
        shown(RunsAnswer {
            total: runs.len(),
            runs: cut(runs, limit, offset),
            limit,
            offset,
        })
    })
}

fn get(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
    let builder = reading(
        "telemetry_get",
        "Show a run or a part of one",
        "One run by its run_id: a launch, a part of one, or a reported run.",
        one_run(),
    )
    .example("A launch", json!({ "id": EXAMPLE_RUN }));
    answering::<Run, _, _>(builder, telemetry, |telemetry, context, input| async move {
        let id = Arguments::read(input, &["id"])?.required_text("id")?;
        shown(telemetry.find(&context, &id).await?.run())
    })
}

/// A page of events.
#[derive(Serialize, JsonSchema)]
struct EventsAnswer {
    run_id: String,
    events: Vec<Value>,
    /// How many there are on all pages.
    total: usize,
    limit: u64,
    offset: u64,
}

fn events(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
    let mut input = one_run();
    input["properties"]["limit"] = limit_schema();
    input["properties"]["limit"]["default"] = json!(MOST);
    input["properties"]["offset"] = json!({ "type": "integer", "minimum": 0, "default": 0 });
    let builder = reading(
        "telemetry_events",
        "Show a run's events",
        "What is on record about a run, oldest first, each event with its hash.",
        input,
    )
    .example("A launch", json!({ "id": EXAMPLE_RUN }));
    answering::<EventsAnswer, _, _>(builder, telemetry, |telemetry, context, input| async move {
        let mut arguments = Arguments::read(input, &["id", "limit", "offset"])?;
        let id = arguments.required_text("id")?;
        let (limit, offset) = page(&mut arguments, MOST as u64)?;
        let found = telemetry.find(&context, &id).await?;
        let events = telemetry.events(&found).await?;
        shown(EventsAnswer {
            run_id: id,
            total: events.len(),
            events: cut(events, limit, offset),
            limit,
            offset,
        })
    })
}

/// A run with everything about it.
#[derive(Serialize, JsonSchema)]
struct ShowAnswer {
    run: Run,
    /// Its parts, in the order in which they began.
    children: Vec<Run>,
    events: Vec<Value>,
    /// What language models cost.
    llm: Value,
}

fn show(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
    let builder = reading(
        "telemetry_show",
        "Show a run with its parts",
        "One run, its parts, its events, and the sum of its language model calls.",
        one_run(),
    )
    .example("A launch", json!({ "id": EXAMPLE_RUN }));
    answering::<ShowAnswer, _, _>(builder, telemetry, |telemetry, context, input| async move {
        let id = Arguments::read(input, &["id"])?.required_text("id")?;
        let found = telemetry.find(&context, &id).await?;
        let filter = Filter {
            parent_run_id: Some(id),
            ..Filter::default()
        };
        let mut children = telemetry.list(&context, &filter).await?;
        children.reverse();
        let run = found.run().clone();
        shown(ShowAnswer {
            events: telemetry.events(&found).await?,
            llm: llm_totals(children.iter().chain([&run])),
            run,
            children,
        })
    })
}

/// The values there are.
#[derive(Serialize, JsonSchema)]
struct MetadataAnswer {
    agent_names: BTreeSet<String>,
    job_types: BTreeSet<JobType>,
    statuses: BTreeSet<Status>,
    products: BTreeSet<String>,
    product_families: BTreeSet<String>,
    platforms: BTreeSet<String>,
    subdomains: BTreeSet<String>,
    website_sections: BTreeSet<String>,
    git_repos: BTreeSet<String>,
    total_runs: usize,
    /// When they were gathered; for five minutes they are not gathered again.
    as_of: windlass_types::Timestamp,
}

fn metadata(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
    let input = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let builder = reading(
        "telemetry_metadata",
        "List what runs are told apart by",
        "The distinct agents, job types, statuses, products and the like of all runs you may see; \
         gathered at most every five minutes.",
        input,
    )
    .example("All of them", json!({}));
    answering::<MetadataAnswer, _, _>(builder, telemetry, |telemetry, context, input| async move {
        Arguments::read(input, &[])?;
        telemetry.distinct(&context).await
    })
}

impl Telemetry {
    async fn distinct(&self, context: &CallContext) -> Answered {
        let now = self.desk.engine.now();
        let asks = context.principal.id();
        let lock = || self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, known)) = lock().get(&asks)
            && *at <= now
            && now.since(*at) < FRESH_FOR
        {
            return Ok(known.clone());
        }
        let runs = self.list(context, &Filter::default()).await?;
        let words = |of: fn(&Run) -> Option<&String>| runs.iter().filter_map(of).cloned().collect();
        let gathered = shown(MetadataAnswer {
            agent_names: words(|run| Some(&run.agent_name)),
            job_types: runs.iter().map(|run| run.job_type).collect(),
            statuses: runs.iter().map(|run| run.status).collect(),
            products: words(|run| run.product.as_ref()),
            product_families: words(|run| run.product_family.as_ref()),
            platforms: words(|run| run.platform.as_ref()),
            subdomains: words(|run| run.subdomain.as_ref()),
            website_sections: words(|run| run.website_section.as_ref()),
            git_repos: words(|run| run.git_repo.as_ref()),
            total_runs: runs.len(),
            as_of: now,
        })?;
        let mut known = lock();
        known.retain(|_, (at, _)| now.since(*at) < FRESH_FOR);
        known.insert(asks, (now, gathered.clone()));
        Ok(gathered)
    }
}

fn id_schema(description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "description": description })
}

fn one_run() -> Value {
    json!({
        "type": "object",
        "properties": { "id": id_schema("The run_id.") },
        "required": ["id"],
        "additionalProperties": false,
    })
}

fn limit_schema() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL })
}

fn status_words() -> Vec<&'static str> {
    let own = Status::ALL.iter().map(|status| status.as_str());
    own.chain(Status::ALIASES.iter().map(|(word, _)| *word))
        .collect()
}

/// Takes the id that the path names out of the rest.
fn take_id(input: &mut Value) -> Result<String, Problem> {
    let given = input.as_object_mut().and_then(|fields| fields.remove("id"));
    match given {
        Some(Value::String(id)) if !id.is_empty() => Ok(id),
        _ => Err(missing("id")),
    }
}

fn page(arguments: &mut Arguments, usual: u64) -> Result<(u64, u64), Problem> {
    let limit = number(arguments.take("limit"), "limit", usual, 1..=MOST as u64)?;
    let offset = number(arguments.take("offset"), "offset", 0, 0..=u64::MAX)?;
    Ok((limit, offset))
}

fn cut<T>(items: Vec<T>, limit: u64, offset: u64) -> Vec<T> {
    let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let items = items.into_iter().skip(whole(offset));
    items.take(whole(limit)).collect()
}
