//! The shapes of contract 001, written from its text and from nothing of the product.

use std::{collections::BTreeMap, sync::LazyLock};

use jsonschema::Validator;
use serde_json::{Value, json};

/// The tools, in the order of their names.
pub(super) const TOOLS: [&str; 7] = [
    "aios_design_architecture",
    "aios_design_ux",
    "aios_full_pipeline",
    "aios_generate_code",
    "aios_get_artifact",
    "aios_get_status",
    "aios_strategize",
];

/// The statuses a code may have over REST.
pub(super) fn statuses(code: &str) -> &'static [u16] {
    match code {
        "INVALID_INPUT" => &[400, 413],
        "UNAUTHORIZED" => &[401],
        "JOB_NOT_FOUND" => &[404],
        "ARTIFACT_NOT_READY" => &[409],
        "RATE_LIMITED" => &[429],
        "AGENT_FAILURE" => &[502],
        "AGENT_TIMEOUT" => &[504],
        "INTERNAL_ERROR" => &[500],
        other => panic!("{other} is no code of the contract"),
    }
}

fn object(members: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    let properties: BTreeMap<&str, &Value> = members.iter().map(|(n, v)| (*n, v)).collect();
    json!({ "type": "object", "properties": properties, "required": names })
}

fn list(item: &Value) -> Value {
    json!({ "type": "array", "items": item })
}

