//! `launch_list_runs`: the runs a caller may see, newest first.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use windlass_engine::operation::{CallContext, Operation};
use windlass_launch_model::{LaunchState, ids};
use windlass_ports::store::RunFilter;
use windlass_types::{Problem, RunId, RunRecord, RunState, Timestamp};

use super::{Desk, reading};
use crate::{arguments::Arguments, fault::invalid, run::KIND, view};

const MOST: usize = 1000;
const USUAL: usize = 100;
/// Runs read from the store at once.
const PAGE: usize = 200;

/// The answer.
#[derive(Serialize, JsonSchema)]
struct Runs {
    runs: Vec<ListedRun>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ListedRun {
    run_id: RunId,
    product_slug: String,
    state: LaunchState,
    started_at: Timestamp,
    finished_at: Option<Timestamp>,
}

#[derive(Default)]
struct Filter {
    product_slug: Option<String>,
    state: Option<LaunchState>,
}

pub(super) fn operation(desk: &Desk) -> Arc<dyn Operation> {
    let desk = desk.clone();
    reading(
        "list_runs",
        "List launches",
        "The runs you may see, newest first, by product or state.",
        json!({
            "type": "object",
            "properties": {
                "filter": {
                    "type": "object",
                    "properties": {
                        "product_slug": { "type": "string" },
                        "state": { "enum": LaunchState::ALL },
                    },
                    "additionalProperties": false,
                },
                "limit": { "type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL },
                "cursor": { "type": "string", "description": "next_cursor of the page before." },
            },
            "additionalProperties": false,
        }),
    )
    .example("All of them", json!({}))
    .example(
        "The ones that wait with issues",
        json!({ "filter": { "state": "VALIDATING" } }),
    )
    .output::<Runs>()
    .handle_json(move |context, input| {
        let desk = desk.clone();
        async move {
            let mut arguments = Arguments::read(input, &["filter", "limit", "cursor"])?;
            let filter = filter(arguments.take("filter"))?;
            let limit = limit(arguments.take("limit"))?;
            let cursor = cursor(arguments.text("cursor")?)?;
            let runs = list(&desk, &context, &filter, limit, cursor).await?;
            let runs =
                serde_json::to_value(runs).map_err(|error| Problem::internal("list", error))?;
            Ok((runs, None))
        }
    })
}

fn filter(given: Option<Value>) -> Result<Filter, Problem> {
    let Some(given) = given else {
        return Ok(Filter::default());
    };
    let mut members = Arguments::read_at("/filter", given, &["product_slug", "state"])?;
    let state = match members.text("state")? {
        None => None,
        Some(name) => Some(LaunchState::by_name(&name).ok_or_else(|| {
            let states: Vec<_> = LaunchState::ALL.iter().map(|s| s.as_str()).collect();
            let shown: String = name.chars().take(40).collect();
            invalid(
                "/filter/state",
                "unknown_state",
                format!(
                    "no state is called {shown:?}; the states are {}",
                    states.join(", ")
                ),
            )
        })?),
    };
    Ok(Filter {
        product_slug: members.text("product_slug")?,
        state,
    })
}

fn limit(given: Option<Value>) -> Result<usize, Problem> {
    let Some(given) = given else { return Ok(USUAL) };
    given
        .as_u64()
        .and_then(|limit| usize::try_from(limit).ok())
        .filter(|limit| (1..=MOST).contains(limit))
        .ok_or_else(|| {
            let message = format!("limit is a whole number from 1 to {MOST}");
            invalid("/limit", "range", message)
        })
}

/// Where the page before ended: its last run.
fn cursor(given: Option<String>) -> Result<Option<RunId>, Problem> {
    let Some(given) = given else { return Ok(None) };
    ids::parse_run_id(&given)
        .map(Some)
        .ok_or_else(|| invalid("/cursor", "cursor", "this is not a next_cursor of a list"))
}

async fn list(
    desk: &Desk,
    context: &CallContext,
    filter: &Filter,
    limit: usize,
    cursor: Option<RunId>,
) -> Result<Runs, Problem> {
    let mut runs = Vec::new();
    let mut records = launches(desk, context).await?;
    // Newest first; two of the same moment by their ids.
    records.sort_by(|a, b| {
        b.created_at
            .cmp(&a.created_at)
            .then_with(|| a.run_id.cmp(&b.run_id))
    });
    let mut begun = cursor.is_none();
    for record in records {
        if !begun {
            begun = Some(&record.run_id) == cursor.as_ref();
            continue;
        }
        let Some(run) = listed(desk, record, filter).await? else {
            continue;
        };
        if runs.len() == limit {
            let last: Option<&ListedRun> = runs.last();
            let next_cursor = last.map(|run| run.run_id.to_string());
            return Ok(Runs { runs, next_cursor });
        }
        runs.push(run);
    }
    Ok(Runs {
        runs,
        next_cursor: None,
    })
}

/// One line, if it is wanted. The journal is only read where the record does not say enough.
async fn listed(
    desk: &Desk,
    record: RunRecord,
    filter: &Filter,
) -> Result<Option<ListedRun>, Problem> {
    let known = view::view(&record, &[]);
    let wanted = filter.product_slug.as_ref();
    if wanted.is_some_and(|slug| *slug != known.product_slug) {
        return Ok(None);
    }
    let (state, finished_at) = match record.state {
        RunState::Completed | RunState::RolledBack => (LaunchState::Done, Some(record.updated_at)),
        RunState::Failed => (LaunchState::Failed, Some(record.updated_at)),
        RunState::Cancelled => (LaunchState::Cancelled, Some(record.updated_at)),
        _ => {
            let view = view::load(&desk.engine, &record).await?;
            (view.state, view.finished_at)
        }
    };
    if filter.state.is_some_and(|wanted| wanted != state) {
        return Ok(None);
    }
    Ok(Some(ListedRun {
        run_id: record.run_id,
        product_slug: known.product_slug,
        state,
        started_at: record.created_at,
        finished_at,
    }))
}

/// Every launch the caller may see.
pub(crate) async fn launches(
    desk: &Desk,
    context: &CallContext,
) -> Result<Vec<RunRecord>, Problem> {
    let principal = &context.principal;
    let own = (!principal.sees_all_runs()).then(|| principal.id());
    let mut records = Vec::new();
    let mut before = None;
    loop {
        let filter = RunFilter {
            kind: Some(KIND.to_owned()),
            principal: own.clone(),
            before,
            limit: PAGE,
            ..RunFilter::default()
        };
        let page = desk.engine.store.runs(filter).await?;
        records.extend(page.runs);
        before = page.next;
        if before.is_none() {
            return Ok(records);
        }
    }
}
