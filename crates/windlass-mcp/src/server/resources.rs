//! Runs, their events and their artifacts as resources.
//!
//! Read through the `runs` operations, so a resource shows what the tool would.

use rmcp::{
    ErrorData,
    model::{
        CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
        ResourceContents, ResourceTemplate,
    },
};
use serde_json::{Value, json};
use windlass_types::RunId;

use super::{
    Caller, Server,
    errors::{error_of, no_such_resource, resource_error},
};
use crate::negotiate::Era;

const RUNS: &str = "windlass://runs/";
/// Runs on one page of the list.
const PAGE: usize = 50;
/// Events in one reading; the rest by `runs_watch`, which has a cursor.
const MAX_EVENTS: usize = 1000;

/// What a URI of ours names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `windlass://runs/{run_id}`
    Run(RunId),
    /// `windlass://runs/{run_id}/events`
    Events(RunId),
    /// `windlass://runs/{run_id}/artifacts/{name}`
    Artifact(RunId, String),
}

impl Address {
    /// Reads a URI; `None` for one that is not ours.
    pub fn parse(uri: &str) -> Option<Self> {
        let rest = uri.strip_prefix(RUNS)?;
        let (run_id, rest) = rest
            .split_once('/')
            .map_or((rest, None), |(run_id, rest)| (run_id, Some(rest)));
        let run_id = percent_decode(run_id)?.parse().ok()?;
        match rest {
            None => Some(Self::Run(run_id)),
            Some("events") => Some(Self::Events(run_id)),
            Some(rest) => {
                let name = percent_decode(rest.strip_prefix("artifacts/")?)?;
                (!name.is_empty()).then_some(Self::Artifact(run_id, name))
            }
        }
    }

    /// The run it belongs to.
    pub fn run_id(&self) -> &RunId {
        match self {
            Self::Run(run_id) | Self::Events(run_id) | Self::Artifact(run_id, _) => run_id,
        }
    }
}

/// The newest runs, in pages.
pub async fn list(
    server: &Server,
    caller: &Caller,
    era: Era,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let is_first = cursor.is_none();
    let mut input = json!({ "limit": PAGE });
    if let Some(cursor) = cursor {
        let place: u64 = cursor
            .parse()
            .map_err(|_| ErrorData::invalid_params(format!("unknown cursor: {cursor}"), None))?;
        input["cursor"] = json!(place);
    }
    let page = server
        .operate(caller, "runs.list", input)
        .await
        .map_err(|problem| error_of(&problem))?
        .output;
    let runs = page
        .get("runs")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let mut resources: Vec<Resource> = runs.iter().filter_map(run_resource).collect();
    if let Some(extension) = &server.options.extension
        && is_first
    {
        resources.extend(extension.resources());
    }
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = page
        .get("next_cursor")
        .and_then(Value::as_u64)
        .map(|place| place.to_string());
    // A list of runs is out of date as soon as the next one starts.
    (result.ttl_ms, result.cache_scope) = hints(era, 0);
    Ok(result)
}

fn run_resource(run: &Value) -> Option<Resource> {
    let text = |name: &str| run.get(name).and_then(Value::as_str);
    let run_id = text("run_id")?;
    let mut resource =
        Resource::new(format!("{RUNS}{run_id}"), run_id).with_mime_type("application/json");
    resource.title = text("title")
        .filter(|title| !title.is_empty())
        .map(str::to_owned);
    resource.description = Some(format!("{} run, {}", text("kind")?, text("state")?));
    Some(resource)
}

/// The three kinds of resource.
pub fn templates(server: &Server, era: Era) -> ListResourceTemplatesResult {
    let template = |uri: &str, name: &str, words: &str| {
        ResourceTemplate::new(uri, name).with_description(words)
    };
    let mut templates = vec![
        template(
            "windlass://runs/{run_id}",
            "run",
            "One run: state, what it waits for, output or failure, artifacts",
        )
        .with_mime_type("application/json"),
        template(
            "windlass://runs/{run_id}/events",
            "run-events",
            "A run's journal: every event, oldest first",
        )
        .with_mime_type("application/json"),
        template(
            "windlass://runs/{run_id}/artifacts/{name}",
            "run-artifact",
            "Something a run left behind",
        ),
    ];
    if let Some(extension) = &server.options.extension {
        templates.extend(extension.templates());
    }
    let mut result = ListResourceTemplatesResult::with_all_items(templates);
    (result.ttl_ms, result.cache_scope) = hints(era, 3_600_000);
    result
}

