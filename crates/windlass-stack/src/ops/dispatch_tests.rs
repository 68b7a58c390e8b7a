//! Calls of the tools: which operation they mean, and what is refused.

use std::collections::BTreeSet;

use super::*;

const TOOLS: [Tool; 3] = [Tool::Ops, Tool::Dev, Tool::Diagnose];

#[test]
fn every_tool_takes_its_own_example() {
    for tool in TOOLS {
        let validator = jsonschema::validator_for(&tool.schema()).unwrap();
        assert!(validator.is_valid(&tool.example()), "{tool:?}");
        read(tool, &tool.example()).unwrap();
    }
}

#[test]
fn each_operation_of_a_tool_is_one_of_the_catalogue() {
    let known: BTreeSet<&str> = Verb::all().into_iter().map(Verb::name).collect();
    let mut reached = BTreeSet::new();
    for tool in TOOLS {
        for (name, verb) in tool.operations() {
            let (meant, arguments) = read(tool, &json!({ "operation": name })).unwrap();
            assert_eq!((meant, arguments.is_empty()), (verb.name(), true));
            assert!(known.contains(meant), "{meant}");
            assert!(reached.insert(meant), "{meant} is reached by two tools");
        }
    }
    let left: Vec<&str> = known.difference(&reached).copied().collect();
    assert_eq!(left, ["init", "validate"], "not in the contract's tools");
}

#[test]
fn what_a_call_means() {
    let cases = [
        (
            Tool::Ops,
            json!({ "operation": "deploy", "args": { "stage": "dev" }, "confirm": true }),
            "deploy",
            json!({ "stage": "dev", "confirm": true }),
        ),
        (
            Tool::Ops,
            json!({ "operation": "delete", "args": { "confirm": true }, "confirm": true }),
            "delete",
            json!({ "confirm": true }),
        ),
        (
            Tool::Ops,
            json!({ "operation": "secret_get", "args": null, "confirm": null }),
            "secret_get",
            json!({}),
        ),
        (
            Tool::Dev,
            json!({ "operation": "rebuild_all" }),
            "dev_rebuild_all",
            json!({}),
        ),
        (
            Tool::Diagnose,
            json!({ "operation": "logs", "args": { "limit": 5 } }),
            "logs",
            json!({ "limit": 5 }),
        ),
    ];
    for (tool, input, operation, arguments) in cases {
        let (meant, with) = read(tool, &input).unwrap();
        assert_eq!(
            (meant, Value::Object(with)),
            (operation, arguments),
            "{input}"
        );
    }
}

#[test]
fn what_is_refused() {
    let cases = [
        (
            Tool::Ops,
            json!([]),
            "invalid_argument",
            "must be an object",
        ),
        (
            Tool::Ops,
            json!({}),
            "missing_argument",
            "needs the argument operation",
        ),
        (
            Tool::Ops,
            json!({ "operation": 1 }),
            "invalid_argument",
            "must be a text",
        ),
        (
            Tool::Ops,
            json!({ "operation": "deplyo" }),
            "invalid_argument",
            "did you mean deploy?",
        ),
        (
            Tool::Ops,
            json!({ "operation": "logs" }),
            "invalid_argument",
            "stacktape_ops has no operation \"logs\"",
        ),
        (
            Tool::Ops,
            json!({ "operaton": "deploy" }),
            "unknown_argument",
            "did you mean operation?",
        ),
        (
            Tool::Ops,
            json!({ "operation": "deploy", "stage": "dev" }),
            "unknown_argument",
            "go into args",
        ),
        (
            Tool::Dev,
            json!({ "operation": "stop", "confirm": true }),
            "unknown_argument",
            "confirm is not an argument of stacktape_dev",
        ),
        (
            Tool::Ops,
            json!({ "operation": "deploy", "args": "stage=dev" }),
            "invalid_argument",
            "args must be an object",
        ),
        (
            Tool::Ops,
            json!({ "operation": "delete", "confirm": "yes" }),
            "invalid_argument",
            "confirm must be true or false",
        ),
        (
            Tool::Ops,
            json!({ "operation": "delete", "args": { "confirm": false }, "confirm": true }),
            "duplicate_argument",
            "confirm is given twice",
        ),
    ];
    for (tool, input, reason, says) in cases {
        let problem = read(tool, &input).unwrap_err();
        assert_eq!(problem.details()["reason"], reason, "{input}");
        assert!(
            problem.message().contains(says),
            "{input}: {}",
            problem.message()
        );
    }
    let near = read(Tool::Ops, &json!({ "operation": "deplyo" })).unwrap_err();
    assert_eq!(near.details()["didYouMean"], "deploy");
    assert!(near.details()["allowed"].as_array().unwrap().len() == 9);
}

#[test]
fn the_contract_s_operations() {
    let of = |tool: Tool| {
        let names: Vec<&str> = tool.operations().iter().map(|(name, _)| *name).collect();
        names.join(" ")
    };
    insta::assert_snapshot!(TOOLS.map(of).join("\n"), @"
    preview_changes deploy delete rollback script_run compile_template secret_create secret_get secret_delete
    start status logs rebuild rebuild_all stop
    info_stack info_stacks info_operations info_whoami logs metrics alarms container_exec sql dynamodb redis opensearch aws_sdk
    ");
}

/// Such a name arrives before anything else of the call was looked at.
#[test]
fn a_name_of_eight_megabytes_is_refused_in_a_sentence() {
    let long = "deploy".repeat(1_400_000);
    for input in [
        json!({ "operation": long }),
        json!({ "operation": "deploy", long.as_str(): 1 }),
    ] {
        let problem = read(Tool::Ops, &input).unwrap_err();
        assert!(problem.message().len() < 300, "{}", problem.message());
        let details = Value::Object(problem.details().clone()).to_string();
        assert!(details.len() < 1000, "{} bytes", details.len());
    }
}
