//! References inside and between earlier outputs.

use serde_json::{Value, json};

use super::*;
use crate::input::Members;

fn architecture() -> Value {
    json!({
        "stack": { "frontend": "f", "backend": "b", "deployment": "d" },
        "data_model": {
            "entities": [
                { "name": "Quiz", "fields": [{ "name": "owner_id", "type": "uuid", "references": "auth.users" }] },
                { "name": "Answer", "fields": [{ "name": "quiz_id", "type": "uuid", "references": "Quiz" }] },
            ],
            "relationships": [{ "from": "Quiz", "to": "Answer", "type": "one-to-many" }],
        },
        "api_design": { "endpoints": [
            { "method": "GET", "path": "/api/quizzes", "description": "List quizzes", "entity": "Quiz", "trace": ["req:FR-1"] },
        ] },
        "security": {
            "auth_strategy": "a", "rls_policies": [],
            "policies": [{ "table": "quizzes", "command": "select", "role": "anon" }],
        },
    })
}

fn ux() -> Value {
    json!({
        "user_flows": [],
        "pages": [{ "name": "Quizzes", "components": [], "layout": "grid", "entity": "Quiz", "trace": ["entity:Quiz"] }],
        "design_tokens": {
            "colors": { "primary": "#000000", "secondary": "#000000", "background": "#FFFFFF", "text": "#000000" },
            "typography": { "font_family": "Inter", "heading_sizes": {} },
            "spacing": { "unit": "0.25rem", "scale": [1] },
        },
        "component_library": "shadcn/ui",
    })
}

fn requirements() -> Value {
    json!({ "functional": [{ "id": "FR-1", "description": "List quizzes", "priority": "must" }] })
}

/// Reads all three and says what is wrong, if anything is.
fn read(requirements: Value, architecture: Value, ux: Value) -> Result<(), Problem> {
    let input =
        json!({ "requirements": requirements, "architecture": architecture, "ux_spec": ux });
    let mut members = Members::read(input)?;
    check_together(&Wanted {
        requirements: members.requirements()?,
        architecture: members.architecture()?,
        ux_spec: members.ux_spec()?,
        ..Wanted::default()
    })
}

#[test]
fn what_holds_together_is_taken() {
    read(requirements(), architecture(), ux()).unwrap();
    let whole = json!({ "architecture": architecture(), "architecture_markdown": "…" });
    read(requirements(), whole, ux()).unwrap();
}

#[test]
fn an_id_that_leads_nowhere_is_named() {
    let cases = [
        ("/data_model/relationships/0/to", "known_id"),
        ("/data_model/relationships/0/from", "known_id"),
        ("/data_model/entities/1/fields/0/references", "known_id"),
        ("/api_design/endpoints/0/entity", "known_id"),
        ("/security/policies/0/table", "known_id"),
    ];
    for (pointer, constraint) in cases {
        let mut given = architecture();
        *given.pointer_mut(pointer).unwrap() = json!("Nobody");
        let problem = read(requirements(), given, ux()).unwrap_err();
        assert_eq!(
            problem.details()["field"],
            format!("/architecture{pointer}")
        );
        assert_eq!(problem.details()["constraint"], constraint);
        assert_eq!(problem.details()["unknown"], json!(["Nobody"]));
    }
    let mut given = architecture();
    given["data_model"]["entities"][1]["name"] = json!("Quiz");
    let problem = read(requirements(), given, ux()).unwrap_err();
    assert_eq!(
        problem.details()["field"],
        "/architecture/data_model/entities/1/name"
    );
    assert_eq!(problem.details()["constraint"], "unique");

    let mut given = architecture();
    given["api_design"]["endpoints"][0]["trace"] = json!(["req:FR-9"]);
    let problem = read(requirements(), given, ux()).unwrap_err();
    let field = "/architecture/api_design/endpoints/0/trace/0";
    assert_eq!(problem.details()["field"], field);
    assert_eq!(problem.details()["known"], json!(["FR-1"]));

    for (member, value) in [("entity", json!("Poll")), ("trace", json!(["entity:Poll"]))] {
        let mut given = ux();
        given["pages"][0][member] = value;
        let problem = read(requirements(), architecture(), given).unwrap_err();
        let field = problem.details()["field"].as_str().unwrap().to_owned();
        assert!(
            field.starts_with(&format!("/ux_spec/pages/0/{member}")),
            "{field}"
        );
        assert_eq!(problem.details()["constraint"], "known_id");
    }
}
