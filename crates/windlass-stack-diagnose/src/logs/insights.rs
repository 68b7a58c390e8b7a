//! An Insights query: begun, waited for, its rows given whole.

use std::time::Duration;

use serde_json::{Map, Value, json};
use windlass_ports::aws::services;
use windlass_types::{Problem, code};

use super::Ask;
use crate::answer::Answer;
use crate::call::Call;
use crate::failure::aws_problem;
use crate::info_stacks::counted;
use crate::shapes::{list, named, reading, text};

const POLL: Duration = Duration::from_secs(1);
/// Time kept back for stopping the query and for answering.
const RESERVE: Duration = Duration::from_secs(2);
/// Messages of this length may have been cut; they are read again from their record.
const LONG: usize = 1_000;
/// How many records are read again at most.
const RECORDS: usize = 20;

pub(super) async fn answer(
    call: &Call<'_>,
    ask: &Ask,
    group: &str,
    query: &str,
) -> Result<Answer, Problem> {
    let started = call
        .aws(
            reading("logs", "StartQuery")?,
            json!({
                "logGroupName": group,
                "startTime": ask.span.start.as_seconds(),
                "endTime": ask.span.end.as_seconds(),
                "queryString": query,
                "limit": ask.limit,
            }),
        )
        .await
        .map_err(|failure| super::group_problem(group, &failure))?;
    let id = text(&started, "queryId").unwrap_or_default().to_owned();
    let found = loop {
        let found = call
            .aws(
                reading("logs", "GetQueryResults")?,
                json!({ "queryId": id }),
            )
            .await
            .map_err(|failure| aws_problem(&failure))?;
        match text(&found, "status").unwrap_or("Unknown") {
            "Complete" => break found,
            "Scheduled" | "Running" => {}
            status => {
                return Err(Problem::new(
                    &code::UPSTREAM_ERROR,
                    format!("the Insights query ended as {status}"),
                )
                .with("reason", "query_failed")
                .with("status", status));
            }
        }
        let clock = &call.outside.clock;
        if clock.now().after(POLL + RESERVE) >= call.deadline {
            // Best effort: a query left behind ends by itself.
            let _ = call
                .aws(
                    named(&services::LOGS, "StopQuery"),
                    json!({ "queryId": id }),
                )
                .await;
            return Err(Problem::new(
                &code::TIMEOUT,
                "the Insights query did not end in time and was stopped",
            )
            .with("reason", "timeout")
            .next("narrow startTime and endTime, or repeat with a longer timeoutSeconds"));
        }
        clock.sleep_until(clock.now().after(POLL)).await;
    };
    let mut results = Vec::new();
    let mut records = 0;
    for row in list(&found, "results") {
        let mut shown = Map::new();
        let mut pointer = None;
        for field in row.as_array().into_iter().flatten() {
            let value = field.get("value").cloned().unwrap_or_default();
            match text(field, "field") {
                Some("@ptr") => pointer = value.as_str().map(str::to_owned),
                Some(name) => {
                    shown.insert(name.to_owned(), value);
                }
                None => {}
            }
        }
        let long = shown
            .get("@message")
            .and_then(Value::as_str)
            .is_some_and(|message| message.len() >= LONG);
        if let (true, Some(pointer), true) = (long, pointer, records < RECORDS) {
            records += 1;
            whole_message(call, &pointer, &mut shown).await;
        }
        results.push(Value::Object(shown));
    }
    let count = results.len();
    Ok(Answer::new(
        format!("{} of {group}", counted(count, "row")),
        json!({
            "resource": ask.resource,
            "logGroup": group,
            "query": query,
            "startTime": ask.span.start,
            "endTime": ask.span.end,
            "results": results,
            "count": count,
            "statistics": found.get("statistics"),
            "nextCursor": null,
            "truncated": count >= ask.limit,
        }),
    ))
}

/// Best effort: the cut message stays where the record cannot be read.
async fn whole_message(call: &Call<'_>, pointer: &str, row: &mut Map<String, Value>) {
    let record = call
        .aws(
            named(&services::LOGS, "GetLogRecord"),
            json!({ "logRecordPointer": pointer }),
        )
        .await;
    if let Ok(record) = record
        && let Some(message) = record.pointer("/logRecord/@message")
    {
        row.insert("@message".to_owned(), message.clone());
    }
}
