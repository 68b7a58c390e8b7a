//! Every field with everything that does not fit it, through every door: `INVALID_INPUT` with the
//! field and the rule it breaks.

use serde_json::{Value, json};

use super::{
    doors::doors,
    site::{NO_LIMITS, SPEC, Site},
};

const LONGEST_SPEC: usize = 256 * 1024;

/// A call, the field that is refused, and the rule it breaks.
type Case = (&'static str, Value, &'static str, &'static str);

/// The good input of a tool with some members changed; `null` takes one out.
fn with(mut input: Value, changes: Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            input.as_object_mut().unwrap().remove(name);
        } else {
            input[name] = value.clone();
        }
    }
    input
}

fn specs() -> Vec<Case> {
    let mut cases = Vec::new();
    for tool in [
        "aios_strategize",
        "aios_design_architecture",
        "aios_design_ux",
        "aios_generate_code",
        "aios_full_pipeline",
    ] {
        for (input, constraint) in [
            (json!({}), "required"),
            (json!({ "spec": null }), "required"),
            (json!({ "spec": "" }), "required"),
            (json!({ "spec": " \n\t" }), "required"),
            (json!({ "spec": 5 }), "type"),
            (json!({ "spec": ["a quiz"] }), "type"),
            (json!({ "spec": { "text": "a quiz" } }), "type"),
            (json!({ "spec": "x".repeat(LONGEST_SPEC + 1) }), "maxLength"),
        ] {
            cases.push((tool, input, "spec", constraint));
        }
    }
    cases
}

fn requirement(id: &str, priority: &str) -> Value {
    json!({ "functional": [{ "id": id, "description": "List quizzes", "priority": priority }] })
}

fn outputs() -> Vec<Case> {
    let spec = || json!({ "spec": SPEC });
    let mut cases = Vec::new();
    for (tool, member) in [
        ("aios_design_architecture", "requirements"),
        ("aios_design_ux", "requirements"),
        ("aios_design_ux", "architecture"),
        ("aios_generate_code", "architecture"),
        ("aios_generate_code", "ux_spec"),
    ] {
        for value in [json!("x"), json!([]), json!(7), json!(true)] {
            cases.push((tool, with(spec(), json!({ member: value })), member, "type"));
        }
    }
    for (requirements, field, constraint) in [
        (
            json!({ "functional": "none" }),
            "/requirements/functional",
            "type",
        ),
        (
            requirement("FR-1", "urgent"),
            "/requirements/functional/0/priority",
            "enum",
        ),
        (
            requirement("one", "must"),
            "/requirements/functional/0/id",
            "pattern",
        ),
        (
            json!({ "constraints": [{ "id": "CON-1" }] }),
            "/requirements/constraints/0/description",
            "required",
        ),
        (
            json!({ "requirements": requirement("FR-1", "urgent") }),
            "/requirements/requirements/functional/0/priority",
            "enum",
        ),
    ] {
        let input = json!({ "requirements": requirements });
        cases.push((
            "aios_design_architecture",
            with(spec(), input),
            field,
            constraint,
        ));
    }
    for (architecture, field) in [
        (json!({}), "/architecture"),
        (json!({ "stack": 1 }), "/architecture/stack"),
        (
            json!({ "architecture": { "stack": { "frontend": [] } } }),
            "/architecture/architecture/stack/frontend",
        ),
    ] {
        let input = json!({ "architecture": architecture });
        cases.push((
            "aios_design_ux",
            with(spec(), input.clone()),
            field,
            "shape",
        ));
        cases.push(("aios_generate_code", with(spec(), input), field, "shape"));
    }
    let pages = json!({ "ux_spec": { "user_flows": [], "pages": [{ "name": "Home" }] } });
    cases.push((
        "aios_generate_code",
        with(spec(), pages),
        "/ux_spec/pages/0",
        "shape",
    ));
    cases
}

