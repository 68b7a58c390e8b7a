//! The OpenAPI document, made from the catalogue: its operations, and the routes
//! that domains declare.
//!
//! The same catalogue gives the same document, byte for byte.

mod paths;
mod schemas;

use serde_json::{Map, Value, json};
use windlass_engine::operation::Catalogue;

/// The OpenAPI 3.1 document of this catalogue.
pub fn openapi(catalogue: &Catalogue) -> Value {
    let tags: Vec<Value> = catalogue
        .toolsets()
        .into_iter()
        .map(|name| json!({ "name": name }))
        .collect();
    let mut all_tags = vec![
        json!({ "name": "server", "description": "This server: health, metrics, documents." }),
    ];
    all_tags.extend(tags);
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "Windlass",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Durable operations: plan, confirm, apply, watch, roll back.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "servers": [{ "url": "/" }],
        "security": [{ "key": [] }],
        "tags": all_tags,
        "paths": paths::all(catalogue),
        "components": {
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "wlk_…",
                    "description": "An API key, made with `windlass keys create`.",
                },
            },
            "headers": headers(),
            "responses": {
                "Description": {
                    "description": "An operation with its schemas and examples.",
                    "headers": schemas::common_headers(),
                    "content": { "application/json": { "schema": { "type": "object" } } },
                },
                "Failure": {
                    "description": "A failure; its code says which.",
                    "headers": schemas::common_headers(),
                    "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Failure" } } },
                },
            },
            "schemas": schemas::all(catalogue),
        },
    })
}

fn headers() -> Value {
    let integer =
        |description: &str| json!({ "description": description, "schema": { "type": "integer" } });
    let text =
        |description: &str| json!({ "description": description, "schema": { "type": "string" } });
    let mut headers = Map::new();
    for (name, header) in [
        (
            "X-Request-Id",
            text("The id of the request: the one sent, or a new one."),
        ),
        ("X-RateLimit-Limit", integer("Requests in any minute.")),
        ("X-RateLimit-Remaining", integer("Requests left now.")),
        (
            "X-RateLimit-Reset",
            integer("When the oldest request that counts does so no more, in seconds since 1970."),
        ),
        (
            "RateLimit",
            text("Requests left and seconds to that moment, as a structured field."),
        ),
        (
            "RateLimit-Policy",
            text("The limit and its window, as a structured field."),
        ),
    ] {
        headers.insert(name.to_owned(), header);
    }
    Value::Object(headers)
}
