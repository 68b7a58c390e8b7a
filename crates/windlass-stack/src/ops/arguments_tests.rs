//! Every operation's schema, example and arguments.

use std::collections::BTreeSet;

use serde_json::json;
use windlass_engine::operation::Terms;
use windlass_types::{Principal, Surface};

use super::*;

fn context() -> CallContext {
    CallContext {
        principal: Principal::local("ada"),
        surface: Surface::Cli,
        request_id: "req_1".to_owned(),
        directory: Some("/app".into()),
        terms: Terms::default(),
    }
}

fn now() -> Timestamp {
    Timestamp::from_millis(1_750_000_000_000)
}

#[test]
fn every_operation_takes_its_own_example() {
    let mut wrong = Vec::new();
    for verb in Verb::all() {
        let (schema, example) = (schema(verb), example(verb));
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(&example), "{verb:?} {example}");
        let read = read(verb, &example).unwrap();
        let checked = check(verb, &context(), &read, now());
        wrong.extend(checked.err().map(|it| format!("{verb:?} {example}: {it}")));
        let strange = json!({ "colour": "red" });
        assert!(!validator.is_valid(&strange), "{verb:?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_operation_has_an_argument_twice() {
    for verb in Verb::all() {
        let all = specs(verb);
        let names: BTreeSet<&str> = all.iter().map(|spec| spec.name).collect();
        assert_eq!(names.len(), all.len(), "{verb:?}");
        let is_dev = matches!(verb, Verb::Dev(_));
        assert_eq!(names.contains("confirm"), !is_dev, "{verb:?}");
    }
    let names: BTreeSet<&str> = Verb::all().into_iter().map(Verb::name).collect();
    assert_eq!(names.len(), Verb::all().len());
}

#[test]
fn what_an_operation_cannot_do_without() {
    let required = |verb| {
        let mut names: Vec<&str> = specs(verb)
            .iter()
            .filter(|spec| spec.required)
            .map(|spec| spec.name)
            .collect();
        names.sort_unstable();
        names.join(" ")
    };
    let table: Vec<String> = Verb::all()
        .into_iter()
        .filter(|verb| !required(*verb).is_empty())
        .map(|verb| format!("{}: {}", verb.name(), required(verb)))
        .collect();
    insta::assert_snapshot!(table.join("\n"), @"
    preview_changes: stage
    deploy: stage
    rollback: projectName stage
    delete: projectName stage
    script_run: scriptName stage
    compile_template: stage
    validate: stage
    logs: resourceName
    metrics: metric resourceName
    container_exec: command resourceName
    sql: resourceName sql
    dynamodb: resourceName
    redis: resourceName
    opensearch: resourceName
    aws_sdk: command service
    secret_create: secretName
    secret_get: secretName
    secret_delete: secretName
    dev_rebuild: workload
    ");
}

#[test]
fn what_is_refused_from_the_arguments_alone() {
    let stack = json!({ "projectName": "shop", "stage": "dev" });
    let with = |name: &str, value: Value| {
        let mut input = stack.clone();
        input[name] = value;
        input
    };
    let rollback = Verb::Change(Kind::Rollback);
    let deploy = Verb::Change(Kind::Deploy);
    let script = Verb::Change(Kind::Script);
    let cases = [
        (deploy, stack.clone(), None),
        (deploy, with("timeoutSeconds", json!(1)), None),
        (deploy, with("timeoutSeconds", json!("86400")), None),
        (
            deploy,
            with("timeoutSeconds", json!(0)),
            Some("timeoutSeconds"),
        ),
        (
            deploy,
            with("timeoutSeconds", json!("86401")),
            Some("timeoutSeconds"),
        ),
        (
            deploy,
            with("timeoutSeconds", json!("soon")),
            Some("timeoutSeconds"),
        ),
        (
            deploy,
            with("timeoutSeconds", json!(1.5)),
            Some("timeoutSeconds"),
        ),
        (rollback, with("rollbackSteps", json!("2")), None),
        (
            rollback,
            with("rollbackSteps", json!(0)),
            Some("rollbackSteps"),
        ),
        (deploy, with("stage", json!("my_stage")), Some("stage")),
        (
            deploy,
            with("projectName", json!("1st")),
            Some("projectName"),
        ),
        (
            deploy,
            with("retainResources", json!([])),
            Some("retainResources"),
        ),
        (script, with("scriptName", json!("seed")), None),
        (script, stack.clone(), Some("scriptName")),
        (deploy, json!({ "projectName": "shop" }), Some("stage")),
        (deploy, json!("stage"), Some("args")),
    ];
    for (verb, input, wrong) in cases {
        let read = read(verb, &input);
        let checked = read.and_then(|read| check(verb, &context(), &read, now()));
        let named = checked
            .err()
            .map(|problem| problem.details()["argument"].clone());
        assert_eq!(named, wrong.map(Value::from), "{verb:?} {input}");
    }
}

#[test]
fn a_question_is_asked_without_what_only_the_tool_takes() {
    let verb = Verb::Ask(windlass_stack_diagnose::Operation::InfoWhoami);
    let given =
        json!({ "confirm": true, "wait": false, "resourceName": "db", "region": "eu-west-1" });
    let read = read(verb, &given).unwrap();
    assert_eq!(read.len(), 4);
    assert_eq!(
        Value::Object(plain(verb, &read)),
        json!({ "region": "eu-west-1" })
    );
    let deploy = Verb::Change(Kind::Deploy);
    assert_eq!(plain(deploy, &read), read);
}