fn shape(tool: &str) -> Value {
    let text = json!({ "type": "string", "minLength": 1 });
    let some = |item: Value| json!({ "type": "array", "items": item, "minItems": 1 });
    let id = |prefix: &str| json!({ "type": "string", "pattern": format!("^{prefix}-[0-9]+$") });
    let one_of = |values: &[&str]| json!({ "enum": values });
    let phases = ["strategy", "architecture", "ux", "code"];
    let job_id = json!({ "type": "string", "pattern": "^job_[a-z2-7]{26}$" });
    match tool {
        "aios_strategize" => object(&[
            (
                "requirements",
                object(&[
                    (
                        "functional",
                        list(&object(&[
                            ("id", id("FR")),
                            ("description", text.clone()),
                            ("priority", one_of(&["must", "should", "could", "wont"])),
                        ])),
                    ),
                    (
                        "non_functional",
                        list(&object(&[
                            ("id", id("NFR")),
                            ("description", text.clone()),
                            (
                                "category",
                                one_of(&[
                                    "performance",
                                    "security",
                                    "scalability",
                                    "usability",
                                    "reliability",
                                    "accessibility",
                                    "compliance",
                                    "maintainability",
                                    "other",
                                ]),
                            ),
                        ])),
                    ),
                    (
                        "constraints",
                        list(&object(&[("id", id("CON")), ("description", text.clone())])),
                    ),
                ]),
            ),
            ("strategy_summary", text.clone()),
            (
                "estimated_complexity",
                one_of(&["simple", "standard", "complex"]),
            ),
        ]),
        "aios_design_architecture" => {
            let field = object(&[
                ("name", text.clone()),
                (
                    "type",
                    one_of(&[
                        "uuid", "string", "text", "integer", "decimal", "boolean", "date",
                        "datetime", "json", "enum",
                    ]),
                ),
            ]);
            let kinds = ["one-to-one", "one-to-many", "many-to-many"];
            object(&[
                (
                    "architecture",
                    object(&[
                        (
                            "stack",
                            object(&[
                                ("frontend", text.clone()),
                                ("backend", text.clone()),
                                ("deployment", text.clone()),
                            ]),
                        ),
                        (
                            "data_model",
                            object(&[
                                (
                                    "entities",
                                    some(object(&[
                                        ("name", text.clone()),
                                        ("fields", some(field)),
                                    ])),
                                ),
                                (
                                    "relationships",
                                    list(&object(&[
                                        ("from", text.clone()),
                                        ("to", text.clone()),
                                        ("type", one_of(&kinds)),
                                    ])),
                                ),
                            ]),
                        ),
                        (
                            "api_design",
                            object(&[(
                                "endpoints",
                                some(object(&[
                                    ("method", one_of(&["GET", "POST", "PUT", "PATCH", "DELETE"])),
                                    ("path", json!({ "type": "string", "pattern": "^/api/" })),
                                    ("description", text.clone()),
                                ])),
                            )]),
                        ),
                        (
                            "security",
                            object(&[
                                ("auth_strategy", text.clone()),
                                ("rls_policies", some(text.clone())),
                            ]),
                        ),
                    ]),
                ),
                ("architecture_markdown", text),
            ])
        }
        "aios_design_ux" => {
            let colour = json!({ "type": "string", "pattern": "^#[0-9A-Fa-f]{6}$" });
            let rem = json!({ "type": "string", "pattern": "^[0-9.]+rem$" });
            object(&[
                (
                    "ux_spec",
                    object(&[
                        (
                            "user_flows",
                            some(object(&[
                                ("name", text.clone()),
                                ("steps", some(text.clone())),
                            ])),
                        ),
                        (
                            "pages",
                            some(object(&[
                                ("name", text.clone()),
                                ("components", list(&text)),
                                (
                                    "layout",
                                    one_of(&[
                                        "single-column",
                                        "sidebar-main",
                                        "split",
                                        "grid",
                                        "centered",
                                        "master-detail",
                                    ]),
                                ),
                            ])),
                        ),
                        (
                            "design_tokens",
                            object(&[
                                (
                                    "colors",
                                    object(&[
                                        ("primary", colour.clone()),
                                        ("secondary", colour.clone()),
                                        ("background", colour.clone()),
                                        ("text", colour),
                                    ]),
                                ),
                                (
                                    "typography",
                                    object(&[
                                        ("font_family", text.clone()),
                                        (
                                            "heading_sizes",
                                            object(&[
                                                ("h1", rem.clone()),
                                                ("h2", rem.clone()),
                                                ("h3", rem.clone()),
                                            ]),
                                        ),
                                    ]),
                                ),
                                (
                                    "spacing",
                                    object(&[
                                        ("unit", rem),
                                        ("scale", some(json!({ "type": "number" }))),
                                    ]),
                                ),
                            ]),
                        ),
                        ("component_library", text.clone()),
                    ]),
                ),
                ("ux_markdown", text),
            ])
        }
        "aios_generate_code" => {
            let versions =
                json!({ "type": "object", "additionalProperties": { "type": "string" } });
            object(&[
                (
                    "files",
                    some(object(&[
                        (
                            "path",
                            json!({ "type": "string", "pattern": "^[^/.]|^\\.[^./]" }),
                        ),
                        ("content", text.clone()),
                        (
                            "language",
                            one_of(&[
                                "typescript",
                                "javascript",
                                "css",
                                "html",
                                "json",
                                "sql",
                                "markdown",
                                "yaml",
                                "toml",
                                "text",
                            ]),
                        ),
                    ])),
                ),
                (
                    "dependencies",
                    object(&[("production", versions.clone()), ("development", versions)]),
                ),
                ("setup_instructions", text),
            ])
        }
        "aios_full_pipeline" => object(&[
            ("job_id", job_id),
            (
                "status",
                one_of(&["running", "completed", "failed", "timeout"]),
            ),
            ("phases_queued", some(one_of(&phases))),
            (
                "estimated_duration_seconds",
                json!({ "type": "integer", "minimum": 1 }),
            ),
        ]),
        "aios_get_status" => {
            let phase = object(&[(
                "status",
                one_of(&[
                    "queued",
                    "running",
                    "completed",
                    "failed",
                    "timeout",
                    "skipped",
                ]),
            )]);
            let by_name: BTreeMap<&str, &Value> = phases.map(|name| (name, &phase)).into();
            object(&[
                ("job_id", job_id),
                (
                    "status",
                    one_of(&["running", "completed", "failed", "timeout"]),
                ),
                (
                    "phases",
                    json!({
                        "type": "object", "properties": by_name,
                        "additionalProperties": false, "minProperties": 1,
                    }),
                ),
                (
                    "progress_percent",
                    json!({ "type": "integer", "minimum": 0, "maximum": 100 }),
                ),
                (
                    "error",
                    json!({ "anyOf": [{ "type": "null" }, error_shape()] }),
                ),
            ])
        }
        // Which one it is depends on what was asked for.
        "aios_get_artifact" => json!({ "type": "object", "minProperties": 1 }),
        other => panic!("{other} is no tool of the contract"),
    }
}

fn error_shape() -> Value {
    let text = json!({ "type": "string", "minLength": 1 });
    let mut shape = object(&[
        ("code", text.clone()),
        ("message", text.clone()),
        ("details", json!({ "type": "object" })),
        ("request_id", text),
    ]);
    shape["additionalProperties"] = json!(false);
    shape
}

static SHAPES: LazyLock<BTreeMap<&str, Validator>> = LazyLock::new(|| {
    let validator = |shape: &Value| jsonschema::validator_for(shape).unwrap();
    let tools = TOOLS.iter().map(|tool| (*tool, validator(&shape(tool))));
    let mut error = object(&[("error", error_shape())]);
    error["additionalProperties"] = json!(false);
    tools.chain([("error", validator(&error))]).collect()
});

/// An answer has the shape the contract gives it.
#[track_caller]
pub(super) fn check(tool: &str, body: &Value) {
    if let Err(error) = SHAPES[tool].validate(body) {
        panic!(
            "{tool}: not as the contract says: {error} at {}",
            error.instance_path()
        );
    }
}

/// A failure has the one shape the contract has for failures, and a code of the contract.
#[track_caller]
pub(super) fn check_error(body: &Value) {
    check("error", body);
    statuses(body["error"]["code"].as_str().unwrap());
}
