//! `GET /v1/approvals`: the runs that wait for an approval or a rejection.
//!
//! `runs.list` page by page, keeping those that ask; so what a caller sees here is what the
//! list shows it.

use axum::response::Response;
use http::StatusCode;
use serde_json::{Map, Value, json};
use windlass_engine::operation::CallContext;

use crate::{
    HttpState,
    call::call,
    failure::{self, Failure},
};

const DEFAULT_LIMIT: u64 = 50;
/// Pages looked at for one answer, so that a long history cannot hold a request for ever; the
/// answer's cursor goes on from there.
const PAGES: usize = 20;

pub(super) async fn list(
    state: &HttpState,
    query: Value,
    context: CallContext,
) -> Result<Response, Failure> {
    let mut query = match query {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    if query.contains_key("states") {
        let message = "approvals are in the states they are in; \"states\" is for /v1/runs";
        return Err(Failure::request(
            StatusCode::BAD_REQUEST,
            "states",
            "absent",
            message,
        ));
    }
    query.insert("states".to_owned(), json!(["queued", "waiting"]));
    // A limit that is none is left in the query, for the schema check to refuse.
    let limit = query
        .entry("limit")
        .or_insert_with(|| json!(DEFAULT_LIMIT))
        .as_u64()
        .unwrap_or(0);
    let mut waiting = Vec::new();
    let mut next = Value::Null;
    for _ in 0..PAGES {
        let input = Value::Object(query.clone());
        let mut page = call(state, "runs.list", input, context.clone())
            .await?
            .output;
        if let Value::Array(runs) = page["runs"].take() {
            waiting.extend(runs.into_iter().filter(asks_for_approval));
        }
        next = page["next_cursor"].take();
        let wanted = limit.saturating_sub(waiting.len() as u64);
        if next.is_null() || wanted == 0 {
            break;
        }
        query.insert("cursor".to_owned(), next.clone());
        query.insert("limit".to_owned(), json!(wanted));
    }
    let mut shown = json!({ "approvals": waiting });
    if !next.is_null() {
        shown["next_cursor"] = next;
    }
    Ok(failure::json(StatusCode::OK, &shown))
}

fn asks_for_approval(run: &Value) -> bool {
    let waits = run["waiting_on"]
        .as_array()
        .is_some_and(|on| on.iter().any(|on| on["what"] == "approval"));
    // Before a driver has announced the wait, the wish for one stands in the run itself.
    waits
        || (run["state"] == "queued"
            && run["approvers"]
                .as_array()
                .is_some_and(|names| !names.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_runs_that_ask_are_kept() {
        for (run, asks) in [
            (
                json!({"state": "waiting", "waiting_on": [{"what": "approval"}]}),
                true,
            ),
            (
                json!({"state": "waiting", "waiting_on": [{"what": "timer"}, {"what": "approval"}]}),
                true,
            ),
            (
                json!({"state": "waiting", "waiting_on": [{"what": "timer"}]}),
                false,
            ),
            (json!({"state": "queued", "approvers": ["local:ada"]}), true),
            (json!({"state": "queued", "approvers": []}), false),
            (
                json!({"state": "waiting", "approvers": ["local:ada"]}),
                false,
            ),
            (json!({"state": "queued"}), false),
        ] {
            assert_eq!(asks_for_approval(&run), asks, "{run}");
        }
    }
}
