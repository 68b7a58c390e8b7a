//! The paths of the document: the server's own, one per operation, and the routes that domains
//! declare.

use serde_json::{Map, Value, json};
use windlass_engine::{
    contract::http::{Input, Output, Route},
    operation::{Catalogue, OperationInfo},
};

use super::schemas::{answer, common_headers, failure_of, input_name, input_schema, reference};
use crate::{
    challenge::{MCP_PATHS, METADATA_PATH},
    paths::{HEALTH_ALIAS, METRICS_ALIAS, OPERATIONS},
};

pub(super) fn all(catalogue: &Catalogue) -> Value {
    let mut paths = Map::new();
    add_server(&mut paths);
    for info in catalogue.operations() {
        let path = format!("{OPERATIONS}{}", info.name);
        add(&mut paths, &path, "get", description_of(info));
        add(&mut paths, &path, "post", by_name(info));
    }
    for route in catalogue.declared().routes() {
        if let Some(info) = catalogue.find(route.operation) {
            let operation = of_route(route, info);
            add(&mut paths, route.path, route.verb.name(), operation);
        }
    }
    Value::Object(paths)
}

fn add(paths: &mut Map<String, Value>, path: &str, verb: &str, operation: Value) {
    let entry = paths.entry(path).or_insert_with(|| json!({}));
    if let Some(verbs) = entry.as_object_mut() {
        verbs.insert(verb.to_owned(), operation);
    }
}

fn add_server(paths: &mut Map<String, Value>) {
    const JSON: &str = "application/json";
    let well_known = MCP_PATHS.map(|path| format!("{METADATA_PATH}{path}"));
    let documents = [
        (
            "/v1/health",
            "health",
            "Whether the process answers",
            JSON,
            true,
        ),
        (
            HEALTH_ALIAS,
            "telemetry_health",
            "The same as /v1/health",
            JSON,
            true,
        ),
        ("/v1/ready", "ready", "Whether work can be done", JSON, true),
        (
            "/v1/metrics",
            "metrics",
            "Counters in Prometheus text",
            "text/plain",
            false,
        ),
        (
            METRICS_ALIAS,
            "telemetry_metrics",
            "The same as /v1/metrics",
            "text/plain",
            false,
        ),
        ("/v1/openapi.json", "openapi", "This document", JSON, false),
        (
            "/v1/operations",
            "list_operations",
            "Every operation in a line",
            JSON,
            false,
        ),
        (
            METADATA_PATH,
            "api_metadata",
            "Protected-resource metadata of the API",
            JSON,
            true,
        ),
    ];
    let ids = ["mcp_metadata", "v1_mcp_metadata", "v1_metadata"];
    let of_mcp = well_known.iter().zip(ids).map(|(path, id)| {
        let summary = "Protected-resource metadata of the MCP endpoint";
        (path.as_str(), id, summary, JSON, true)
    });
    for (path, id, summary, kind, public) in documents.into_iter().chain(of_mcp) {
        let mut operation = json!({
            "operationId": id,
            "summary": summary,
            "tags": ["server"],
            "responses": {
                "200": success("As described.", json!({ kind: { "schema": document_schema(kind) } })),
                "default": { "$ref": "#/components/responses/Failure" },
            },
        });
        if public {
            operation["security"] = json!([]);
        }
        if id == "ready" {
            operation["responses"]["503"] = success(
                "Not ready.",
                json!({ kind: { "schema": { "type": "object" } } }),
            );
        }
        add(paths, path, "get", operation);
    }
}

fn document_schema(kind: &str) -> Value {
    json!({ "type": if kind == "application/json" { "object" } else { "string" } })
}

fn success(description: &str, content: Value) -> Value {
    json!({ "description": description, "headers": common_headers(), "content": content })
}

fn description_of(info: &OperationInfo) -> Value {
    json!({
        "operationId": format!("describe_{}", plain(&info.name)),
        "summary": format!("Describe {}", info.name),
        "tags": ["server"],
        "responses": {
            "200": { "$ref": "#/components/responses/Description" },
            "default": { "$ref": "#/components/responses/Failure" },
        },
    })
}

/// An operation's name as generators of clients want it.
fn plain(name: &str) -> String {
    name.replace('.', "_")
}

/// The generic door to an operation.
fn by_name(info: &OperationInfo) -> Value {
    let examples: Map<String, Value> = info
        .examples
        .iter()
        .map(|example| {
            (
                example.title.clone(),
                json!({ "summary": example.title, "value": example.input }),
            )
        })
        .collect();
    let mut body = json!({ "schema": reference(&input_name(info)) });
    if !examples.is_empty() {
        body["examples"] = Value::Object(examples);
    }
    let mut operation = described(info, &plain(&info.name), &json_answer(info));
    let required = has_required_fields(&info.input_schema);
    operation["requestBody"] =
        json!({ "required": required, "content": { "application/json": body } });
    operation
}