fn options() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut add = |tool, changes: Value, field, constraint| {
        cases.push((
            tool,
            with(json!({ "spec": SPEC }), changes),
            field,
            constraint,
        ));
    };
    let strategize = "aios_strategize";
    add(strategize, json!({ "context": "b2b" }), "context", "type");
    add(strategize, json!({ "context": [] }), "context", "type");
    for member in ["industry", "target_audience", "budget_tier"] {
        let field: &'static str = match member {
            "industry" => "/context/industry",
            "target_audience" => "/context/target_audience",
            _ => "/context/budget_tier",
        };
        add(
            strategize,
            json!({ "context": { member: 5 } }),
            field,
            "type",
        );
    }
    let huge = json!({ "context": { "budget_tier": "huge" } });
    add(strategize, huge, "/context/budget_tier", "enum");
    for (tool, member) in [
        ("aios_design_architecture", "stack_preference"),
        ("aios_full_pipeline", "stack_preference"),
        ("aios_design_ux", "style_preference"),
        ("aios_full_pipeline", "style_preference"),
        ("aios_full_pipeline", "webhook_url"),
        ("aios_full_pipeline", "idempotency_key"),
        ("aios_generate_code", "framework"),
    ] {
        add(tool, json!({ member: 5 }), member, "type");
        add(tool, json!({ member: ["x"] }), member, "type");
    }
    let code = "aios_generate_code";
    add(code, json!({ "framework": "angular" }), "framework", "enum");
    add(code, json!({ "framework": "" }), "framework", "enum");
    add(
        code,
        json!({ "target_files": "package.json" }),
        "target_files",
        "type",
    );
    add(
        code,
        json!({ "target_files": ["package.json", 5] }),
        "/target_files/1",
        "type",
    );
    add(
        code,
        json!({ "target_files": [""] }),
        "/target_files/0",
        "minLength",
    );
    add(
        code,
        json!({ "target_files": ["../x"] }),
        "/target_files/0",
        "relative_path",
    );
    add(
        code,
        json!({ "target_files": ["/etc/passwd"] }),
        "/target_files/0",
        "relative_path",
    );
    add(
        code,
        json!({ "target_files": ["logo.svg"] }),
        "target_files",
        "known_path",
    );
    let full = "aios_full_pipeline";
    add(full, json!({ "phases": [] }), "phases", "minItems");
    add(full, json!({ "phases": "code" }), "phases", "type");
    add(full, json!({ "phases": ["deploy"] }), "phases", "enum");
    add(full, json!({ "phases": ["code", 5] }), "phases", "enum");
    add(
        full,
        json!({ "idempotency_key": "" }),
        "idempotency_key",
        "length",
    );
    add(
        full,
        json!({ "idempotency_key": "k".repeat(201) }),
        "idempotency_key",
        "length",
    );
    for url in ["", "nowhere", "/hook", "https://"] {
        add(full, json!({ "webhook_url": url }), "webhook_url", "format");
    }
    for url in [
        "ftp://receiver.example/hook",
        "http://receiver.example/hook",
        "https://user:word@receiver.example/hook",
        "https://127.0.0.1/hook",
        "https://2130706433/hook",
        "https://0x7f.1/hook",
        "https://10.0.0.1/hook",
        "https://169.254.169.254/latest",
        "https://100.64.0.1/",
        "https://[::1]/hook",
        "https://[::ffff:10.0.0.1]/",
        "https://[64:ff9b::a00:1]/",
        "https://localhost/hook",
    ] {
        add(
            full,
            json!({ "webhook_url": url }),
            "webhook_url",
            "forbidden_address",
        );
    }
    cases
}

fn jobs() -> Vec<Case> {
    let id = "job_aaaaaaaaaaaaaaaaaaaaaaaaaa";
    vec![
        ("aios_get_status", json!({}), "job_id", "required"),
        (
            "aios_get_status",
            json!({ "job_id": "" }),
            "job_id",
            "required",
        ),
        ("aios_get_status", json!({ "job_id": 5 }), "job_id", "type"),
        (
            "aios_get_status",
            json!({ "job_id": [id] }),
            "job_id",
            "type",
        ),
        (
            "aios_get_artifact",
            json!({ "artifact_type": "code" }),
            "job_id",
            "required",
        ),
        (
            "aios_get_artifact",
            json!({ "job_id": 5, "artifact_type": "code" }),
            "job_id",
            "type",
        ),
        (
            "aios_get_artifact",
            json!({ "job_id": id }),
            "artifact_type",
            "required",
        ),
        (
            "aios_get_artifact",
            json!({ "job_id": id, "artifact_type": 5 }),
            "artifact_type",
            "type",
        ),
        (
            "aios_get_artifact",
            json!({ "job_id": id, "artifact_type": "logo" }),
            "artifact_type",
            "enum",
        ),
    ]
}