/// Reads a resource.
pub async fn read(
    server: &Server,
    caller: &Caller,
    era: Era,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let Some(address) = Address::parse(uri) else {
        let extension = server.options.extension.as_ref();
        let mut result = extension
            .and_then(|extension| extension.read(uri))
            .ok_or_else(|| no_such_resource(uri))?;
        (result.ttl_ms, result.cache_scope) = hints(era, 0);
        return Ok(result);
    };
    let (operation, input) = match &address {
        Address::Run(run_id) => ("runs.show", json!({ "run_id": run_id })),
        Address::Events(run_id) => (
            "runs.watch",
            json!({ "run_id": run_id, "limit": MAX_EVENTS }),
        ),
        Address::Artifact(run_id, name) => {
            ("runs.artifact", json!({ "run_id": run_id, "name": name }))
        }
    };
    let answer = server.operate(caller, operation, input).await;
    let output = answer
        .map_err(|problem| resource_error(uri, &problem))?
        .output;
    let contents = match address {
        Address::Artifact(..) => artifact(uri, &output),
        Address::Run(_) | Address::Events(_) => {
            ResourceContents::text(output.to_string(), uri).with_mime_type("application/json")
        }
    };
    let mut result = ReadResourceResult::new(vec![contents]);
    (result.ttl_ms, result.cache_scope) = hints(era, 0);
    Ok(result)
}

fn artifact(uri: &str, output: &Value) -> ResourceContents {
    let text = |value: &Value, name: &str| {
        value
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let content = text(output, "content");
    let contents = if text(output, "encoding") == "base64" {
        ResourceContents::blob(content, uri)
    } else {
        ResourceContents::text(content, uri)
    };
    contents.with_mime_type(text(
        output.get("artifact").unwrap_or(&Value::Null),
        "content_type",
    ))
}

/// How long, and by whom, a result may be kept; only the modern era has words for it.
pub fn hints(era: Era, ttl_ms: u64) -> (Option<u64>, Option<CacheScope>) {
    match era {
        Era::Legacy => (None, None),
        // What a caller sees depends on its scopes.
        Era::Modern => (Some(ttl_ms), Some(CacheScope::Private)),
    }
}

/// Resolves `%XX`; `None` when the text is malformed.
fn percent_decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let value = digit(rest.next())? * 16 + digit(rest.next())?;
                u8::try_from(value).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let run = || "run_1".parse::<RunId>().unwrap();
        let artifact = |name: &str| Some(Address::Artifact(run(), name.to_owned()));
        let cases = [
            ("windlass://runs/run_1", Some(Address::Run(run()))),
            ("windlass://runs/run_1/events", Some(Address::Events(run()))),
            (
                "windlass://runs/run_1/artifacts/report.json",
                artifact("report.json"),
            ),
            (
                "windlass://runs/run_1/artifacts/a%20b%2Fc.txt",
                artifact("a b/c.txt"),
            ),
            (
                "windlass://runs/run_1/artifacts/deep/name.txt",
                artifact("deep/name.txt"),
            ),
            ("windlass://runs/run_1/artifacts/%C3%A9", artifact("é")),
            ("windlass://runs/run%5F1", Some(Address::Run(run()))),
            ("windlass://runs/", None),
            ("windlass://runs/run_1/", None),
            ("windlass://runs/run_1/artifacts/", None),
            ("windlass://runs/run_1/artifacts/%", None),
            ("windlass://runs/run_1/artifacts/%G1", None),
            ("windlass://runs/run_1/artifacts/%FF", None),
            ("windlass://runs/run_1/steps", None),
            ("windlass://runs/../etc", None),
            ("windlass://runs/a b", None),
            ("windlass:/runs/run_1", None),
            ("file:///etc/passwd", None),
            ("", None),
        ];
        for (uri, want) in cases {
            assert_eq!(Address::parse(uri), want, "{uri}");
        }
    }
}
