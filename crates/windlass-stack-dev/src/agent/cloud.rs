//! Paths that need AWS or an emulator of it: DynamoDB, OpenSearch, any allowed action. Without
//! one they say so.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::Method;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Map, Value, json};
use windlass_stack_diagnose::guard::aws;
use windlass_types::{Problem, code};

use super::{App, Parameters, answered, arguments, limit, required, text, unknown};
use crate::envelope::Envelope;
use crate::stack::Stack;
use crate::status::Condition;

fn not_configured(service: &str) -> Problem {
    Problem::invalid(
        "emulators",
        "an emulator or a remote resource",
        format!("nothing answers for {service} in this session: configure an emulator, or use the deployed resource with --remote"),
    )
    .with("reason", "not_local")
}

/// Whether the resource runs here, so that it may be written to; deployed ones may be read.
fn is_local(stack: &Stack, resource: &str, service: &str) -> Result<bool, Problem> {
    match stack.board.get(resource) {
        None => Err(unknown(stack, resource)),
        Some((_, _, Condition::Remote)) => Ok(false),
        Some(_) if stack.plan.emulator(service).is_some() => Ok(true),
        Some(_) => Err(not_configured(service)),
    }
}

async fn call(stack: &Stack, service: &str, command: &str, input: Value) -> Result<Value, Problem> {
    let is_reached = stack.plan.emulator(service).is_some() || stack.plan.uses_deployed();
    match &stack.outside.aws {
        Some(cloud) if is_reached => cloud.call(service, command, input).await,
        _ => Err(not_configured(service)),
    }
}

pub(crate) async fn dynamodb(
    State(stack): State<App>,
    Path((resource, verb)): Path<(String, String)>,
    Query(query): Query<Parameters>,
    body: Bytes,
) -> Response {
    match arguments(query, &body) {
        Ok(arguments) => answered(table(&stack, &resource, &verb, arguments).await),
        Err(response) => response.into_response(),
    }
}

async fn table(
    stack: &Stack,
    resource: &str,
    verb: &str,
    arguments: Map<String, Value>,
) -> Result<Envelope, Problem> {
    let command = match verb {
        "query" => "Query",
        "scan" | "sample" => "Scan",
        "get" => "GetItem",
        "put" => "PutItem",
        "delete" => "DeleteItem",
        "schema" => "DescribeTable",
        other => {
            return Err(Problem::new(
                &code::NOT_FOUND,
                format!("there is no {other} here: query, scan, get, put, delete, schema, sample"),
            ));
        }
    };
    if !is_local(stack, resource, "dynamodb")? {
        windlass_stack_diagnose::guard::dynamodb::check(command)
            .map_err(|refusal| Problem::new(&code::FORBIDDEN, refusal.to_string()))?;
    }
    let name = stack
        .params
        .get(resource)
        .and_then(|params| params.get("name"));
    let name = name.cloned().unwrap_or_else(|| {
        format!(
            "{}-{}-{resource}",
            stack.plan.project_name, stack.plan.stage
        )
    });
    let mut input = Value::Object(arguments.clone());
    input["TableName"] = json!(name);
    if verb == "sample" {
        input = json!({ "TableName": name, "Limit": limit(&arguments, 10) });
    }
    let answer = call(stack, "dynamodb", command, input).await?;
    Ok(Envelope::ok(
        "answered",
        json!({ "resource": resource, "result": answer }),
    ))
}

pub(crate) async fn opensearch(
    State(stack): State<App>,
    Path((resource, verb)): Path<(String, String)>,
    Query(query): Query<Parameters>,
    body: Bytes,
) -> Response {
    match arguments(query, &body) {
        Ok(arguments) => answered(search(&stack, &resource, &verb, &arguments).await),
        Err(response) => response.into_response(),
    }
}

