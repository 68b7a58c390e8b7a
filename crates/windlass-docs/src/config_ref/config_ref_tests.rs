//! Tests of the generated pages on a small schema.

use serde_json::json;

use super::*;

fn schema() -> Value {
    let queue = json!({
        "type": "object",
        "properties": {
            "delay": { "type": "integer", "default": 0, "description": "Seconds before\n a message shows." },
            "kind": { "enum": ["a", "b"] },
            "redrive": { "anyOf": [{ "$ref": "#/$defs/Redrive" }, { "type": "null" }] },
            "events": { "type": "array", "items": { "$ref": "#/$defs/Event" }, "description": "What calls it" },
        },
        "required": ["kind"],
    });
    let of = |name: &str, properties: &Value| json!({ "description": "One.", "properties": { "type": { "const": name }, "properties": properties } });
    json!({
        "properties": { "resources": { "additionalProperties": { "$ref": "#/$defs/Resource" } } },
        "$defs": {
            "Redrive": {
                "description": "Where failures go.",
                "properties": { "count": { "type": "integer" }, "to": { "$ref": "#/$defs/To" } },
                "required": ["count"],
            },
            "To": { "properties": { "name": { "type": "string" } } },
            "Event": { "oneOf": [of("schedule", &json!({ "properties": { "rate": { "type": "string" } } }))] },
            "Resource": { "oneOf": [of("function", &json!({})), of("bucket", &json!({})), of("sqs-queue", &queue)] },
        },
    })
}

#[test]
fn properties_come_from_the_schema() {
    let pages = config_reference(&schema()).unwrap();
    let paths: Vec<&str> = pages.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "docs/stack/config-ref/README.md",
            "docs/stack/config-ref/bucket.md",
            "docs/stack/config-ref/function.md",
            "docs/stack/config-ref/sqs-queue.md"
        ]
    );
    let queue = &pages[3].1;
    let from = queue.find("## Properties").unwrap();
    let to = queue.find("## Parameters").unwrap();
    insta::assert_snapshot!(&queue[from..to], @r"
    ## Properties

    | property | type | default | description |
    | --- | --- | --- | --- |
    | `kind` | `a` or `b`, required |  |  |
    | `delay` | number | `0` | Seconds before a message shows. |
    | `events` | list of type and properties |  | What calls it |
    | `redrive` | object |  | Where failures go. |

    ### redrive

    Where failures go.

    | property | type | default | description |
    | --- | --- | --- | --- |
    | `count` | number, required |  |  |
    | `to` | object |  |  |
    | `to.name` | text |  |  |

    ## Events

    What calls it. How each works is on [events and triggers](../concept/events.md).

    ### type: schedule

    One.

    | property | type | default | description |
    | --- | --- | --- | --- |
    | `rate` | text |  |  |
    ");
}

#[test]
fn a_schema_without_resources_is_an_error() {
    let error = config_reference(&json!({})).unwrap_err();
    assert!(error.message().contains("no resource types"), "{error:?}");
}

#[test]
fn parameters_have_their_variable() {
    for (name, expected) in [
        ("url", "URL"),
        ("customDomainUrl", "CUSTOM_DOMAIN_URL"),
        ("dbName", "DB_NAME"),
        ("readReplica.host", "READ_REPLICA_HOST"),
    ] {
        assert_eq!(upper_snake(name), expected);
    }
}
