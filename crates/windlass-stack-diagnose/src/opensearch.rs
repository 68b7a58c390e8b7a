//! Documents and indices of a search domain of the stack, by signed requests that read.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_ports::aws::{SignedAnswer, SignedHttp};
use windlass_types::{Problem, code};

use crate::answer::Answer;
use crate::arguments::{Arguments, missing};
use crate::call::Call;
use crate::failure::{aws_problem, not_found, refused};
use crate::guard::opensearch::{Request, check};
use crate::names;
use crate::shapes::{reading, text};

const TYPES: &[&str] = &[
    "AWS::OpenSearchService::Domain",
    "AWS::Elasticsearch::Domain",
];
const BYTES: usize = 4 << 20;
/// How many rows of a list are shown.
const ROWS: usize = 500;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Search,
    Get,
    Indices,
    Mapping,
    Count,
}

pub(crate) struct Ask {
    resource: String,
    request: Result<Request, crate::guard::Refusal>,
    verb: Verb,
    body: Option<Value>,
    limit: usize,
}

impl Ask {
    pub(crate) fn read(arguments: &Arguments) -> Result<Self, Problem> {
        let verb = arguments.choice(
            "operation",
            Verb::Indices,
            &[
                ("search", Verb::Search),
                ("get", Verb::Get),
                ("indices", Verb::Indices),
                ("mapping", Verb::Mapping),
                ("count", Verb::Count),
            ],
        )?;
        let index = arguments.text("index")?;
        let limit = arguments.count("limit", 10, 1_000)?;
        let of_index = index.unwrap_or("_all");
        let (method, target) = match verb {
            Verb::Search => ("POST", format!("{of_index}/_search")),
            Verb::Count => ("POST", format!("{of_index}/_count")),
            Verb::Mapping => ("GET", format!("{of_index}/_mapping")),
            Verb::Indices => ("GET", "_cat/indices?format=json&bytes=b".to_owned()),
            Verb::Get => {
                let index = index.ok_or_else(|| missing("index"))?;
                let id = arguments.text("id")?.ok_or_else(|| missing("id"))?;
                ("GET", format!("{index}/_doc/{id}"))
            }
        };
        Ok(Self {
            resource: arguments.needed("resourceName")?.to_owned(),
            request: check(method, &target),
            verb,
            body: body(arguments, verb, limit)?,
            limit,
        })
    }
}

/// The body of a search or a count: as given, a bare query wrapped, a text as a query string.
fn body(arguments: &Arguments, verb: Verb, limit: usize) -> Result<Option<Value>, Problem> {
    if !matches!(verb, Verb::Search | Verb::Count) {
        return Ok(None);
    }
    let given = match arguments.value("query") {
        Some(Value::String(text)) if !text.trim_start().starts_with('{') => {
            Some(json!({ "query": { "query_string": { "query": text } } }))
        }
        _ => arguments.object("query")?.map(Value::Object),
    };
    let mut body = given.unwrap_or_else(|| json!({ "query": { "match_all": {} } }));
    const PARTS: &[&str] = &[
        "query",
        "aggs",
        "aggregations",
        "sort",
        "_source",
        "size",
        "from",
        "knn",
    ];
    let is_body = body
        .as_object()
        .is_some_and(|members| members.keys().any(|name| PARTS.contains(&name.as_str())));
    if !is_body {
        body = json!({ "query": body });
    }
    if verb == Verb::Search && body.get("size").is_none() {
        body["size"] = json!(limit);
    }
    Ok(Some(body))
}

pub(crate) async fn answer(call: &mut Call<'_>, ask: &Ask) -> Result<Answer, Problem> {
    let request = ask.request.as_ref().map_err(refused)?;
    let stack = call.stack().await?;
    let resources = call.resources(&stack).await?;
    let found = names::find(&resources, &stack.stack_name, &ask.resource, TYPES)?;
    let described = call
        .aws(
            reading("opensearch", "DescribeDomain")?,
            json!({ "DomainName": found.physical_id }),
        )
        .await
        .map_err(|failure| aws_problem(&failure))?;
    let domain = described.get("DomainStatus").unwrap_or(&described);
    let host = text(domain, "Endpoint")
        .or_else(|| {
            domain
                .get("Endpoints")
                .and_then(|endpoints| text(endpoints, "vpc"))
        })
        .ok_or_else(|| {
            not_found(
                "endpoint",
                &ask.resource,
                format!("{} has no endpoint yet", ask.resource),
                [],
            )
        })?;
    let body = ask.body.as_ref().map(Value::to_string).unwrap_or_default();
    let sent = SignedHttp {
        signing_name: "es".to_owned(),
        action: format!(
            "es:ESHttp{}",
            if request.method == "GET" {
                "Get"
            } else {
                "Post"
            }
        ),
        method: request.method.to_owned(),
        url: format!("https://{host}{}", request.target),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: body.into_bytes(),
        timeout: call.left().min(Duration::from_secs(60)),
        max_body: BYTES,
    };
    let answer = call
        .outside
        .cloud
        .send(&call.target, sent)
        .await
        .map_err(|failure| aws_problem(&failure))?;
    let mut result = understood(ask, &answer)?;
    let truncated = bound(ask, &mut result);
    let message = match ask.verb {
        Verb::Search => format!(
            "{} hits",
            result.pointer("/hits/total/value").unwrap_or(&Value::Null)
        ),
        Verb::Count => format!("{} documents", result.get("count").unwrap_or(&Value::Null)),
        Verb::Indices => format!("{} indices", result.as_array().map_or(0, Vec::len)),
        Verb::Get | Verb::Mapping => "found".to_owned(),
    };
    Ok(Answer::new(
        message,
        json!({ "resource": ask.resource, "result": result, "truncated": truncated }),
    ))
}

fn understood(ask: &Ask, answer: &SignedAnswer) -> Result<Value, Problem> {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_else(|_| {
        Value::String(
            String::from_utf8_lossy(&answer.body)
                .chars()
                .take(2_000)
                .collect(),
        )
    });
    let said = body
        .pointer("/error/reason")
        .or_else(|| body.get("Message"))
        .or_else(|| body.get("message"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    let message = format!("{} answered {}: {said}", ask.resource, answer.status);
    Err(match answer.status {
        200..=299 => return Ok(body),
        404 => not_found("document", &ask.resource, message, []),
        401 | 403 => Problem::new(&code::FORBIDDEN, message)
            .with("reason", "access_denied")
            .next("allow the caller in the domain's access policy"),
        400..=499 => Problem::new(&code::INVALID_INPUT, message).with("reason", "opensearch_error"),
        _ => Problem::new(&code::UPSTREAM_ERROR, message).with("reason", "service_fault"),
    }
    .with("status", answer.status))
}

fn bound(ask: &Ask, result: &mut Value) -> bool {
    if ask.verb == Verb::Search {
        let total = result.pointer("/hits/total/value").and_then(Value::as_u64);
        let shown = result
            .pointer("/hits/hits")
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        return total.is_some_and(|total| total > shown as u64) && shown >= ask.limit;
    }
    match result {
        Value::Array(rows) if rows.len() > ROWS => {
            rows.truncate(ROWS);
            true
        }
        _ => false,
    }
}