async fn search(
    stack: &Stack,
    resource: &str,
    verb: &str,
    arguments: &Map<String, Value>,
) -> Result<Envelope, Problem> {
    let index = || required(arguments, "index").map(segment);
    let id = || required(arguments, "id").map(segment);
    let (method, path) = match verb {
        "search" => (
            Method::POST,
            format!("{}/_search?size={}", index()?, limit(arguments, 10)),
        ),
        "count" => (Method::POST, format!("{}/_count", index()?)),
        "get" => (Method::GET, format!("{}/_doc/{}", index()?, id()?)),
        "put" => (
            Method::PUT,
            format!("{}/_doc/{}?refresh=true", index()?, id()?),
        ),
        "delete" => (
            Method::DELETE,
            format!("{}/_doc/{}?refresh=true", index()?, id()?),
        ),
        "indices" => (Method::GET, "_cat/indices?format=json".to_owned()),
        "mapping" => (Method::GET, format!("{}/_mapping", index()?)),
        "analyze" => (Method::POST, "_analyze".to_owned()),
        other => {
            return Err(Problem::new(
                &code::NOT_FOUND,
                format!(
                    "there is no {other} here: search, get, put, delete, indices, mapping, analyze, count"
                ),
            ));
        }
    };
    if !is_local(stack, resource, "opensearch")? {
        let reason = if matches!(verb, "put" | "delete") {
            &code::FORBIDDEN
        } else {
            &code::INVALID_INPUT
        };
        return Err(Problem::new(
            reason,
            format!("{resource} is the deployed one; ask it with windlass stack opensearch"),
        )
        .with("reason", "remote_resource"));
    }
    let base = stack
        .plan
        .emulator("opensearch")
        .unwrap_or_default()
        .trim_end_matches('/')
        .to_owned();
    let failed = |error: reqwest::Error| {
        Problem::internal("dev OpenSearch", error.without_url()).with("reason", "unreachable")
    };
    let client = reqwest::Client::builder()
        .no_proxy()
        .timeout(Duration::from_secs(30))
        .build()
        .map_err(failed)?;
    let mut request = client.request(method, format!("{base}/{path}"));
    if let Some(body) = arguments
        .get("query")
        .or_else(|| arguments.get("document"))
        .or_else(|| arguments.get("body"))
    {
        request = request.json(body);
    }
    let answer = request.send().await.map_err(failed)?;
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.map_err(failed)?;
    let data = json!({ "resource": resource, "status": status, "result": body });
    Ok(match status {
        404 => Envelope::failed(
            "NOT_FOUND",
            "there is no such index or document",
            Some(data),
        ),
        400.. => Envelope::failed(
            "VALIDATION_ERROR",
            "OpenSearch refused the request",
            Some(data),
        ),
        _ => Envelope::ok("answered", data),
    })
}

/// One segment of a path, whatever it holds.
fn segment(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes())
        .collect::<String>()
        .replace('+', "%20")
}

pub(crate) async fn aws_sdk(
    State(stack): State<App>,
    Query(query): Query<Parameters>,
    body: Bytes,
) -> Response {
    match arguments(query, &body) {
        Ok(arguments) => answered(action(&stack, &arguments).await),
        Err(response) => response.into_response(),
    }
}

async fn action(stack: &Stack, arguments: &Map<String, Value>) -> Result<Envelope, Problem> {
    let (service, command) = (
        required(arguments, "service")?,
        required(arguments, "command")?,
    );
    let allowed = aws::allow(service, command).map_err(|refusal| {
        Problem::new(&code::FORBIDDEN, refusal.to_string()).with("rule", refusal.rule.as_str())
    })?;
    let input = match arguments.get("input") {
        None => json!({}),
        Some(Value::String(written)) => serde_json::from_str(written).map_err(|error| {
            Problem::invalid("input", "JSON", format!("input is not JSON: {error}"))
        })?,
        Some(input) => input.clone(),
    };
    let mut answer = call(stack, service, command, input).await?;
    allowed.mask(&mut answer);
    let region = text(arguments, "region").unwrap_or(&stack.plan.region);
    Ok(Envelope::ok(
        "answered",
        json!({ "service": service, "command": command, "region": region, "data": answer }),
    ))
}

pub(crate) async fn services(State(stack): State<App>) -> Response {
    let services: BTreeSet<String> = aws::actions()
        .map(|action| action.shape.service.name.to_owned())
        .collect();
    let data = json!({ "services": services, "configured": stack.outside.aws.is_some() });
    Envelope::ok(format!("{} services", services.len()), data).into_response()
}
