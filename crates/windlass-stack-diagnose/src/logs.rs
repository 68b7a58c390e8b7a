//! Log lines of a resource, filtered by CloudWatch and paged by a cursor, or an Insights query.

mod cursor;
mod group;
mod insights;

use serde_json::{Value, json};
use windlass_types::{Problem, Timestamp};

use crate::answer::Answer;
use crate::arguments::{Arguments, invalid};
use crate::call::Call;
use crate::failure::{aws_problem, not_found};
use crate::info_stacks::counted;
use crate::shapes::{list, reading, text};
use crate::times::{Span, span};
use cursor::Cursor;

/// How many pages are read for one answer; CloudWatch may answer with many empty ones.
const PAGES: usize = 50;

pub(crate) struct Ask {
    resource: String,
    container: Option<String>,
    span: Span,
    filter: Option<String>,
    query: Option<String>,
    limit: usize,
    raw: bool,
    cursor: Option<Cursor>,
}

impl Ask {
    pub(crate) fn read(arguments: &Arguments, now: Timestamp) -> Result<Self, Problem> {
        let owned = |name: &str| Ok::<_, Problem>(arguments.text(name)?.map(str::to_owned));
        let cursor = match arguments.text("cursor")? {
            Some(text) => Some(Cursor::read(text).ok_or_else(|| {
                invalid(
                    "cursor",
                    "cursor was not issued by logs; leave it out to start again",
                )
            })?),
            None => None,
        };
        let ask = Self {
            resource: arguments.needed("resourceName")?.to_owned(),
            container: owned("container")?,
            span: span(arguments, now)?,
            filter: owned("filter")?,
            query: owned("query")?,
            limit: arguments.count("limit", 50, 10_000)?,
            raw: arguments.flag("raw"),
            cursor,
        };
        if ask.query.is_some() && ask.filter.is_some() {
            return Err(invalid(
                "query",
                "give filter or query, not both; a query filters by itself",
            ));
        }
        if ask.query.is_some() && ask.cursor.is_some() {
            return Err(invalid(
                "cursor",
                "an Insights query has no cursor; narrow startTime and endTime",
            ));
        }
        Ok(ask)
    }
}

pub(crate) async fn answer(call: &mut Call<'_>, ask: &Ask) -> Result<Answer, Problem> {
    let stack = call.stack().await?;
    let resources = call.resources(&stack).await?;
    let group = group::find(
        call,
        &resources,
        &stack.stack_name,
        &ask.resource,
        ask.container.as_deref(),
    )
    .await?;
    if let Some(query) = &ask.query {
        return insights::answer(call, ask, &group, query).await;
    }
    let span = ask.cursor.as_ref().map_or(ask.span, |cursor| cursor.span);
    let mut token = ask.cursor.as_ref().map(|cursor| cursor.token.clone());
    let mut events: Vec<Value> = Vec::new();
    for _ in 0..PAGES {
        let mut input = json!({
            "logGroupName": group,
            "startTime": span.start.as_millis(),
            "endTime": span.end.as_millis(),
            "limit": ask.limit - events.len(),
        });
        if let Some(filter) = &ask.filter {
            input["filterPattern"] = json!(filter);
        }
        if let Some(token) = &token {
            input["nextToken"] = json!(token);
        }
        let page = call
            .aws(reading("logs", "FilterLogEvents")?, input)
            .await
            .map_err(|failure| group_problem(&group, &failure))?;
        events.extend(
            list(&page, "events")
                .iter()
                .map(|event| shown(event, ask.raw)),
        );
        token = text(&page, "nextToken").map(str::to_owned);
        if token.is_none() || events.len() >= ask.limit {
            break;
        }
    }
    let truncated = token.is_some();
    let next_cursor = token.map(|token| Cursor { span, token }.to_string());
    let count = events.len();
    let answer = Answer::new(
        format!("{} of {group}", counted(count, "line")),
        json!({
            "resource": ask.resource,
            "logGroup": group,
            "startTime": span.start,
            "endTime": span.end,
            "events": events,
            "count": count,
            "nextCursor": next_cursor,
            "truncated": truncated,
        }),
    );
    Ok(match (truncated, count) {
        (true, _) => answer.next("repeat with cursor=nextCursor for more"),
        (false, 0) => answer.next("repeat with an earlier startTime or without filter"),
        _ => answer,
    })
}

fn shown(event: &Value, raw: bool) -> Value {
    let message = text(event, "message").unwrap_or_default();
    let message = if raw { message } else { message.trim_end() };
    json!({
        "timestamp": event
            .get("timestamp")
            .and_then(Value::as_i64)
            .map(Timestamp::from_millis),
        "message": message,
        "logStream": text(event, "logStreamName"),
    })
}

fn group_problem(group: &str, failure: &windlass_ports::aws::AwsFailure) -> Problem {
    if failure.is_not_found() {
        return not_found(
            "log_group",
            group,
            format!(
                "the log group {group} does not exist; nothing was logged yet, or it was deleted"
            ),
            [],
        );
    }
    aws_problem(failure)
}
