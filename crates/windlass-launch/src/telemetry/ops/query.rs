//! Asking for runs: lists, one run, its events, its parts, the values there are.

use std::{
    collections::BTreeSet,
    sync::{Arc, PoisonError},
    time::Duration,
};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use windlass_engine::operation::{CallContext, Operation};
use windlass_types::{Problem, Timestamp};

use super::{
    super::{
        Telemetry,
        lookup::{Filter, llm_totals, number},
        read,
        run::{JobType, Run, Status},
    },
    Answered, MOST, answering, id_schema, reading, shown,
};
use crate::arguments::Arguments;

const USUAL: u64 = 100;
/// How long distinct values are not gathered again.
const FRESH_FOR: Duration = Duration::from_secs(5 * 60);
const EXAMPLE_RUN: &str = "r_2026-01-21T10-00-00Z_o5uw4zdmmfzxgllxnfxgi3dbom";

/// A page of runs.
#[derive(Serialize, JsonSchema)]
struct RunsAnswer {
    runs: Vec<Run>,
    /// How many there are on all pages.
    total: usize,
    limit: u64,
    offset: u64,
}

pub(super) fn list(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
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
            &[
                "limit",
                "offset",
                "status",
                "job_type",
                "parent_run_id",
                "product",
            ],
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

pub(super) fn get(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
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

pub(super) fn events(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
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

pub(super) fn show(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
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
    as_of: Timestamp,
}

pub(super) fn metadata(telemetry: &Arc<Telemetry>) -> Arc<dyn Operation> {
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