fn of_route(route: &Route, info: &OperationInfo) -> Value {
    let responses = match route.output {
        Output::Json
        | Output::Created
        | Output::CreatedWhen { .. }
        | Output::JsonWithoutTimeout
        | Output::Accepted { .. }
        | Output::Tagged => json_answer(info),
        Output::RunEvents => success(
            "The events of the job's run.",
            json!({ "text/event-stream": { "schema": { "type": "string" } } }),
        ),
        Output::Events => success(
            "A page of events, or a stream of them where the caller accepts one.",
            json!({
                "application/json": { "schema": answer(info) },
                "text/event-stream": { "schema": { "type": "string" } },
            }),
        ),
        Output::Bytes => success("The artifact's bytes.", json!({ "*/*": { "schema": {} } })),
        Output::Approvals => success(
            "The runs that wait for an approval.",
            json!({ "application/json": { "schema": {
                "type": "object",
                "required": ["approvals"],
                "properties": { "approvals": { "type": "array" }, "next_cursor": {} },
            } } }),
        ),
    };
    let mut operation = described(info, route.id, &responses);
    let other_status = match route.output {
        Output::Created => Some("201"),
        Output::Accepted { .. } => Some("202"),
        _ => None,
    };
    if let Some(status) = other_status {
        let responses = operation["responses"].as_object_mut();
        if let Some(responses) = responses
            && let Some(answer) = responses.remove("200")
        {
            responses.insert(status.to_owned(), answer);
        }
    }
    if matches!(route.output, Output::CreatedWhen { .. }) {
        operation["responses"]["201"] = operation["responses"]["200"].clone();
    }
    let in_path: Vec<&str> = parameters_of(route.path).collect();
    let fields = input_schema(info);
    let mut parameters: Vec<Value> = in_path
        .iter()
        .map(|name| {
            let schema = &fields["properties"][*name];
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        })
        .collect();
    match route.input {
        Input::Query => parameters.extend(query_parameters(route, info, &in_path)),
        Input::Body | Input::BodyOrList(_) | Input::BodyWithKey => {
            if route.input == Input::BodyWithKey {
                parameters.push(json!({
                    "name": "Idempotency-Key",
                    "in": "header",
                    "description": "The same as the field idempotency_key.",
                    "schema": { "type": "string", "minLength": 1, "maxLength": 200 },
                }));
            }
            let mut schema = without(input_schema(info), &in_path);
            let required = has_required_fields(&schema);
            if let Input::BodyOrList(field) = route.input {
                let bare = schema["properties"][field].clone();
                schema = json!({ "anyOf": [schema, bare] });
            }
            operation["requestBody"] = json!({
                "required": required,
                "content": { "application/json": { "schema": schema } },
            });
        }
    }
    match route.output {
        Output::Events | Output::RunEvents => {
            let ended = json!({ "description": "The run has ended and every event was sent." });
            operation["responses"]["204"] = ended;
            parameters.push(json!({
                "name": "Last-Event-ID",
                "in": "header",
                "description": "Go on after this event; streams only.",
                "schema": { "type": "integer" },
            }));
        }
        Output::Bytes | Output::Tagged => {
            let same =
                json!({ "description": "The artifact is still the one named in If-None-Match." });
            operation["responses"]["304"] = same;
        }
        Output::Json
        | Output::Created
        | Output::CreatedWhen { .. }
        | Output::JsonWithoutTimeout
        | Output::Accepted { .. }
        | Output::Approvals => {}
    }
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    operation
}

fn described(info: &OperationInfo, id: &str, success: &Value) -> Value {
    json!({
        "operationId": id,
        "summary": info.title,
        "description": info.description,
        "tags": [info.toolset],
        "security": [{ "key": [info.scope] }],
        "x-windlass-operation": info.name,
        "x-windlass-effect": info.effect,
        "x-windlass-flow": info.flow,
        "responses": { "200": success, "default": failure_of(info) },
    })
}

fn json_answer(info: &OperationInfo) -> Value {
    success(
        "The answer.",
        json!({ "application/json": { "schema": answer(info) } }),
    )
}

fn parameters_of(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

fn query_parameters(route: &Route, info: &OperationInfo, in_path: &[&str]) -> Vec<Value> {
    let input = input_schema(info);
    let Some(properties) = input["properties"].as_object() else {
        return Vec::new();
    };
    let required = input["required"].as_array();
    properties
        .iter()
        .filter(|(name, _)| !in_path.contains(&name.as_str()))
        // The route of approvals sets this one itself.
        .filter(|(name, _)| route.output != Output::Approvals || *name != "states")
        .map(|(name, schema)| {
            let required =
                required.is_some_and(|names| names.iter().any(|required| required == name));
            json!({
                "name": name,
                "in": "query",
                "required": required,
                "description": schema["description"].as_str().unwrap_or_default(),
                "style": "form",
                "explode": false,
                "schema": schema,
            })
        })
        .collect()
}

/// Whether an input cannot be left out.
fn has_required_fields(schema: &Value) -> bool {
    schema["required"]
        .as_array()
        .is_some_and(|names| !names.is_empty())
}

/// An object schema without the fields that the path already gives.
fn without(mut schema: Value, fields: &[&str]) -> Value {
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.retain(|name, _| !fields.contains(&name.as_str()));
    }
    if let Some(required) = schema["required"].as_array_mut() {
        required.retain(|name| !fields.iter().any(|field| name == field));
    }
    schema
}