#[test]
fn every_field_that_does_not_fit_is_named() {
    let site = Site::open(NO_LIMITS);
    let cases: Vec<Case> = [specs(), outputs(), options(), jobs()].concat();
    let mut wrong = Vec::new();
    let mut tried = 0;
    for mut door in doors(&site) {
        for (tool, input, field, constraint) in &cases {
            let Some(answer) = door.call(tool, input) else {
                continue;
            };
            tried += 1;
            let error = &answer.body["error"];
            let details = &error["details"];
            let status = answer.status.unwrap_or(0);
            let wanted = if *constraint == "maxLength" { 413 } else { 400 };
            if !answer.is_error
                || error["code"] != "INVALID_INPUT"
                || details["field"] != *field
                || details["constraint"] != *constraint
                || !(status == 0 || status == wanted)
            {
                let input: String = input.to_string().chars().take(300).collect();
                let got: String = error.to_string().chars().take(300).collect();
                let door = door.name;
                wrong.push(format!(
                    "{door} {tool} {input}\n  not {field} {constraint}: {status} {got}"
                ));
            }
            let lists = match (*constraint, *field) {
                ("enum", _) => &["allowed"][..],
                ("known_path", _) => &["unknown", "known"],
                _ => &[],
            };
            for list in lists {
                if details[list].as_array().is_none_or(Vec::is_empty) {
                    wrong.push(format!(
                        "{} {tool} {field}: no {list}: {details}",
                        door.name
                    ));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {tried}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    println!("{tried} calls refused");
}

/// An id that leads nowhere is refused before there is a job.
#[test]
fn an_inconsistent_output_is_refused() {
    let site = Site::open(NO_LIMITS);
    let mut doors = doors(&site);
    let made = doors[0].call("aios_design_architecture", &json!({ "spec": SPEC }));
    let made = made.unwrap().worked()["architecture"].clone();
    let mut given = made;
    given["data_model"]["relationships"] =
        json!([{ "from": "Listing", "to": "Nobody", "type": "one-to-many" }]);
    for door in &mut doors {
        for tool in ["aios_design_ux", "aios_generate_code"] {
            let input = json!({ "spec": SPEC, "architecture": given });
            let answer = door.call(tool, &input).unwrap();
            let details = answer.refused("INVALID_INPUT");
            assert_eq!(
                details["field"],
                "/architecture/data_model/relationships/0/to"
            );
            assert_eq!(details["constraint"], "known_id");
            assert_eq!(details["unknown"], json!(["Nobody"]));
        }
    }
}

#[test]
fn a_webhook_needs_a_secret_and_a_key_one_input() {
    let site = Site::open(NO_LIMITS);
    for mut door in doors(&site) {
        // The owner of the home has no secret until one is made.
        if door.name == "MCP on stdio" {
            let input = json!({ "spec": SPEC, "webhook_url": "https://192.0.32.7/hook" });
            let answer = door.call("aios_full_pipeline", &input).unwrap();
            let details = answer.refused("INVALID_INPUT");
            assert_eq!(details["field"], "webhook_url");
            assert_eq!(details["constraint"], "no_webhook_secret");
        }
        let keyed = |spec: &str| {
            let key = door.name;
            json!({ "spec": spec, "phases": ["strategy"], "idempotency_key": key })
        };
        let (same, other) = (keyed(SPEC), keyed("Bakers can sell bread."));
        let first = door.call("aios_full_pipeline", &same).unwrap();
        let again = door.call("aios_full_pipeline", &same).unwrap();
        assert_eq!(first.worked()["job_id"], again.worked()["job_id"]);
        let answer = door.call("aios_full_pipeline", &other).unwrap();
        let details = answer.refused("INVALID_INPUT");
        assert_eq!(details["field"], "idempotency_key");
        assert_eq!(details["constraint"], "conflict");
    }
}
