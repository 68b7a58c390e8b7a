//! Spellings, duplicates, unknown names, wrong types, credentials.

use super::*;
use serde_json::json;

const SPECS: &[ArgumentSpec] = &[
    ArgumentSpec::required("stage", ArgumentType::Text),
    ArgumentSpec::optional("projectName", ArgumentType::Text),
    ArgumentSpec::optional("limit", ArgumentType::NumberOrText),
    ArgumentSpec::optional("rollbackSteps", ArgumentType::Number),
    ArgumentSpec::optional("wait", ArgumentType::Bool),
    ArgumentSpec::optional("retainResources", ArgumentType::Texts),
    ArgumentSpec::optional("input", ArgumentType::ObjectOrText),
    ArgumentSpec::optional("secretValue", ArgumentType::Text),
];

fn check(given: Value) -> Result<Value, (String, String)> {
    let Value::Object(given) = given else {
        panic!("an object");
    };
    normalise("deploy", &given, SPECS)
        .map(Value::Object)
        .map_err(|problem| {
            let reason = problem.details()["reason"].as_str().unwrap_or_default();
            (reason.to_owned(), problem.message().to_owned())
        })
}

#[test]
fn spellings_are_one() {
    for written in [
        "projectName",
        "project_name",
        "project-name",
        "--project-name",
    ] {
        assert_eq!(
            check(json!({"stage": "dev", written: "shop"})),
            Ok(json!({"stage": "dev", "projectName": "shop"})),
            "{written}"
        );
    }
    assert_eq!(
        check(json!({"stage": "a", "project_name": "x", "project-name": "x", "wait": null})),
        Ok(json!({"stage": "a", "projectName": "x"}))
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut said = String::new();
    for given in [
        json!({}),
        json!({"stage": "a", "project_name": "x", "project-name": "y"}),
        json!({"stage": "a", "projectNam": "x"}),
        json!({"stage": "a", "colour": "x"}),
        json!({"stage": 5}),
        json!({"stage": "a", "wait": "true"}),
        json!({"stage": "a", "rollbackSteps": "1"}),
        json!({"stage": "a", "rollbackSteps": -1}),
        json!({"stage": "a", "limit": "ten"}),
        json!({"stage": "a", "retainResources": ["a", 1]}),
        json!({"stage": "a", "input": []}),
        json!({"stage": "a", "secretAccessKey": "canary"}),
        json!({"stage": "a", "api_key": "canary"}),
        json!({"stage": "a", "AWS_SESSION_TOKEN": "canary"}),
        json!({"stage": "a", "secretValue": {"canary": 1}}),
    ] {
        let (reason, message) = check(given).unwrap_err();
        assert!(!message.contains("canary"), "{message}");
        said.push_str(&format!("{reason}: {message}\n"));
    }
    insta::assert_snapshot!(said, @r#"
    missing_argument: deploy needs the argument stage
    duplicate_argument: projectName is given twice with different values, as project-name and project_name
    unknown_argument: deploy does not take the argument projectNam; did you mean "projectName"?
    unknown_argument: deploy does not take the argument colour
    invalid_argument: stage is a text, not a number
    invalid_argument: wait is true or false, not a text
    invalid_argument: rollbackSteps is a whole number, not a text
    invalid_argument: rollbackSteps is a whole number, not another number
    invalid_argument: limit is a whole number, not a text
    invalid_argument: retainResources is a list of texts, not a list
    invalid_argument: input is an object or a text, not a list
    credentials_in_arguments: credentials are not taken as arguments (secretAccessKey); use a profile or the environment of the server
    credentials_in_arguments: credentials are not taken as arguments (api_key); use a profile or the environment of the server
    credentials_in_arguments: credentials are not taken as arguments (AWS_SESSION_TOKEN); use a profile or the environment of the server
    invalid_argument: secretValue is a text, not an object
    "#);
}

#[test]
fn numbers_in_texts_are_numbers_where_allowed() {
    assert_eq!(
        check(json!({"stage": "a", "limit": "20"})),
        Ok(json!({"stage": "a", "limit": 20}))
    );
}
